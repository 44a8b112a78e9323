"""What the inspector shows of a real run is what llama.cpp answers when it is asked at that moment.

Eight chats live on a context that holds three of them. After every step and every command the table of
sequences and the KV map are made as the panels make them, and each of their figures is compared with
`llama_memory_seq_pos_min/max` and with the library's own list of its cells. What is done when is chosen by
the seed in the test's name.
"""

from __future__ import annotations

import random
from collections import Counter

import llama_cpp as lib
import numpy as np
import pytest

from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.inspector.cell_figures import figures_of
from app.inspector.cell_picture import FREE, SHARED, codes_of, owners_of
from app.inspector.recording import Recording
from app.inspector.sequence_rows import COLUMNS, SequenceRow, rows_of
from app.protocol.commands import (
    ClearCells,
    Command,
    Hibernate,
    Pause,
    Pin,
    Restore,
    Resume,
    StepOnce,
    WatchCells,
)
from app.protocol.events import EventKind
from app.protocol.load import LoadParams
from app.protocol.report import StepReport
from app.protocol.request import Message, Overflow, Role
from app.system import paths
from tests.driver import request
from tests.effort import EFFORT

pytestmark = pytest.mark.native

Cells = list[tuple[int, tuple[int, ...]]]  # position and holders of each, as the library lists them

# Of the table, about cells.
FIGURES = ("pos\nmin", "pos\nmax", "cells\nown", "cells\nshared", "KV\nMiB")
N_CTX, NUM_TABS = 512, 8
NUM_ACTIONS = 200
RULES = Message(
    Role.SYSTEM, "You are a patient teacher. Answer in one short line, and never say more than that."
)
LONG_QUESTION = "Count from 3 to 40"
QUESTIONS = (LONG_QUESTION, "Count from 1 to 20", "What is 34 + 21?", "What is a KV cache?", "Hello")
ACTIONS = {
    "steps": 20,
    "ask": 10,
    "edit": 2,
    "fork": 5,
    "hibernate": 3,
    "restore": 2,
    "clear": 2,
    "pin": 2,
    "abort": 2,
    "close": 1,
    "pause": 2,
}
HAPPENS = {
    EventKind.LEASE,
    EventKind.RELEASE,
    EventKind.SHARE,
    EventKind.FORK,
    EventKind.HIBERNATE,
    EventKind.RESTORE,
    EventKind.CLEAR,
    EventKind.PIN,
    EventKind.PAUSE,
    EventKind.RESUME,
    EventKind.ABORT,
    EventKind.OVERFLOW,
}


@pytest.fixture
def backend():
    # One thread: llama.cpp's workers spin, and would wait for each other on a busy machine.
    params = LoadParams(paths.starter_model(), n_ctx=N_CTX, n_seq_max=NUM_TABS, n_threads=1)
    with open_llama_backend(params) as backend:
        yield backend


@pytest.fixture
def engine(backend):
    engine = Engine(backend)
    yield engine
    engine.close()


@pytest.mark.parametrize("seed", range(EFFORT))
def test_every_figure_is_the_librarys_at_any_moment_of_a_run_of_eight_tabs(engine, backend, seed):
    run = RandomRun(engine, backend, random.Random(seed))
    run.rush()
    for _ in range(NUM_ACTIONS):
        run.act()
    run.finish()
    assert run.happened.keys() >= HAPPENS
    assert run.fewest_free < 40  # room did get short
    assert run.num_maps > 100


class RandomRun:
    """Eight tabs, what somebody does with them, and a look at the inspector after each of it."""

    def __init__(self, engine: Engine, backend: LlamaBackend, rng: random.Random) -> None:
        self._engine = engine
        self._rng = rng
        self._shown = Shown(engine, backend)
        self._histories: dict[str, tuple[Message, ...]] = {f"tab {number}": () for number in range(NUM_TABS)}
        self._open: dict[str, str] = {}  # tab by request
        self.happened: Counter[EventKind] = Counter()
        self.fewest_free = N_CTX

    @property
    def num_maps(self) -> int:
        return self._shown.num_maps

    def rush(self) -> None:
        """All ask at once, and not all of their answers have room."""
        for tab in self._histories:
            self._ask(tab, (RULES,), LONG_QUESTION)
        self._step(90)

    def act(self) -> None:
        tab, other = self._rng.sample(sorted(self._histories), 2)
        match self._rng.choices(list(ACTIONS), list(ACTIONS.values()))[0]:
            case "steps":
                self._step(self._rng.choice([1, 1, 5]))
            case "ask" if tab not in self._open.values():
                self._ask(tab, self._histories[tab] or self._rng.choice([(), (RULES,)]))
            case "edit" if tab not in self._open.values():
                self._ask(tab, self._histories[tab][:3])
            case "fork":
                self._fork(other, tab)
            case "hibernate":
                self._obey(Hibernate(tab))
            case "restore":
                self._obey(Restore(tab))
            case "clear":
                self._obey(ClearCells(tab))
            case "pin":
                self._obey(Pin(tab, self._rng.random() < 0.5))
            case "abort":
                for request_id in [key for key, owner in self._open.items() if owner == tab]:
                    self._engine.abort(request_id)
                self._look(self._engine.report())
            case "close":
                self._close(tab)
            case "pause" if self._engine.has_work:
                self._pause()

    def finish(self) -> None:
        self._step(10_000)
        assert not self._engine.has_work

    def _step(self, num_steps: int) -> None:
        for _ in range(num_steps):
            if self._engine.has_work:
                self._look(self._engine.step())

    def _ask(self, tab: str, history: tuple[Message, ...], question: str = "") -> None:
        question = question or self._rng.choice(QUESTIONS)
        limits = {"max_context_tokens": 220, "overflow": Overflow.ROLLING_WINDOW, "max_tokens": 100}
        one = request(question, tab, history=history, **limits)
        self._histories[tab] = (*one.messages, Message(Role.ASSISTANT, ""))
        self._open[one.request_id] = tab
        self._engine.add_request(one)

    def _close(self, tab: str) -> None:
        self._engine.forget(tab)
        self._look(self._engine.report())
        self._histories[tab] = ()

    def _fork(self, source: str, tab: str) -> None:
        """The copy takes the place of a tab that is closed."""
        self._close(tab)
        self._engine.slots.fork(source, tab)
        self._look(self._engine.report())
        self._histories[tab] = self._histories[source]

    def _pause(self) -> None:
        """A batch that is planned holds slots, but no cells yet."""
        self._obey(Pause())
        self._look(self._engine.plan())
        self._obey(StepOnce())
        self._step(1)
        self._look(self._engine.plan())
        self._obey(Resume())

    def _obey(self, command: Command) -> None:
        self._engine.obey(command)
        self._look(self._engine.report())

    def _look(self, report: StepReport) -> None:
        if self._rng.random() < 0.5:
            self._engine.obey(WatchCells())  # the next report has a map, however soon it comes
        assert report.return_code == 0
        self._shown.compare(report)
        self.happened.update(event.kind for event in report.events)
        self.fewest_free = min(self.fewest_free, report.cells.num_free)
        for output in report.outputs:
            *before, answer = self._histories[output.chat_id]
            text = answer.content + output.text
            self._histories[output.chat_id] = (*before, Message(Role.ASSISTANT, text))
            if output.finish_reason:
                del self._open[output.request_id]


class Shown:
    """What the panels show of the newest report, beside what the library says now."""

    def __init__(self, engine: Engine, backend: LlamaBackend) -> None:
        self._backend = backend
        self._slots = engine.slots.slots
        self._memory = lib.llama_get_memory(backend._context.pointer)
        self._recording = Recording()
        self._recording.start(backend.model)
        self.num_maps = 0

    def compare(self, report: StepReport) -> None:
        self._recording.append([report])
        cells = self._backend.used_cells().listed()
        num_shared = count_shared(cells)
        assert (report.cells.num_used, report.cells.num_shared) == (len(cells), num_shared)
        assert report.cells.num_used + report.cells.num_free == N_CTX
        self._compare_table(cells)
        if report.cell_map:
            self._compare_map(cells)
            self.num_maps += 1

    def _compare_table(self, cells: Cells) -> None:
        rows = rows_of(self._recording.newest, self._recording.model, {})
        of_slots = [row for row in rows if row.slot]
        assert [row.seq_id for row in of_slots] == list(range(NUM_TABS))
        assert [shown_in(row) for row in of_slots] == [self._said_of(row, cells) for row in of_slots]

    def _said_of(self, row: SequenceRow, cells: Cells) -> dict[str, int | None]:
        """The library's answers, in the table's words. An empty row has no figures."""
        mine = [cell for cell in cells if row.seq_id in cell[1]]
        num_shared = count_shared(mine)
        assert not (row.is_empty and mine)
        return {
            "pos\nmin": known(lib.llama_memory_seq_pos_min(self._memory, row.seq_id)),
            "pos\nmax": known(lib.llama_memory_seq_pos_max(self._memory, row.seq_id)),
            "cells\nown": None if row.is_empty else len(mine) - num_shared,
            "cells\nshared": None if row.is_empty else num_shared,
            "KV\nMiB": len(mine) * self._backend.model.cell_bytes or None,
        }

    def _compare_map(self, cells: Cells) -> None:
        shown = self._recording.cell_map
        used = np.flatnonzero(shown.pos >= 0)
        owners = [owners_of(shown, index) for index in used]
        assert list(zip(shown.pos[used].tolist(), owners, strict=True)) == cells
        codes = codes_of(shown.holders)
        assert np.array_equal(np.flatnonzero(codes != FREE), used)
        figures = figures_of(shown, int(np.count_nonzero(codes & SHARED)), num_streams=1)
        assert (figures.num_used, figures.num_shared) == (len(cells), count_shared(cells))
        assert figures.num_used + figures.num_free == figures.num_total == N_CTX
        for slot in self._slots:  # the library does not know tokens
            mine = used[[slot.seq_id in holders for holders in owners]]
            by_position = mine[np.argsort(shown.pos[mine])]
            assert shown.token_ids[by_position].tolist() == slot.token_ids


def shown_in(row: SequenceRow) -> dict[str, int | None]:
    return {column.head: column.value(row) for column in COLUMNS if column.head in FIGURES}


def known(pos: int) -> int | None:
    """The library says -1 of a sequence without cells."""
    return None if pos == -1 else pos


def count_shared(cells: Cells) -> int:
    return sum(len(holders) > 1 for _, holders in cells)
