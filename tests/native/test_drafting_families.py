"""Every family writes with draft tokens what it writes without, whatever happens to its chats meanwhile.

Two engines play the same on one context: with draft tokens, of which some are wrong, and without.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from app.engine.batching import draft_model
from app.engine.drafter import PromptLookup
from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.protocol.commands import KeepCells, Pause, Resume, StepOnce
from app.protocol.load import CellStore, LoadParams
from app.protocol.output import FinishReason
from app.protocol.request import Request
from tests.driver import GREEDY, Run, all_guesses_checked, rows
from tests.effort import EFFORT
from tests.native.oracle import NOISE
from tests.native.test_drafting import Watched, assert_same_but_for_ties

pytestmark = pytest.mark.native

PLAIN = ("llama", "qwen3", "qwen3moe", "qwen2vl", "qwen3vl")
WINDOWS = ("gemma2", "gemma3", "gemma4", "gpt-oss")
STATES = ("lfm2", "qwen35", "nemotron_h")
NUMS_OF_CHATS = (1, 4, 8) if EFFORT > 1 else (4,)
NUM_DRAFTED, NUM_WRITTEN = 5, 24


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tiny random models are sure of nothing."""
    monkeypatch.setattr(draft_model, "MIN_PROBABILITY", 0.0)
    with all_guesses_checked():
        yield


@dataclass
class Found:
    """A lookup that finds how each text goes on, but for one token, which is a later one each time."""

    texts: list[list[int]] = field(default_factory=list)

    def propose(self, token_ids: list[int], most: int) -> list[int]:
        for text in self.texts:
            if text[: len(token_ids)] == token_ids:
                found = text[len(token_ids) :][:most]
                wrong = len(token_ids) % (most + 1)
                found[wrong : wrong + 1] = [one ^ 1 for one in found[wrong : wrong + 1]]
                return found
        return []


def make_it_err(draft: LlamaBackend) -> None:
    """A model that drafts for itself would always be right: it takes another token each fourth time."""
    numbers = count()

    def likeliest(row: int) -> tuple[int, float]:
        token_id, probability = LlamaBackend.likeliest(draft, row)
        return token_id ^ (next(numbers) % 4 == 3), probability

    draft.likeliest = likeliest  # type: ignore[method-assign]


def asked(chat: str, *prompt: int, max_tokens: int = NUM_WRITTEN) -> Request:
    return Request(
        f"{chat}, {len(prompt)}",
        chat,
        prompt=prompt,
        sampling=replace(GREEDY, ignore_eos=True),
        max_tokens=max_tokens,
        is_saved=True,
    )


class Play:
    """Two turns of each chat, with a pause, an abort, a fork, a hibernation and a restart between them."""

    def __init__(self, backend: LlamaBackend, folder: Path) -> None:
        folder.mkdir()
        self._backend, self._store = backend, CellStore(folder, bytes(32))
        self.samplers: list[Watched] = []
        self.prompts: list[list[int]] = []  # theirs
        self.run = Run()
        self._engine = self._started()

    def play(self, num_chats: int) -> None:
        prompts = {f"chat {n}": [n, *range(40, 90 + n)] for n in range(num_chats)}
        broken_off = asked("broken off", *range(150, 200), max_tokens=200)
        for one in (broken_off, *(asked(chat, *prompt) for chat, prompt in prompts.items())):
            self._engine.add_request(one)
        self._step_until_drafted(broken_off)
        self._engine.abort(broken_off.request_id)
        self.run.add(self._engine.report())
        self._go_on_by_one_step()
        self._finish()
        texts = {
            chat: (*prompt, *self.run.answers[asked(chat, *prompt).request_id].token_ids)
            for chat, prompt in prompts.items()
        }
        self._engine.slots.fork("chat 0", "fork")
        self._engine.slots.hibernate_chat(f"chat {num_chats - 1}")
        self._ask(asked("fork", *texts["chat 0"], 7), asked("broken off", *range(150, 190), 7))
        self._engine.close()
        self._engine = self._started()
        self._ask(*(asked(chat, *text, 8, 9) for chat, text in texts.items()))
        self._ask(asked("chat 0", *texts["chat 0"][:-3], 9))  # edited
        for chat in (*prompts, "fork", "broken off"):
            self._engine.forget(chat)
        assert self._engine.slots.cells.num_used == 0
        self._engine.close()

    def _started(self) -> Engine:
        self._backend.forget_all()
        engine = Engine(self._backend, verify=True)
        engine.obey(KeepCells(self._store))
        return engine

    def _new_sampler(self, *values: object) -> Watched:
        self.prompts.append(list(values[1]))  # type: ignore[call-overload]
        self.samplers.append(Watched(LlamaBackend.new_sampler(self._backend, *values)))  # type: ignore[arg-type]
        return self.samplers[-1]

    @contextmanager
    def watched(self) -> Iterator[None]:
        with mock.patch.object(self._backend, "new_sampler", self._new_sampler):
            yield

    def _ask(self, *requests: Request) -> None:
        for one in requests:
            self._engine.slots.hibernated.prefetch(one.chat_id)
            self._engine.add_request(one)
        self._finish()

    def _finish(self) -> None:
        while self._engine.has_work:
            self.run.add(self._engine.step())

    def _step_until_drafted(self, one: Request) -> None:
        """Until some of its draft tokens were kept and others not, or would have been."""
        for _ in range(100):
            report = self._engine.step()
            self.run.add(report)
            mine = [span for span in report.spans if span.request_id == one.request_id]
            if any(0 < span.num_kept < span.num_drafted or span.num_generated_tokens > 9 for span in mine):
                return

    def _go_on_by_one_step(self) -> None:
        self._engine.obey(Pause())
        self._engine.plan()
        self._engine.obey(StepOnce())
        self.run.add(self._engine.step())
        self._engine.obey(Resume())

    def total(self, name: str) -> int:
        return sum(getattr(answer.usage, name) for answer in self.run.answers.values())


def played(backend: LlamaBackend, folder: Path, num_chats: int, num_drafted: int) -> Play:
    with mock.patch.object(backend, "model", replace(backend.model, num_drafted_tokens=num_drafted)):
        one = Play(backend, folder)
        with one.watched():
            one.play(num_chats)
    return one


@pytest.mark.parametrize("num_chats", NUMS_OF_CHATS)
@pytest.mark.parametrize("source", ["own text", "draft model"])
@pytest.mark.parametrize("family", [*PLAIN, *WINDOWS, *STATES])
def test_every_family_writes_what_it_writes_without(
    family, source, num_chats, tiny_gguf, tmp_path, monkeypatch
):
    found = Found()
    monkeypatch.setattr(PromptLookup, "propose", lambda _self, *values: found.propose(*values))
    draft = tiny_gguf("gemma3" if family in STATES else family)  # a state cannot forget what it drafted
    params = LoadParams(
        tiny_gguf(family),
        n_ctx=2048,
        n_seq_max=min(num_chats, 4) + 2,
        n_batch=64,
        n_threads=1,
        num_drafted_tokens=NUM_DRAFTED,
        draft_model=draft if source == "draft model" else None,
    )
    with open_llama_backend(params) as backend:
        assert backend.model.num_drafted_tokens == NUM_DRAFTED
        expected = played(backend, tmp_path / "without", num_chats, 0)
        if source == "own text":
            pairs = zip(expected.prompts, expected.samplers, strict=True)
            found.texts = [[*prompt, *one.token_ids] for prompt, one in pairs]
        else:
            make_it_err(backend.draft)
        ours = played(backend, tmp_path / "with", num_chats, NUM_DRAFTED)
    for mine, theirs in zip(ours.samplers, expected.samplers, strict=True):
        num_both = min(len(mine.token_ids), len(theirs.token_ids))  # the one that was broken off
        assert num_both == NUM_WRITTEN or mine is ours.samplers[0]
        for one in (mine, theirs):
            del one.token_ids[num_both:], one.logits[num_both:]
        assert_same_but_for_ties(mine, theirs)
    reasons = {one.finish_reason for one in ours.run.answers.values()}
    assert reasons == {FinishReason.LENGTH, FinishReason.ABORT}
    assert expected.total("num_drafted_tokens") == 0
    drafted, kept = ours.total("num_drafted_tokens"), ours.total("num_kept_tokens")
    assert drafted - kept > 10
    assert kept > 20 or (source == "draft model" and family in STATES)


# A state that has stepped back, in the library.

PROMPT, DRAFT, NEXT = [*range(20)], [20, 21, 22, 23, 24], 99


def decode(
    backend: LlamaBackend, seq_id: int, first_pos: int, token_ids: list[int], num_drafted: int = 0
) -> None:
    batch = rows(backend, (seq_id, first_pos, token_ids))
    batch.spans[0].num_drafted = num_drafted
    for row in batch.spans[0].sampled_rows:
        batch.wants_logits[row] = True
    backend.decode(batch)


def next_logits(backend: LlamaBackend, seq_id: int, token_ids: list[int]) -> np.ndarray:
    """Behind the next token, of a sequence that holds `token_ids`."""
    decode(backend, seq_id, len(token_ids), [NEXT])
    return backend.logits[0].copy()


@pytest.fixture(params=STATES)
def with_snapshots(request: pytest.FixtureRequest, tiny_gguf) -> Iterator[LlamaBackend]:
    params = LoadParams(
        tiny_gguf(request.param), n_ctx=1024, n_seq_max=6, n_batch=64, n_threads=1, num_drafted_tokens=4
    )
    with open_llama_backend(params) as backend:
        yield backend


@pytest.mark.parametrize("num_kept", range(5))
def test_a_state_that_stepped_back_is_that_of_the_tokens_left_also_in_copies(with_snapshots, num_kept):
    backend = with_snapshots
    left = [*PROMPT, *DRAFT[: 1 + num_kept]]
    for start, end in pairwise((0, len(PROMPT), len(left))):
        decode(backend, 5, start, left[start:end])
    expected = next_logits(backend, 5, left)
    decode(backend, 0, 0, PROMPT)
    decode(backend, 0, len(PROMPT), DRAFT, num_drafted=4)
    assert backend.truncate(0, len(left))
    state, checkpoint = backend.save_state(0), backend.save_checkpoint(0)
    backend.share_prefix(0, 1, len(left))
    assert backend.restore_state(2, state)
    found = [next_logits(backend, seq_id, left) for seq_id in (1, 0, 2)]
    assert backend.roll_back(0, checkpoint, len(left))
    found.append(next_logits(backend, 0, left))
    for logits in found:
        assert np.abs(logits - expected).max() <= NOISE


def test_a_state_moved_beside_others_before_its_next_step_is_still_that_of_the_tokens_left(with_snapshots):
    """The graph of others moves the states that lie between theirs."""
    backend = with_snapshots
    left = [*PROMPT, *DRAFT[:2]]
    decode(backend, 5, 0, left)
    expected = next_logits(backend, 5, left)
    backend.truncate(5, 0)
    for seq_id in range(5):
        decode(backend, seq_id, 0, PROMPT)
    decode(backend, 2, len(PROMPT), DRAFT, num_drafted=4)
    assert backend.truncate(2, len(left))
    for _ in range(2):
        at = backend.pos_max(0) + 1
        backend.decode(rows(backend, *((seq_id, at, [7]) for seq_id in (0, 1, 3, 4))))
        backend.decode(rows(backend, *((seq_id, at + 1, [7]) for seq_id in (0, 4))))
        for seq_id in (1, 3):
            decode(backend, seq_id, at + 1, [7])
    assert np.abs(next_logits(backend, 2, left) - expected).max() <= NOISE


def test_a_state_steps_back_over_the_draft_of_its_last_decode_only_and_only_once(with_snapshots):
    backend = with_snapshots
    decode(backend, 0, 0, PROMPT)
    decode(backend, 0, len(PROMPT), DRAFT, num_drafted=4)
    decode(backend, 1, 0, PROMPT)  # another decode, and with it the draft is text
    assert not backend.truncate(0, len(PROMPT) + 1)
    backend.truncate(0, 0)
    decode(backend, 0, 0, PROMPT)
    decode(backend, 0, len(PROMPT), DRAFT, num_drafted=2)
    assert not backend.truncate(0, len(PROMPT) + 1)  # a row that was no draft
    backend.truncate(0, 0)
    decode(backend, 0, 0, PROMPT)
    decode(backend, 0, len(PROMPT), DRAFT, num_drafted=4)
    assert backend.truncate(0, len(PROMPT) + 3)
    assert not backend.truncate(0, len(PROMPT) + 2)
    decode(backend, 1, len(PROMPT), [7])
    assert not backend.truncate(1, len(PROMPT))


@pytest.mark.parametrize("family", STATES)
def test_a_state_is_restored_whatever_the_number_of_snapshots(family, tiny_gguf):
    def context(num_drafted: int):
        path = tiny_gguf(family)
        return open_llama_backend(LoadParams(path, n_ctx=512, n_threads=1, num_drafted_tokens=num_drafted))

    with context(0) as without, context(4) as backend:
        assert without.fingerprint == backend.fingerprint
        for source, target in ((without, backend), (backend, without)):
            decode(source, 0, 0, PROMPT)
            assert target.restore_state(1, source.save_state(0))
            expected = next_logits(source, 0, PROMPT)
            assert np.abs(next_logits(target, 1, PROMPT) - expected).max() <= NOISE
            source.forget_all()
            target.forget_all()
