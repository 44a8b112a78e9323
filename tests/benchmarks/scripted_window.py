"""Skein's real window, workspace and database, with a script on the engine's thread instead of an engine.

What the window costs is then all that the GUI's thread does.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

from PySide6.QtCore import QObject

from app.bridge.engine_thread import EngineThread
from app.bridge.engines import Engines
from app.bridge.garbage import GarbageCollector
from app.bridge.report_router import ReportRouter
from app.bridge.workspace import Workspace
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.commands import Abort, Command, Submit
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason, Output, Usage
from app.protocol.report import CellUsage, SlotSnapshot, SlotState, Span, StepReport
from app.protocol.request import Request
from app.services.preferences import Preferences
from app.services.services import Services
from app.settings.settings import Settings
from app.storage.chat_store import ChatStore
from app.ui.frame import Frame
from tests.benchmarks.watched_window import WatchedWindow
from tests.fakes import model_info

T = TypeVar("T")

WINDOW_SIZE = (1280, 800)
PIECE = 4  # characters of a token
N_CTX = 65_536


@contextmanager
def private_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        for kind in ("DATA", "CONFIG", "CACHE", "STATE"):
            os.environ[f"XDG_{kind}_HOME"] = str(Path(name) / kind.lower())
        yield Path(name)


class ScriptedThread(EngineThread):
    """Answers every request with the same text, a token a step."""

    def __init__(self, text: str, parent: QObject) -> None:
        super().__init__(LoadParams(Path("scripted.gguf")), parent)
        self._text = text
        self._asked: dict[str, Request] = {}  # by request id
        self._told: dict[str, int] = {}  # characters of the answer to each
        self._rate = 0.0
        self._has_changed = threading.Event()
        self._reports: deque[StepReport] = deque()
        self._is_woken = False
        self.num_steps = 0

    # Any thread.

    def talk(self, steps_per_s: float) -> None:
        """As fast as this from now on, for all requests; 0 pauses."""
        self._rate = steps_per_s
        self._has_changed.set()

    def post(self, command: Command) -> None:
        match command:
            case Submit(request):
                self._told[request.request_id] = 0
                self._asked = {**self._asked, request.request_id: request}
            case Abort(request_id) if asked := self._asked.get(request_id):
                self._asked = {key: other for key, other in self._asked.items() if key != request_id}
                last = Output(request_id, asked.chat_id, finish_reason=FinishReason.ABORT)
                self._publish((last,), (), ())

    def use_prompts(self, _work: Callable[[PromptBuilder], T]) -> Future[T]:
        """Every text has the same number of tokens."""
        future: Future[Any] = Future()
        future.set_result(1000)
        return future

    def take_reports(self) -> list[StepReport]:
        """As `EngineLoop` does it."""
        self._is_woken = False
        return [self._reports.popleft() for _ in range(len(self._reports))]

    def stop(self) -> None:
        super().stop()
        self._has_changed.set()

    def _running(self) -> Any:
        """What else may be told to an engine changes nothing here."""
        return mock.MagicMock()

    # The engine thread only.

    def run(self) -> None:
        self.loaded.emit(model_info(name="scripted", n_ctx=N_CTX, n_seq_max=8))
        due = time.perf_counter()
        while not self._stop_requested.is_set():
            period = 1 / self._rate if self._rate else None
            wait = max(0.0, due - time.perf_counter()) if period else None
            if self._has_changed.wait(wait):
                self._has_changed.clear()
                due = time.perf_counter()
            elif period:
                due += period
                self._step()

    def _step(self) -> None:
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
        if outputs:
            self._publish(tuple(outputs), tuple(spans), tuple(slots))

    def _publish(
        self, outputs: tuple[Output, ...], spans: tuple[Span, ...], slots: tuple[SlotSnapshot, ...]
    ) -> None:
        self.num_steps += 1
        decode_ms = 1000 / self._rate if self._rate else 0.0
        cells = CellUsage(N_CTX, sum(slot.num_cells for slot in slots), 0)
        self._reports.append(
            StepReport(
                self.num_steps,
                outputs,
                spans,
                slots,
                cells,
                decode_ms=decode_ms,
                started_at=time.perf_counter(),
            )
        )
        if not self._is_woken:
            self._is_woken = True
            self._published.emit()


def _slot(seq_id: int, chat_id: str, num_tokens: int, usage: Usage) -> SlotSnapshot:
    slot = SlotSnapshot(seq_id, SlotState.DECODE, chat_id, pos_max=num_tokens, num_cells=num_tokens + 1)
    return replace(slot, usage=usage)


class ScriptedProgram:
    """The window with all that stands behind it but the engine. Made inside the running loop."""

    def __init__(self, home: Path, text: str) -> None:
        self.settings = Settings.load(home / "settings.json")
        self.store = ChatStore(home / "chats.db")
        self.engine = Engines(make_thread=lambda _params, parent: self._make_thread(text, parent))
        self._garbage = GarbageCollector(self.engine)
        self.workspace = Workspace(self.engine, self.store, self.settings)
        self.router = ReportRouter(self.engine, self.workspace)
        WatchedWindow.record.lateness.clear()
        frame = Frame()
        preferences = Preferences(self.settings, frame)
        services = Services(self.engine, self.workspace, self.store, preferences, frame)
        self.window = WatchedWindow(frame, services)
        frame.resize(*WINDOW_SIZE)

    def _make_thread(self, text: str, parent: QObject) -> ScriptedThread:
        self.script = ScriptedThread(text, parent)
        return self.script

    async def start(self) -> None:
        await self.store.open()
        self.engine.load(LoadParams(Path("scripted.gguf")))
        while self.engine.model is None:
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        self.script.talk(0)
        await self.engine.close()
        await self.workspace.stop_saving()
        await self.store.close()
        self.window.frame.hide()
        self.window.frame.deleteLater()


@asynccontextmanager
async def scripted_program(home: Path, text: str = "x") -> AsyncIterator[ScriptedProgram]:
    program = ScriptedProgram(home, text)
    try:
        await program.start()
        yield program
    finally:
        await program.stop()
