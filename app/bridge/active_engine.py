"""The engine that answers now, and the change to another. GUI thread.

A new model is loaded beside the old one, which goes on answering until the new one is ready; what it has not
finished then goes on in the new one where that can be. Put to sleep it gives its memory back, and is loaded
again by the next request. Knows requests and reports, but no chats.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.engine_thread import EngineThread
from app.bridge.open_request import OpenRequest, broken_off
from app.engine.commands import Command, Pin, WatchCells
from app.engine.errors import EngineError
from app.engine.freed_memory import give_back
from app.engine.types import (
    CellStore,
    FinishReason,
    LoadParams,
    ModelInfo,
    Output,
    Request,
    Speed,
    StepReport,
)
from app.said import said

if TYPE_CHECKING:
    from app.engine.prompt import PromptBuilder

log = logging.getLogger(__name__)
T = TypeVar("T")

NO_MODEL = said("No model is open. Open one with Ctrl+O, then send again.")
MODEL_CHANGED = said("Another model was loaded before this answer was finished.")
ENGINE_GONE = said("The engine stopped. Open the model again, then send again.")
LOAD_CANCELLED = said("Loading the model was cancelled. Load it again, then send again.")
# A load that was called off ends in the library's own time. For so long the next load waits for its memory,
# and the end of the program for its end.
PATIENCE_MS = 5_000
CLOSING_S = 1.5
MAX_RECOVERIES, RECOVERY_WINDOW_S = 3, 600.0  # an engine that crashes on and on is left alone

StartThread = Callable[[LoadParams, QObject], EngineThread]


class ActiveEngine(QObject):
    """Every request handed to `submit` ends: by an Output in `reported`, or by one in `ended`."""

    loading = Signal(object)  # Path
    load_progressed = Signal(float)  # 0..1
    loaded = Signal(object)  # ModelInfo; the new model is now active
    load_failed = Signal(object, object)  # Path, message; the former model (if any) stays active
    load_cancelled = Signal(object)  # Path; likewise
    slept = Signal()  # the model gave its memory back, and comes back with the next request
    engine_failed = Signal(object)  # message: the active engine died; every open request has ended with ERROR
    recovering = Signal(object)  # message: the active engine died and is loaded again; its answers will go on
    reported = Signal(object)  # tuple[StepReport, ...], coalesced
    ended = Signal(object)  # Output that is in no report: mostly the end of a request that no engine can end

    def __init__(self, parent: QObject | None = None, make_thread: StartThread = EngineThread) -> None:
        super().__init__(parent)
        self._make_thread = make_thread
        self._threads: list[EngineThread] = []  # all not yet finished: a running QThread must not be deleted
        self._active: EngineThread | None = None
        self._incoming: EngineThread | None = None
        self._model: ModelInfo | None = None
        self._wanted: LoadParams | None = None  # waits for the memory of a load that was called off
        self._called_off: set[EngineThread] = set()  # loads that have not ended yet
        self._asleep: LoadParams | None = None  # of the model that is loaded again by the next request
        self._open: dict[str, OpenRequest] = {}  # submitted to the active engine, not ended
        self._moving: dict[str, tuple[EngineThread, OpenRequest]] = {}  # from an engine that is ending
        self._waiting: dict[str, Request] = {}  # for a model
        self._waiting_uses: list[tuple[Callable[[PromptBuilder], Any], Future[Any]]] = []  # likewise
        self._recovered_at: deque[float] = deque(maxlen=MAX_RECOVERIES)
        self._used_at = monotonic()
        self._front_chat_id: str | None = None
        self._speed = Speed.RESPONSIVE
        self._cell_store: CellStore | None = None
        self._pinned_chat_ids: set[str] = set()
        self._is_watching_cells = False
        self._is_closing = False
        self._all_finished = asyncio.Event()
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(self._start_wanted)

    @property
    def model(self) -> ModelInfo | None:
        """The one that answers, also while it is asleep."""
        return self._model

    @property
    def params(self) -> LoadParams | None:
        """How `model` was loaded."""
        return self._active.params if self._active else self._asleep

    @property
    def is_asleep(self) -> bool:
        return self._asleep is not None

    @property
    def is_loading(self) -> bool:
        return bool(self._incoming or self._wanted)

    @property
    def idle_s(self) -> float:
        """How long nobody has wanted anything of the engine. 0 while it is at work, or there is none."""
        return monotonic() - self._used_at if self.can_sleep else 0.0

    @property
    def can_sleep(self) -> bool:
        """There is an engine, and it has nothing to do."""
        return bool(self._active) and not (self._open or self._moving or self.is_loading)

    def load(self, params: LoadParams) -> None:
        """Starts to load; a load that is still going on is called off, and gives its memory back first."""
        if self._is_closing:
            return
        self._call_off()
        if self._active and set(params.workers) & set(self._active.params.workers):
            self._set_aside(self._active.params)  # a worker serves one engine at a time
        self._wanted = params
        self.loading.emit(params.path)
        if self._called_off:
            self._patience.start()
        else:
            self._start_wanted()

    def cancel_load(self) -> None:
        """All is as before at once. Who waited for this model waits no longer, but for a former one."""
        params = self._call_off()
        if params is None:
            return
        self.load_cancelled.emit(params.path)
        if not self._active and (params == self._asleep or not self._wake_if_wanted()):
            self._end_waiting(FinishReason.ABORT, LOAD_CANCELLED)

    def sleep(self) -> None:
        """Gives the model's memory back until somebody asks for something. Not while it is at work."""
        if self._active and self.can_sleep:
            self._asleep = self._active.params
            self._active.stop()
            self._active = None
            self.slept.emit()

    def submit(self, request: Request) -> None:
        """While there is no model yet, or it is asleep: kept and submitted when it is there."""
        if self._active:
            self._submit(OpenRequest(request))
        elif self.is_loading or self._asleep:
            self._waiting[request.request_id] = request
            self._wake()
        else:
            self._end(request, FinishReason.ERROR, NO_MODEL)

    def abort(self, request_id: str) -> None:
        if request := self._waiting.pop(request_id, None):
            self._end(request, FinishReason.ABORT)
        elif request_id in self._moving:
            self._end(self._moving.pop(request_id)[1].request, FinishReason.ABORT)
        elif self._active and request_id in self._open:
            self._active.abort(request_id)

    def abort_all(self) -> None:
        """End every answer, those that wait for a model too."""
        for request_id in (*self._waiting, *self._moving):
            self.abort(request_id)
        if self._active:
            self._active.abort_all()

    def forget(self, chat_id: str) -> None:
        """The chat's tab was closed: what runs for it ends, its cells become free."""
        moving = (open_request.request for _, open_request in self._moving.values())
        for request in [
            request for request in (*self._waiting.values(), *moving) if request.chat_id == chat_id
        ]:
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

    def keep_cells(self, store: CellStore | None) -> None:
        """Where the cells of saved chats are kept, also for every model to come; nowhere if None."""
        self._cell_store = store
        if self._active:
            self._active.keep_cells(store)

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
        """Calls `work` beside the active engine, where texts are tokenised. Wakes it up."""
        self._used_at = monotonic()
        if self._active:
            return self._active.use_prompts(work)
        future: Future[T] = Future()
        if self._asleep:
            self._waiting_uses.append((work, future))
            self._wake()
        else:
            future.set_exception(EngineError(NO_MODEL))
        return future

    async def close(self) -> bool:
        """Stops every thread and returns when the last one has ended. Never blocks the GUI's loop.

        False: one is still in the library, where nothing can interrupt it. Nobody may delete it then.
        """
        self._is_closing = True
        self._wanted = None
        self._patience.stop()
        self._end_uses()
        for thread in self._threads:
            thread.stop()
        if self._threads:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_finished.wait(), CLOSING_S)
        return not self._threads

    @Slot()
    def _start_wanted(self) -> None:
        self._patience.stop()
        if self._wanted:
            params, self._wanted = self._wanted, None
            self._incoming = self._start_thread(params)

    def _call_off(self) -> LoadParams | None:
        """What was being loaded, if anything was. Its thread ends when it can; nobody waits for that."""
        params = self._wanted or (self._incoming.params if self._incoming else None)
        if self._incoming:
            self._incoming.stop()
            self._called_off.add(self._incoming)
        self._incoming = self._wanted = None
        self._patience.stop()
        return params

    def _wake(self) -> None:
        if self._asleep and not self.is_loading:
            self.load(self._asleep)

    def _wake_if_wanted(self) -> bool:
        """Somebody waits for a model, and there is one that is asleep."""
        is_wanted = bool(self._asleep and (self._waiting or self._waiting_uses or self._moving))
        if is_wanted:
            self._wake()
        return is_wanted

    def _submit(self, open_request: OpenRequest) -> None:
        assert self._active
        self._used_at = monotonic()
        self._open[open_request.request.request_id] = open_request
        self._active.submit(open_request.rest())

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
        former = self._model
        self._retire_active(model)
        self._active, self._incoming, self._asleep = self._incoming, None, None
        self._model = model
        self._used_at = monotonic()
        self._active.set_speed(self._speed)
        self._active.keep_cells(self._cell_store)
        self._active.set_front(self._front_chat_id)
        for chat_id in self._pinned_chat_ids:
            self._active.post(Pin(chat_id))
        if self._is_watching_cells:
            self._active.post(WatchCells())
        self.loaded.emit(model)
        if former:
            self._take_up(former)
        waiting, self._waiting = self._waiting, {}
        for request in waiting.values():
            self.submit(request)
        uses, self._waiting_uses = self._waiting_uses, []
        for work, future in uses:
            _pass_on(self._active.use_prompts(work), future)

    @Slot()
    def _on_reported(self) -> None:
        thread = cast(EngineThread, self.sender())
        if thread is self._active:
            self._deliver(thread.take_reports())
        elif self._moving:
            self._take_over(thread)

    @Slot(object)
    def _on_failed(self, message: str) -> None:
        if self._incoming and self.sender() is self._incoming:
            self._on_load_failed(message)
        elif self._active and self.sender() is self._active:
            if self._active.recovery and self._may_recover():
                self._recover(self._active.recovery, message)
                return
            self._deliver(self._active.take_reports())
            self._active, self._model = None, None
            ended, self._open = self._open, {}
            for each in ended.values():
                self._end(each.request, FinishReason.ERROR, ENGINE_GONE)
            self.engine_failed.emit(message)

    def _may_recover(self) -> bool:
        times = self._recovered_at
        return len(times) < MAX_RECOVERIES or monotonic() - times[0] > RECOVERY_WINDOW_S

    def _recover(self, params: LoadParams, message: str) -> None:
        self._recovered_at.append(monotonic())
        self._set_aside(params)
        self.recovering.emit(message)
        self._wake()

    def _on_load_failed(self, message: str) -> None:
        """A model that was asleep, and does not come back, is gone; beside another one it sleeps on."""
        assert self._incoming
        params, self._incoming = self._incoming.params, None
        if params == self._asleep:
            self._asleep = self._model = None
        self.load_failed.emit(params.path, message)
        if self.is_loading:  # somebody has begun to load another in the meantime
            return
        if not self._active and not self._wake_if_wanted():
            self._end_waiting(FinishReason.ERROR, message)

    @Slot()
    def _on_finished(self) -> None:
        thread = cast(EngineThread, self.sender())
        thread.wait()  # `finished` is emitted by the thread itself, in its last microseconds
        self._take_over(thread)
        for former, left in list(self._moving.values()):
            if former is thread:  # it died without a word about this one
                self._go_on(left)
        self._threads.remove(thread)
        self._called_off.discard(thread)
        if thread is self._active:  # the program ends, and its chats are closed after its engines
            self._active = None
        thread.let_go()
        thread.deleteLater()
        give_back()
        if not self._called_off:
            self._start_wanted()
        if not self._threads and self._is_closing:
            self._all_finished.set()

    # What one engine has begun and another finishes

    def _retire_active(self, successor: ModelInfo) -> None:
        """What it has not finished moves to the next engine as soon as it has told all there is of it."""
        if not self._active or not self._model:
            return
        self._deliver(self._active.take_reports())
        self._active.stop()
        left, self._open = self._open, {}
        for request_id, each in left.items():
            if each.can_move(self._model, successor):
                self._moving[request_id] = (self._active, each)
            else:
                self._end(each.request, FinishReason.ABORT, MODEL_CHANGED)
        self._active = None

    def _set_aside(self, params: LoadParams) -> None:
        """The engine ends before there is another; what it has not finished waits for that one.

        It is asleep with `params` as long as nothing else is loaded.
        """
        thread, self._active = self._active, None
        assert thread
        self._deliver(thread.take_reports())
        thread.stop()
        self._moving |= {request_id: (thread, each) for request_id, each in self._open.items()}
        self._open.clear()
        self._asleep = params

    def _take_up(self, former_model: ModelInfo) -> None:
        """What engines have left that ended before this one was there."""
        assert self._model
        for former, left in list(self._moving.values()):
            if former in self._threads:
                continue  # it has more to tell
            if left.can_move(former_model, self._model):
                self._go_on(left)
            else:
                del self._moving[left.request.request_id]
                self._end(left.request, FinishReason.ABORT, MODEL_CHANGED)

    def _take_over(self, former: EngineThread) -> None:
        """The last words of an engine that was stopped."""
        for report in former.take_reports():
            for output in report.outputs:
                thread, left = self._moving.get(output.request_id, (None, None))
                if left is None or thread is not former:
                    continue
                left.note(output)
                if output.finish_reason is FinishReason.ABORT:
                    self.ended.emit(broken_off(output))
                    self._go_on(left)
                    continue
                if output.finish_reason:
                    del self._moving[output.request_id]
                self.ended.emit(output)

    def _go_on(self, left: OpenRequest) -> None:
        request = left.request
        if not self._active and self._asleep:
            return  # until it is loaded again
        del self._moving[request.request_id]
        if self._active:
            self._submit(left)
        else:
            self._end(request, FinishReason.ERROR, ENGINE_GONE)

    def _deliver(self, reports: list[StepReport]) -> None:
        for report in reports:
            for output in report.outputs:
                if output.finish_reason:
                    self._open.pop(output.request_id, None)
                    self._used_at = monotonic()
                elif each := self._open.get(output.request_id):
                    each.note(output)
        if reports:
            self.reported.emit(tuple(reports))

    def _end_waiting(self, reason: FinishReason, notice: str) -> None:
        ended, self._waiting = self._waiting, {}
        left = [each.request for thread, each in self._moving.values() if thread not in self._threads]
        for request in (*ended.values(), *left):
            self._moving.pop(request.request_id, None)
            self._end(request, reason, notice)
        self._end_uses()

    def _end_uses(self) -> None:
        uses, self._waiting_uses = self._waiting_uses, []
        for _, future in uses:
            if future.set_running_or_notify_cancel():
                future.set_exception(EngineError(NO_MODEL))

    def _end(self, request: Request, reason: FinishReason, notice: str = "") -> None:
        self.ended.emit(Output(request.request_id, request.chat_id, finish_reason=reason, notice=notice))


def _pass_on(source: Future[T], target: Future[T]) -> None:
    """What becomes of `source` becomes of `target`. On whichever thread ends it."""
    if not target.set_running_or_notify_cancel():
        source.cancel()
        return

    def on_done(done: Future[T]) -> None:
        error = done.exception()
        if error:
            target.set_exception(error)
        else:
            target.set_result(done.result())

    source.add_done_callback(on_done)
