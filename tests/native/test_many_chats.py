"""Many chats on 8 sequences: all ask at once, then each once more, and none is affected by the others.

The starter model is sure of what it is asked here. Where an answer differs from the one given alone all the
same, the two best candidates at that point are shown: a tie that rounding has decided can be told from a
wrong cell by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from unittest import mock

import numpy as np
import pytest

from app.engine.cells.slots import MIN_SHARED_TOKENS
from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.engine.sequence import Sampler
from app.protocol.events import EventKind
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason
from app.protocol.report import Lease
from app.protocol.request import Message, Request
from app.protocol.sampling import SamplingParams
from app.system import paths
from tests.driver import Answer, Run, ask, next_turn, request, run
from tests.effort import EFFORT

pytestmark = [pytest.mark.native, pytest.mark.timeout(600)]

NUM_CHATS, NUM_SEQS = 64 if EFFORT > 1 else 16, 8
MAX_TOKENS = 200
TERMS = ["a KV cache", "a token", "a prompt", "a slot"]
SURE = 1.0  # logits between the two best candidates; rounding moves them by 0.01

Candidate = tuple[bytes, float]  # what a token stands for, and its logit
Choice = tuple[Candidate, Candidate]  # the best and the second


def everything(number: int) -> tuple[str, str]:
    """What chat `number` asks in its two turns: a sum, a count or a question, and then another of them."""
    a, b = 11 + number % 37, 12 + number % 29
    kinds = [f"What is {a} + {b}?", counting(number), f"What is {TERMS[number % len(TERMS)]}?"]
    return kinds[number % 3], kinds[(number + 1) % 3]


def long_answers(number: int) -> tuple[str, str]:
    """Each needs some 130 cells, so that even those that run do not all fit into 512."""
    return counting(number), everything(number)[0]


def counting(number: int) -> str:
    return f"Count from {number % 8 + 1} to {number % 8 + 30}"


# Alone


@dataclass
class WatchedSampler:
    """Remembers between which two candidates it has chosen each time."""

    waits_for_trigger = False
    backend: LlamaBackend
    sampler: Sampler
    choices: list[Choice]

    def sample(self, row: int) -> int:
        logits = self.backend.logits[row]
        second, first = np.argsort(logits)[-2:]
        self.choices.append((self.candidate(first, logits), self.candidate(second, logits)))
        return self.sampler.sample(row)

    def candidate(self, token_id: np.intp, logits: np.ndarray) -> Candidate:
        return self.backend.token_piece(int(token_id)), float(logits[token_id])

    def close(self) -> None:
        self.sampler.close()


class Alone:
    """Answers each chat on a context of its own."""

    def __init__(self, backend: LlamaBackend) -> None:
        self.engine = Engine(backend)
        self._choices: list[Choice] = []
        self._backend, self._new_sampler = backend, backend.new_sampler
        self.answer = cache(self._answer)

    def _answer(self, messages: tuple[Message, ...]) -> tuple[Answer, list[Choice]]:
        self._choices = []
        with mock.patch.object(self._backend, "new_sampler", self._new_watched_sampler):
            *history, last = messages
            one = request(last.content, history=tuple(history), max_tokens=MAX_TOKENS, keep_cells=False)
            return ask(self.engine, one), self._choices

    def _new_watched_sampler(
        self, params: SamplingParams, prompt_token_ids: list[int], *more: object
    ) -> WatchedSampler:
        sampler = self._new_sampler(params, prompt_token_ids, *more)
        return WatchedSampler(self._backend, sampler, self._choices)


@pytest.fixture(scope="module")
def alone() -> Iterator[Alone]:
    with open_llama_backend(LoadParams(paths.starter_model(), n_ctx=1024, n_seq_max=1)) as backend:
        alone = Alone(backend)
        yield alone
        alone.engine.close()


def split(text: str, expected: str, choices: list[Choice]) -> str:
    """Where an answer left the expected one, and what there was to choose from."""
    written = b""
    at = 0
    while at + 1 < len(choices) and text.encode().startswith(written + choices[at][0][0]):
        written += choices[at][0][0]
        at += 1
    first, second = choices[at]
    return f"{text!r} instead of {expected!r}: after {written[-40:]!r} it was {first} or {second} alone"


# Together


@pytest.mark.parametrize(("n_ctx", "texts"), [(4096, everything), (512, long_answers)])
def test_more_chats_than_sequences_answer_as_each_alone(alone, n_ctx, texts):
    chats = [texts(number) for number in range(NUM_CHATS)]
    params = LoadParams(paths.starter_model(), n_ctx=n_ctx, n_seq_max=NUM_SEQS, num_drafted_tokens=0)
    with open_llama_backend(params) as backend:
        engine = Engine(backend, verify=True)
        first = [request(text, max_tokens=MAX_TOKENS) for text, _ in chats]
        first_turn = run(engine, *first)
        second = [
            replace(next_turn(one, first_turn.answers[one.request_id].text, text), max_tokens=MAX_TOKENS)
            for one, (_, text) in zip(first, chats, strict=True)
        ]
        second_turn = run(engine, *second)
        engine.close()
    tell("first turn", first_turn)
    tell("second turn", second_turn)
    assert_as_alone(alone, first_turn, first)
    assert_as_alone(alone, second_turn, second)
    assert_nothing_is_computed_twice(first_turn)
    assert_nothing_is_computed_twice(second_turn)
    leases = first_leases(second_turn)
    for before, now in zip(first, second, strict=True):
        num_known = first_turn.answers[before.request_id].usage.num_prompt_tokens
        assert num_cached_tokens(leases[now.request_id]) >= num_known
    assert total(second_turn, "num_restored_tokens") > 0  # at most 8 chats have kept their cells
    assert num_pauses(first_turn) > 0 or texts is not long_answers


def assert_as_alone(alone: Alone, result: Run, asked: list[Request]) -> None:
    wrong = []
    for one in asked:
        answer = result.answers[one.request_id]
        expected, choices = alone.answer(one.messages)
        assert min(first[1] - second[1] for first, second in choices) > SURE
        assert expected.finish_reason is FinishReason.STOP
        if answer.text != expected.text:
            wrong.append(split(answer.text, expected.text, choices))
        elif answer.finish_reason is not FinishReason.STOP:
            wrong.append(f"{answer.text!r} ended by {answer.finish_reason}: {answer.notice}")
    assert not wrong, "\n".join(wrong)


def assert_nothing_is_computed_twice(result: Run) -> None:
    """Not even by answers that were paused; only a beginning too short to be saved may be lost then."""
    leases = first_leases(result)
    for request_id, lease in leases.items():
        num_prompt_tokens = result.answers[request_id].usage.num_prompt_tokens
        assert num_cached_tokens(lease) + lease.num_tokens_to_compute == num_prompt_tokens
        assert lease.num_tokens_to_compute >= 1  # without it there would be no logits
    wanted = sum(lease.num_tokens_to_compute for lease in leases.values())
    wanted += total(result, "num_generated_tokens")
    num_lost = total(result, "num_computed_tokens") - wanted
    assert 0 <= num_lost < max(MIN_SHARED_TOKENS * num_pauses(result), 1)


def first_leases(result: Run) -> dict[str, Lease]:
    """How each request began; one that was paused got further leases."""
    leases: dict[str, Lease] = {}
    for report in result.reports:
        for lease in report.leases:
            leases.setdefault(lease.request_id, lease)
    assert leases.keys() == result.answers.keys()
    return leases


def num_cached_tokens(lease: Lease) -> int:
    return lease.num_reused_tokens + lease.num_shared_tokens + lease.num_restored_tokens


def total(result: Run, field: str) -> int:
    return sum(getattr(answer.usage, field) for answer in result.answers.values())


def num_pauses(result: Run) -> int:
    return sum(event.kind is EventKind.PAUSE for report in result.reports for event in report.events)


def tell(turn: str, result: Run) -> None:
    kinds = ["prompt", "reused", "shared", "restored", "computed", "generated"]
    counts = ", ".join(f"{total(result, f'num_{kind}_tokens')} {kind}" for kind in kinds)
    print(  # noqa: T201  (what it costs is worth knowing)
        f"{turn}: {counts} tokens in {len(result.reports)} steps, {num_pauses(result)} pauses"
    )
