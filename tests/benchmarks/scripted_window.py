"""Skein's real window, workspace and database, with a script instead of an engine.

What the window costs is then all that is measured. The script runs on the GUI's thread, and what little it
takes is counted with it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.bridge.garbage import GarbageCollector
from app.bridge.report_router import ReportRouter
from app.bridge.workspace import Workspace
from app.engine.types import (
    CellUsage,
    FinishReason,
    Output,
    Request,
    SlotSnapshot,
    SlotState,
    Span,
    StepReport,
    Usage,
)
from app.settings import Settings
from app.storage.chat_store import ChatStore
from tests.benchmarks.watched_window import WatchedWindow
from tests.fakes import model_info

WINDOW_SIZE = (1280, 800)
PIECE = 4  # characters of a token
N_CTX = 65_536


@contextmanager
def private_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        for kind in ("DATA", "CONFIG", "CACHE", "STATE"):
            os.environ[f"XDG_{kind}_HOME"] = str(Path(name) / kind.lower())
        yield Path(name)


class ScriptedEngine(QObject):
    """Has the signals of `ActiveEngine`; answers every request with the same text, a token a step."""

    loading = Signal(object)
    load_progressed = Signal(float)
    loaded = Signal(object)
    load_failed = Signal(object, object)
    engine_failed = Signal(object)
    reported = Signal(object)
    ended = Signal(object)

    def __init__(self, text: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.model = model_info(name="scripted", n_ctx=N_CTX, n_seq_max=8)
        self._text = text
        self._asked: dict[str, Request] = {}  # by request id
        self._told: dict[str, int] = {}  # characters of the answer to each
        self._step = 0
        self._owed = 0.0
        self._last = 0.0
        self._rate = 0.0
        self._clock = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=1)
        self._clock.timeout.connect(self._on_tick)

    def talk(self, steps_per_s: float) -> None:
        """As fast as this from now on, whoever has asked; 0 pauses."""
        self._rate, self._owed, self._last = steps_per_s, 0.0, time.perf_counter()
        self._clock.setInterval(max(1, round(1000 / steps_per_s)) if steps_per_s else 1000)
        self._clock.start()

    @property
    def num_steps(self) -> int:
        return self._step

    def submit(self, request: Request) -> None:
        self._asked[request.request_id], self._told[request.request_id] = request, 0

    def abort(self, request_id: str) -> None:
        if request := self._asked.pop(request_id, None):
            self.ended.emit(Output(request_id, request.chat_id, finish_reason=FinishReason.ABORT))

    def use_prompts(self, _work: object) -> Future[int]:
        """Every text has the same number of tokens."""
        future: Future[int] = Future()
        future.set_result(1000)
        return future

    def __getattr__(self, name: str) -> Any:
        """What else may be told to an engine changes nothing here."""
        if name in ("load", "set_speed", "post", "abort_all", "forget", "fork", "set_front"):
            return lambda *_arguments: None
        raise AttributeError(name)

    @Slot()
    def _on_tick(self) -> None:
        """As the engine's thread does it: what became due together arrives together."""
        now = time.perf_counter()
        self._owed += (now - self._last) * self._rate
        self._last = now
        num_due = int(self._owed)
        self._owed -= num_due
        if num_due and self._asked:
            self.reported.emit(tuple(self._next_report() for _ in range(num_due)))

    def _next_report(self) -> StepReport:
        self._step += 1
        outputs, slots, spans = [], [], []
        for seq_id, request in enumerate(self._asked.values()):
            told = self._told[request.request_id]
            self._told[request.request_id] = told + PIECE
            num_tokens = told // PIECE + 1
            usage = Usage(num_prompt_tokens=20, num_generated_tokens=num_tokens, decode_s=num_tokens / 40)
            begin = told % len(self._text)
            text = self._text[begin : begin + PIECE]
            outputs.append(Output(request.request_id, request.chat_id, text, usage=usage))
            slots.append(_slot(seq_id, request.chat_id, num_tokens, usage))
            spans.append(Span(seq_id, request.chat_id, request.request_id, num_tokens, 1, True, 1, None))
        cells = CellUsage(N_CTX, sum(slot.num_cells for slot in slots), 0)
        return StepReport(
            self._step, tuple(outputs), tuple(spans), tuple(slots), cells, started_at=time.perf_counter()
        )


def _slot(seq_id: int, chat_id: str, num_tokens: int, usage: Usage) -> SlotSnapshot:
    slot = SlotSnapshot(seq_id, SlotState.DECODE, chat_id, pos_max=num_tokens, num_cells=num_tokens + 1)
    return replace(slot, usage=usage)


class ScriptedProgram:
    """The window with all that stands behind it but the engine. Made inside the running loop."""

    def __init__(self, home: Path, text: str) -> None:
        self.settings = Settings.load(home / "settings.json")
        self.store = ChatStore(home / "chats.db")
        self.engine = ScriptedEngine(text)
        engine: Any = self.engine
        self._garbage = GarbageCollector(self.engine)
        self.workspace = Workspace(engine, self.store, self.settings)
        self.router = ReportRouter(engine, self.workspace)
        WatchedWindow.record.lateness.clear()
        self.window = WatchedWindow(self.workspace, engine, self.settings)
        self.window.resize(*WINDOW_SIZE)


@asynccontextmanager
async def scripted_program(home: Path, text: str = "x") -> AsyncIterator[ScriptedProgram]:
    program = ScriptedProgram(home, text)
    try:
        await program.store.open()
        yield program
    finally:
        program.engine.talk(0)
        await program.workspace.shut_down()
        await program.store.close()
        program.window.hide()
        program.window.deleteLater()
