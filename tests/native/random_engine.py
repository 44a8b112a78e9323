"""Random runs of the engine on llama.cpp, all compared with what a run alone computes.

Chats are asked and asked on, forked, edited, aborted, hibernated and kept over a restart, in few slots and
few cells, with draft tokens and without, while decodes break off and disks fail. A run depends on its seed
alone.

    python -m tests.native.random_engine --seeds 5000
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import llama_cpp as lib

from app.engine.batching import draft_model
from app.engine.cells import hibernation
from app.engine.cells.checkpoints import State
from app.engine.cells.hibernation import HibernatedChats
from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.protocol.commands import KeepCells, SetFront
from app.protocol.errors import EngineError, RequestError
from app.protocol.load import CellStore, KvType, LoadParams, LoraAdapter
from app.protocol.output import FinishReason
from app.protocol.request import Overflow, Request
from app.protocol.sampling import SamplingParams
from tests.driver import Run, all_guesses_checked
from tests.native.oracle import Comparison, Recorder, Tokens, broken_off, compare
from tests.native.tiny_ggufs import Shape, write_tiny_adapter, write_tiny_gguf

SHAPE = Shape(n_embd=64, head_dim=32)  # heads that every type of keys and values can hold
LATENT_SHAPE = Shape(n_embd=64, head_dim=64)  # half as many more numbers of each head have positions
WINDOW = "lfm2 with a window"
FAMILIES = (
    *("llama", "qwen3", "qwen3moe", "qwen2vl", "qwen3vl", "gemma2", "gemma3", "gemma4", "gpt-oss"),
    *("deepseek2", "glm4moe", "step35", "lfm2", WINDOW, "falcon-h1", "nemotron_h"),
    *("qwen35", "qwen3next", "mamba", "mamba2"),
)
StateFile = hibernation._StateFile
CHATS = ("ann", "bob", "cat", "dan", "eve")
NUM_EVENTS = 45
# What is said of two tokens has been said before, and half of what is drafted comes true.
FEW_WORDS = ((97, 100.0), (98, 100.0))


@dataclass
class Models:
    """The GGUFs of all families, and an adapter for those that have one. Each is written once."""

    folder: Path
    _written: dict[str, Path] = field(default_factory=dict)

    def path_of(self, family: str) -> Path:
        if family not in self._written:
            path = self.folder / f"{family}.gguf"
            if family == WINDOW:
                metadata = {"lfm2.attention.sliding_window": 32}
                write_tiny_gguf(path, "lfm2", shape=SHAPE, metadata=metadata, chat_template=None)
            else:
                shape = LATENT_SHAPE if family == "deepseek2" else SHAPE
                write_tiny_gguf(path, family, shape=shape, chat_template=None)  # type: ignore[arg-type]
            self._written[family] = path
        return self._written[family]

    def adapter_of(self, family: str) -> Path:
        name = f"{family} adapter"
        if name not in self._written:
            self._written[name] = write_tiny_adapter(self.folder / f"{name}.gguf", family, shape=SHAPE)
        return self._written[name]


def random_params(rng: random.Random, models: Models, family: str) -> LoadParams:
    kind = rng.choice(list(KvType))
    adapters = ()
    if family in ("llama", "qwen3", "gemma3") and rng.random() < 0.3:
        adapters = (LoraAdapter(models.adapter_of(family), rng.choice([0.5, 1.0])),)
    num_drafted = rng.choice([0, 4, 8])
    return LoadParams(
        models.path_of(family),
        n_ctx=rng.choice([512, 768, 1024]),
        n_seq_max=rng.choice([1, 3, 4, 6]),
        n_batch=rng.choice([32, 160, 320]),
        n_ubatch=rng.choice([16, 32, 160]),
        n_threads=1,
        isolated=rng.random() < 0.25,
        type_k=kind,
        type_v=kind,
        adapters=adapters,
        swa_full=rng.random() < 0.2,
        num_drafted_tokens=num_drafted,
        draft_model=models.path_of(_drafting_for(family)) if rng.random() < 0.5 else None,
    )


def _drafting_for(family: str) -> str:
    """Itself, or another one where it has a state."""
    return family if FAMILIES.index(family) < FAMILIES.index("lfm2") else "gemma3"


class RandomRun(NamedTuple):
    what: str
    compared: Comparison
    num_broken_off: int  # decodes
    num_drafted: int
    num_kept: int


def random_run(
    seed: int, models: Models, family: str | None = None, num_events: int = NUM_EVENTS
) -> RandomRun:
    rng = random.Random(seed)
    params = random_params(rng, models, family or FAMILIES[seed % len(FAMILIES)])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        backend = stack.enter_context(open_llama_backend(params))
        # Moved cells remember what was left out, so they are not what a run alone would compute.
        backend.model = replace(backend.model, can_shift=False)
        stack.enter_context(all_guesses_checked())
        # Tiny models are sure of nothing.
        stack.enter_context(mock.patch.object(draft_model, "MIN_PROBABILITY", 0.0))
        play = _Play(rng, backend, folder)
        play.play(num_events)
        what = f"{params.path.stem} {params.type_k}{' isolated' if params.isolated else ''}"
        compared = compare(play.recorder.sampled, params)
        return RandomRun(what, compared, play.num_broken_off, play.num_drafted, play.num_kept)


# What happens.


@dataclass
class _Chat:
    token_ids: Tokens = ()
    request: Request | None = None  # that is being answered


class _Play:
    """Asks, breaks off and restarts at random, and keeps the logits of all that was sampled."""

    def __init__(self, rng: random.Random, backend: LlamaBackend, folder: Path) -> None:
        self._rng, self._backend, self._folder = rng, backend, folder
        self._chats = {name: _Chat() for name in CHATS}
        self._store = CellStore(folder, bytes(32))
        self._common = self._new_tokens(80)
        self._run = Run()
        self._num_asked = 0
        self.num_broken_off = self.num_drafted = self.num_kept = 0
        self.recorder = Recorder(backend)
        self._engine = self._new_engine()

    def play(self, num_events: int) -> None:
        events: list[Callable[[str], object]] = [
            *[self._ask] * 8,
            *[self._steps] * 12,
            *[self._break_off] * 3,
            *[self._fork] * 3,
            *[self._abort, self._forget, self._restart],
            *[lambda chat: self._engine.slots.hibernate_chat(chat)] * 2,
            lambda chat: self._engine.slots.restore_chat(chat),
            lambda chat: self._engine.slots.clear_chat(chat),
            lambda chat: self._engine.obey(SetFront(chat)),
            *[self._read_ahead] * 3,
        ]
        with mock.patch.object(hibernation, "_StateFile", self._on_failing_disk):
            for _ in range(num_events):
                self._rng.choice(events)(self._rng.choice(CHATS))
            while self._engine.has_work:
                self._step()
            self._engine.close()

    def _new_engine(self) -> Engine:
        hibernated = HibernatedChats(self._rng.choice([0, 2**14, 2**22]), 2**24, self._folder)
        hibernated._writer.shutdown()
        hibernated._writer = _AtOnce()  # type: ignore[assignment]
        engine = self.recorder.engine = Engine(self._backend, hibernated, verify=True)
        engine.obey(KeepCells(self._store))
        # Else both depend on how long a step took.
        engine._budget.prompt_rows = self._prompt_rows  # type: ignore[method-assign]
        engine._idle.hibernate_one = lambda _slots: None  # type: ignore[method-assign]
        engine.slots.checkpoints._max_bytes = self._rng.choice([0, 2**14, 2**22])
        return engine

    def _prompt_rows(self, num_decoding: int) -> int:
        most = self._backend.model.n_batch - num_decoding
        return self._rng.choice([self._rng.randint(1, most), most])

    def _new_tokens(self, most: int) -> Tokens:
        return tuple(self._rng.randrange(256) for _ in range(self._rng.randint(1, most)))

    def _ask(self, name: str) -> None:
        chat, limit = self._chats[name], self._backend.model.max_sequence_tokens
        if chat.request:
            return
        if not chat.token_ids and self._rng.random() < 0.5:
            chat.token_ids = self._common
        kept = chat.token_ids
        if self._rng.random() < 0.2:
            kept = kept[: self._rng.randint(0, len(kept))]  # edited
        request = Request(
            f"r{self._num_asked}",
            name,
            prompt=(*kept, *self._new_tokens(self._rng.choice([4, 8, 60, 300]))),
            sampling=SamplingParams(
                temperature=1.0,
                seed=self._rng.randrange(2**31),
                ignore_eos=True,
                logit_bias=self._rng.choice([(), FEW_WORDS]),
            ),
            max_tokens=self._rng.choice([1, 8, 40]),
            overflow=self._rng.choice(list(Overflow)),
            max_context_tokens=self._rng.choice([None, None, limit // 2]),
            is_saved=True,
        )
        self._num_asked += 1
        self._engine.slots.hibernated.prefetch(name)
        self._engine.add_request(request)
        chat.request = request

    def _read_ahead(self, name: str) -> None:
        """What may be sent next, or not."""
        chat = self._chats[name]
        if not chat.request:
            prompt = (*chat.token_ids, *self._new_tokens(60))
            request = Request(f"ahead of {name}", name, prompt=prompt, max_tokens=0, is_saved=True)
            with suppress(RequestError):  # too long
                self._engine.read_ahead(request, self._engine.prompts.build(request))
            self._steps(name)

    def _steps(self, _name: str) -> None:
        for _ in range(self._rng.randint(1, 8)):
            self._step()

    def _step(self) -> None:
        if not self._engine.has_work:
            return
        self._run.add(self._engine.step())
        self._note_ends()

    def _note_ends(self) -> None:
        for chat in self._chats.values():
            if chat.request and not self._run.is_open(chat.request.request_id):
                answer = self._run.answers[chat.request.request_id]
                self.num_drafted += answer.usage.num_drafted_tokens
                self.num_kept += answer.usage.num_kept_tokens
                prompt = tuple(one for one in chat.request.prompt if isinstance(one, int))
                too_long = answer.finish_reason is FinishReason.ERROR
                chat.token_ids = () if too_long else prompt + answer.token_ids
                chat.request = None

    def _break_off(self, name: str) -> None:
        """The next decode, somewhere in its graph: that of the model, or of its draft model.

        With another answer in it the states of recurrent models are moved, also those of idle chats.
        """
        for one in (name, *self._rng.choices(CHATS, k=self._rng.randint(0, 1))):
            self._ask(one)
        backends = [self._backend, self._backend.draft] if self._backend.draft else [self._backend]
        with broken_off(self._rng.choice(backends), self._rng.randint(1, 120)) as was_broken_off:
            self._step()
        self.num_broken_off += was_broken_off()

    def _abort(self, name: str) -> None:
        request = self._chats[name].request
        if request:
            self._engine.abort(request.request_id)
            self._report()

    def _fork(self, name: str) -> None:
        """Into the next chat, where that is idle; rather of a chat in the middle of its answer."""
        name = next((one for one, chat in self._chats.items() if chat.request), name)
        new = CHATS[(CHATS.index(name) + 1) % len(CHATS)]
        if not self._chats[new].request:
            self._forget(new)
            if self._engine.slots.fork(name, new):
                [held] = [slot.token_ids for slot in self._engine.slots.slots if slot.chat_id == new]
                self._chats[new].token_ids = tuple(held)

    def _forget(self, name: str) -> None:
        self._engine.forget(name)
        self._report()
        self._chats[name] = _Chat()

    def _restart(self, name: str) -> None:
        """What is kept is what a run leaves that ends in the middle of a step."""
        if self._rng.random() < 0.5:
            self._break_off(name)
        self._engine.close()
        self._report()
        if self._rng.random() < 0.2:
            for file in self._folder.glob("*.cells"):
                content = bytearray(file.read_bytes())
                content[self._rng.randrange(len(content))] ^= 1
                file.write_bytes(content)
        lib.llama_memory_clear(self._backend._memory, False)
        self._engine = self._new_engine()

    def _report(self) -> None:
        self._run.add(self._engine.report())
        self._note_ends()

    def _on_failing_disk(self, state: State, folder: Path) -> StateFile:
        luck = self._rng.random()
        if luck < 0.15:
            raise OSError("No space left on device")
        if luck < 0.3:
            state = state.copy()
            state[self._rng.randrange(state.size)] ^= 1
        return StateFile(state, folder)


class _AtOnce:
    """An executor that does not wait for another thread."""

    def submit(self, work: Callable[..., Any], *values: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*values))
        except OSError as error:
            future.set_exception(error)
        return future

    def shutdown(self, **_options: bool) -> None:
        pass


# The command.


class _Tally:
    """What came of all runs of a kind."""

    def __init__(self) -> None:
        self.runs, self.rows, self.wrong = Counter[str](), Counter[str](), Counter[str]()
        self.worst: dict[str, float] = {}
        self.drafted, self.kept = Counter[str](), Counter[str]()

    def add(self, run: RandomRun) -> None:
        self.runs[run.what] += 1
        self.rows[run.what] += run.compared.num_rows
        self.wrong[run.what] += len(run.compared.wrong)
        self.drafted[run.what] += run.num_drafted
        self.kept[run.what] += run.num_kept
        self.worst[run.what] = max(self.worst.get(run.what, 0.0), run.compared.worst)

    def lines(self) -> Iterator[str]:
        for what, runs in sorted(self.runs.items()):
            counts = f"{runs:5} runs {self.rows[what]:8,} rows {self.wrong[what]:6,} wrong"
            guesses = f"{self.drafted[what]:7,} drafted {self.kept[what]:7,} kept"
            yield f"{what:30}{counts}, worst {self.worst[what]:.5f} {guesses}"
        yield f"{self.runs.total():,} runs, {self.rows.total():,} rows, {self.wrong.total():,} wrong"
        yield f"{self.drafted.total():,} draft tokens, {self.kept.total():,} kept"


def main() -> int:
    """1 if any row was wrong, or a run ended by an error. Ctrl+C ends it early."""
    parser = argparse.ArgumentParser(prog="python -m tests.native.random_engine", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--events", type=int, default=NUM_EVENTS, help="of each run")
    parser.add_argument("--family", choices=FAMILIES, help="of models; without, each in turn")
    options = parser.parse_args()
    logging.disable()  # of disks that fail
    tally, num_errors = _Tally(), 0
    with tempfile.TemporaryDirectory() as folder, suppress(KeyboardInterrupt):
        models = Models(Path(folder))
        for seed in range(options.first, options.first + options.seeds):
            try:
                run = random_run(seed, models, options.family, options.events)
            except (EngineError, AssertionError) as error:
                print(f"seed {seed}: {error!r}", flush=True)
                num_errors += 1
                continue
            tally.add(run)
            if run.compared.wrong:
                print(f"seed {seed}, {run.what}: {len(run.compared.wrong)} rows are wrong", flush=True)
    print(*tally.lines(), f"{num_errors} errors", sep="\n")
    return int(tally.wrong.total() + num_errors > 0)


if __name__ == "__main__":
    sys.exit(main())
