"""Repeatable answers of every kind of memory: not one bit of a logit depends on what else is computed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from unittest import mock

import numpy as np
import pytest

from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.sampler import LlamaSampler
from app.protocol.load import FlashAttention, KvType, LoadParams
from app.protocol.sampling import SamplingParams
from app.system import paths
from tests.driver import Run, ask, next_turn, request, run
from tests.effort import EFFORT

pytestmark = pytest.mark.native

FAMILIES = ["llama", "qwen2vl", "gemma3", "gpt-oss", "lfm2", "qwen35", "mamba"]
if EFFORT > 1:
    FAMILIES += ["qwen3", "qwen3moe"]
DRAWN = SamplingParams(temperature=0.8, seed=7, ignore_eos=True)
REPEATABLE = replace(DRAWN, repeatable=True)
QUESTION = "A question longer than the window of thirty-two tokens, and longer than two chunks of a prompt. "
LATER = "And what is to be asked a turn later, which is not short either?"
OTHERS = ["first chat", "second chat, which is longer than the window of the sliding one", "third"]


@dataclass
class Program:
    """One run of it, and the logits that its repeatable answers were drawn from."""

    engine: Engine
    logits: list[bytes] = field(default_factory=list)


class WatchedSampler:
    waits_for_trigger = False

    def __init__(self, sampler: LlamaSampler, backend: LlamaBackend, logits: list[bytes]) -> None:
        self.sampler, self.backend, self.logits = sampler, backend, logits

    def sample(self, row: int) -> int:
        self.logits.append(np.asarray(self.backend.logits[row]).tobytes())
        return self.sampler.sample(row)

    def close(self) -> None:
        self.sampler.close()


@contextmanager
def program(params: LoadParams) -> Iterator[Program]:
    new_sampler = LlamaBackend.new_sampler

    def new_watched_sampler(backend, sampling, *prompt):
        sampler = new_sampler(backend, sampling, *prompt)
        return WatchedSampler(sampler, backend, one.logits) if sampling.repeatable else sampler

    with open_llama_backend(params) as backend:
        one = Program(Engine(backend, verify=True))
        with mock.patch.object(LlamaBackend, "new_sampler", new_watched_sampler):
            yield one
        one.engine.close()


def two_turns(params: LoadParams, *, is_in_company: bool) -> tuple[list[str], list[bytes]]:
    """What a repeatable chat is told in two runs of the program, and the logits of all its tokens.

    In company, others answer before it, beside it and after it, and its cells are hibernated in between.
    """
    first = request(QUESTION, "ann", sampling=REPEATABLE, max_tokens=40)
    with program(params) as before:
        if is_in_company:
            others = [request(text, text, sampling=DRAWN) for text in OTHERS]
            answers = run(before.engine, *others[:2]).answers
            later = next_turn(others[0], answers[others[0].request_id].text, "more of it")
            started = start(before.engine, later, others[2])
            text = finish(before.engine, started, first).answers[first.request_id].text
            ask(before.engine, request("something else", sampling=REPEATABLE))
            del before.logits[40:]
        else:
            text = ask(before.engine, first).text
        second = replace(next_turn(first, text, LATER), sampling=REPEATABLE)
        texts = [text, ask(before.engine, second).text]
    with program(params) as after:  # nothing is held of the first turn
        started = start(after.engine, request("hi", sampling=DRAWN)) if is_in_company else Run()
        texts.append(finish(after.engine, started, second).answers[second.request_id].text)
    return texts, before.logits + after.logits


def start(engine, *requests):
    """A few steps with them."""
    for one in requests:
        engine.add_request(one)
    result = Run()
    for _ in range(3):
        result.add(engine.step())
    return result


def finish(engine, result, one):
    engine.add_request(one)
    while engine.has_work:
        result.add(engine.step())
    return result


def assert_repeatable(params: LoadParams) -> None:
    texts, logits = two_turns(params, is_in_company=False)
    assert texts[1] == texts[2], "computed after the first turn, and all at once"
    others, other_logits = two_turns(params, is_in_company=True)
    assert others == texts
    assert other_logits == logits


@pytest.mark.parametrize("isolated", [False, True], ids=["unified", "isolated"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_kind_of_memory(family, isolated, tiny_gguf):
    params = LoadParams(tiny_gguf(family), n_ctx=2048, n_seq_max=4, n_batch=64, n_threads=1)
    assert_repeatable(replace(params, isolated=isolated))


@pytest.mark.parametrize(
    "changes",
    [
        {"flash_attention": FlashAttention.OFF},
        {"type_k": KvType.Q8_0, "type_v": KvType.Q8_0},
        {"n_threads": 2},
        {"num_drafted_tokens": 8},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_every_way_of_computing(changes):
    params = LoadParams(paths.starter_model(), n_ctx=1024, n_seq_max=4, n_threads=1)
    assert_repeatable(replace(params, **changes))


def test_without_it_company_changes_logits(tiny_gguf):
    """Else none of this would show anything. With flash attention our patches see to it that they do not."""
    params = LoadParams(
        tiny_gguf("llama"), n_ctx=1024, n_seq_max=4, n_threads=1, flash_attention=FlashAttention.OFF
    )
    with mock.patch("app.engine.lane.Lanes.opened_for", lambda lanes, _request: lanes.shared):
        alone, beside = (two_turns(params, is_in_company=company)[1] for company in (False, True))
    assert len(alone) == len(beside)
    assert alone != beside


def test_its_context_is_freed_with_the_model(tiny_gguf):
    from app.engine.llama.native_library import native_objects

    before = native_objects.copy()
    with open_llama_backend(LoadParams(tiny_gguf("llama"), n_ctx=256, n_threads=1)) as backend:
        engine = Engine(backend)
        ask(engine, request("hi", sampling=REPEATABLE))
        assert native_objects["context"] == before["context"] + 2
        engine.close()
    assert native_objects == before


def test_its_sequence_is_one_more_than_the_most(tiny_gguf):
    with open_llama_backend(LoadParams(tiny_gguf("llama"), n_ctx=512, n_seq_max=999, n_threads=1)) as backend:
        engine = Engine(backend)
        assert ask(engine, request("hi", sampling=REPEATABLE)).text
        engine.close()
