"""The engine that answers now, and the change to another. GUI thread.

A new model is loaded beside the old one, which goes on answering until the new one is ready. Knows requests
and reports, but no chats.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar, cast

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engine_thread import EngineThread
from app.engine.commands import Command, Pin, WatchCells
from app.engine.errors import EngineError
from app.engine.prompt import PromptBuilder
from app.engine.types import FinishReason, LoadParams, ModelInfo, Output, Request, Speed, StepReport

log = logging.getLogger(__name__)
T = TypeVar("T")

NO_MODEL = "No model is open. Open one with Ctrl+O, then send again."
MODEL_CHANGED = "The model was changed; send again."
ENGINE_GONE = "The engine stopped. Open the model again, then send again."

StartThread = Callable[[LoadParams, QObject], EngineThread]


class ActiveEngine(QObject):
    """Every request handed to `submit` ends: by an Output in `reported`, or by one in `ended`."""

    loading = Signal(object)  # Path
    load_progressed = Signal(float)  # 0..1
    loaded = Signal(object)  # ModelInfo; the new model is now active
    load_failed = Signal(object, object)  # Path, message; the former model (if any) stays active
    engine_failed = Signal(object)  # message: the active engine died; every open request has ended with ERROR
    reported = Signal(object)  # tuple[StepReport, ...], coalesced
    ended = Signal(object)  # Output of a request that no engine can end any more

    def __init__(self, parent: QObject | None = None, make_thread: StartThread = EngineThread) -> None:
        super().__init__(parent)
        self._make_thread = make_thread
        self._threads: list[EngineThread] = []  # all not yet finished: a running QThread must not be deleted
        self._active: EngineThread | None = None
        self._incoming: EngineThread | None = None
        self._model: ModelInfo | None = None
        self._open: dict[str, Request] = {}  # submitted to the active engine, not ended
        self._waiting: dict[str, Request] = {}  # for the first model
        self._front_chat_id: str | None = None
        self._speed = Speed.RESPONSIVE
        self._pinned_chat_ids: set[str] = set()
        self._is_watching_cells = False
        self._is_closing = False
        self._all_finished = asyncio.Event()

    @property
    def model(self) -> ModelInfo | None:
        return self._model

    def load(self, params: LoadParams) -> None:
        """Starts to load; a load that is still going on is called off."""
        if self._is_closing:
            return
        if self._incoming:
            self._incoming.stop()
        self._incoming = self._start_thread(params)
        self.loading.emit(params.path)

    def submit(self, request: Request) -> None:
        """Before the first model is there: kept and submitted when it is."""
        if self._active:
            self._open[request.request_id] = request
            self._active.submit(request)
        elif self._incoming:
            self._waiting[request.request_id] = request
        else:
            self._end(request, FinishReason.ERROR, NO_MODEL)

    def abort(self, request_id: str) -> None:
        if request := self._waiting.pop(request_id, None):
            self._end(request, FinishReason.ABORT)
        elif self._active and request_id in self._open:
            self._active.abort(request_id)

    def abort_all(self) -> None:
        """End every answer, those that wait for a model too."""
        self._end_all(self._waiting, FinishReason.ABORT)
        if self._active:
            self._active.abort_all()

    def forget(self, chat_id: str) -> None:
        """The chat's tab was closed: what runs for it ends, its cells become free."""
        for request in [request for request in self._waiting.values() if request.chat_id == chat_id]:
            self.abort(request.request_id)
        self._pinned_chat_ids.discard(chat_id)
        if self._active:
            self._active.forget(chat_id)

    def fork(self, chat_id: str, new_chat_id: str) -> None:
        """A chat begins as a copy of another: it holds the same cells from the start."""
        if self._active:
            self._active.fork(chat_id, new_chat_id)

    def set_front(self, chat_id: str | None) -> None:
        """The chat somebody looks at, also for every model to come."""
        self._front_chat_id = chat_id
        if self._active:
            self._active.set_front(chat_id)

    def set_speed(self, speed: Speed) -> None:
        """How much of a step prompts may take, also for every model to come."""
        self._speed = speed
        if self._active:
            self._active.set_speed(speed)

    def post(self, command: Command) -> None:
        """What the inspector wants of the active engine; dropped when there is none.

        A pinned chat and an open map are wishes about a chat and a panel, so they hold for every model to
        come. A pause is about the batch that comes next: a new model would seem to hang in it, so it runs.
        """
        match command:
            case Pin(chat_id, True):
                self._pinned_chat_ids.add(chat_id)
            case Pin(chat_id, False):
                self._pinned_chat_ids.discard(chat_id)
            case WatchCells(is_watching):
                self._is_watching_cells = is_watching
        if self._active:
            self._active.post(command)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """Calls `work` beside the active engine, where texts are tokenised."""
        if self._active:
            return self._active.use_prompts(work)
        future: Future[T] = Future()
        future.set_exception(EngineError(NO_MODEL))
        return future

    async def close(self) -> None:
        """Stops every thread and returns when the last one has ended. Never blocks the GUI's loop."""
        self._is_closing = True
        for thread in self._threads:
            thread.stop()
        if self._threads:
            await self._all_finished.wait()

    def _start_thread(self, params: LoadParams) -> EngineThread:
        thread = self._make_thread(params, self)
        thread.progressed.connect(self._on_progressed)
        thread.loaded.connect(self._on_loaded)
        thread.reported.connect(self._on_reported)
        thread.failed.connect(self._on_failed)
        thread.finished.connect(self._on_finished)
        self._threads.append(thread)
        thread.start()
        return thread

    # A signal may still be on its way when its thread is no longer the one that counts, so each of the
    # following asks who sent it.

    @Slot(float)
    def _on_progressed(self, fraction: float) -> None:
        if self.sender() is self._incoming:
            self.load_progressed.emit(fraction)

    @Slot(object)
    def _on_loaded(self, model: ModelInfo) -> None:
        if self.sender() is not self._incoming or self._is_closing:
            return
        self._retire_active()
        self._active, self._incoming = self._incoming, None
        self._model = model
        self._active.set_speed(self._speed)
        self._active.set_front(self._front_chat_id)
        for chat_id in self._pinned_chat_ids:
            self._active.post(Pin(chat_id))
        if self._is_watching_cells:
            self._active.post(WatchCells())
        self.loaded.emit(model)
        waiting, self._waiting = self._waiting, {}
        for request in waiting.values():
            self.submit(request)

    @Slot()
    def _on_reported(self) -> None:
        if self._active and self.sender() is self._active:
            self._deliver(self._active.take_reports())

    @Slot(object)
    def _on_failed(self, message: str) -> None:
        if self._incoming and self.sender() is self._incoming:
            path, self._incoming = self._incoming.params.path, None
            self.load_failed.emit(path, message)
            if not self._incoming:  # nobody has begun to load another in the meantime
                self._end_all(self._waiting, FinishReason.ERROR, message)
        elif self._active and self.sender() is self._active:
            self._deliver(self._active.take_reports())
            self._active, self._model = None, None
            self._end_all(self._open, FinishReason.ERROR, ENGINE_GONE)
            self.engine_failed.emit(message)

    @Slot()
    def _on_finished(self) -> None:
        thread = cast(EngineThread, self.sender())
        thread.wait()  # `finished` is emitted by the thread itself, in its last microseconds
        self._threads.remove(thread)
        thread.deleteLater()
        if not self._threads and self._is_closing:
            self._all_finished.set()

    def _retire_active(self) -> None:
        if not self._active:
            return
        self._deliver(self._active.take_reports())
        self._active.stop()
        self._active = None
        self._end_all(self._open, FinishReason.ABORT, MODEL_CHANGED)

    def _deliver(self, reports: list[StepReport]) -> None:
        for report in reports:
            for output in report.outputs:
                if output.finish_reason:
                    self._open.pop(output.request_id, None)
        if reports:
            self.reported.emit(tuple(reports))

    def _end_all(self, requests: dict[str, Request], reason: FinishReason, notice: str = "") -> None:
        ended = list(requests.values())
        requests.clear()
        for request in ended:
            self._end(request, reason, notice)

    def _end(self, request: Request, reason: FinishReason, notice: str = "") -> None:
        self.ended.emit(Output(request.request_id, request.chat_id, finish_reason=reason, notice=notice))
