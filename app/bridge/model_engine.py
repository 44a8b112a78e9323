"""One model and the engine that runs it: loaded, asleep, or loaded anew with other settings. GUI thread.

When it is loaded anew, the former engine goes on answering until the new one is ready, unless memory does not
suffice for both; answers it has not finished continue in the new one where possible. A model that sleeps has
freed its memory, and the next request loads it again. Knows requests and reports, but no chats.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engine_thread import EngineThread
from app.bridge.engine_threads import EngineThreads, StartThread
from app.bridge.open_requests import OpenRequest, OpenRequests
from app.protocol.commands import (
    Command,
    Forget,
    KeepCells,
    Pin,
    ReadAhead,
    SetFront,
    SetSpeed,
    Submit,
    WatchCells,
    ends,
)
from app.protocol.errors import EngineError
from app.protocol.load import CellStore, LoadParams, Speed
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason
from app.protocol.report import StepReport
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

T = TypeVar("T")

NO_MODEL = said("No model is loaded. Choose one above the chat, then try again.")
ENGINE_GONE = said("The engine stopped. Reload the model, then send again.")
LOAD_CANCELLED = said("Loading the model was cancelled. Load it again, then send again.")
MAX_RECOVERIES, RECOVERY_WINDOW_S = 3, 600.0  # an engine that keeps crashing is not restarted


class Others(Protocol):
    """What an engine asks of those beside it."""

    @property
    def ending(self) -> Collection[EngineThread]:
        """Loads of all that were called off: the library may not be opened by two threads at once."""

    def held_beside(self, engine: ModelEngine) -> Mapping[str, int]:
        """What those hold that may go, at once or after their answers: bytes by device name."""

    def make_room(self, engine: ModelEngine) -> EngineThread | None:
        """Stops the one of these that was unused longest. None: there is none."""

    def load_in_turn(self, engine: ModelEngine, params: LoadParams) -> None:
        """Calls `engine.load` when its turn has come: one model is loaded at a time."""


class ModelEngine(QObject):
    """Every request that was posted ends: by an Output in `reported`, or by one in `ended`."""

    loading = Signal(object)  # Path
    loaded = Signal(object)  # ModelInfo; the new model is now active
    load_failed = Signal(object, object)  # Path, message; the former model (if any) stays active
    load_cancelled = Signal(object)  # Path; the former model (if any) stays active
    slept = Signal()  # the model freed its memory; the next request loads it again
    engine_failed = Signal(object)  # message: the active engine died; every open request has ended with ERROR
    recovering = Signal(object)  # message: the active engine died and is loaded again, and its answers go on
    asked = Signal()  # for an answer, or to read ahead
    reported = Signal(object)  # tuple[StepReport, ...], coalesced

    def __init__(
        self,
        parent: QObject | None = None,
        make_thread: StartThread = EngineThread,
        settings: EngineSettings | None = None,
        others: Others | None = None,
        asleep: LoadParams | None = None,
    ) -> None:
        """`asleep`: how to load it, when it is needed. Other engines have the same `settings`."""
        super().__init__(parent)
        self._active: EngineThread | None = None
        self.model: ModelInfo | None = None  # as it was loaded, also while it is asleep
        self._asleep = asleep  # while nothing is active
        self._awaits_room: LoadParams | None = None  # a load that begins once another engine is idle
        self._others = others
        self._open = OpenRequests(self)
        # Outputs that are in no report, mostly the end of a request that no engine can end.
        self.ended = self._open.reported
        self.newest: StepReport | None = None  # of the engine that answers now
        self._uses = PromptUses()
        self._settings = settings or EngineSettings()
        self._used_at = monotonic()
        self._recovered_at: deque[float] = deque(maxlen=MAX_RECOVERIES)
        self._threads = EngineThreads(make_thread, self._on_reported, self)
        self.load_progressed = self._threads.progressed
        self._threads.loaded.connect(self._on_loaded)
        self._threads.load_failed.connect(self._on_load_failed)
        self._threads.room_missed.connect(self._load_with_room)
        self._threads.failed.connect(self._on_failed)
        self._threads.ended.connect(self._on_ended)

    @property
    def params(self) -> LoadParams | None:
        """How `model` was loaded."""
        return self._active.params if self._active else self._asleep

    @property
    def is_asleep(self) -> bool:
        return self._asleep is not None

    @property
    def is_loading(self) -> bool:
        return self.loading_params is not None

    @property
    def loading_params(self) -> LoadParams | None:
        return self._threads.load or self._awaits_room

    @property
    def takes_requests(self) -> bool:
        """A model answers or sleeps. One that was never loaded may fail, or not be there at all."""
        return self.model is not None

    @property
    def loaded_params(self) -> LoadParams | None:
        """With automatic values resolved. None: nothing is loaded."""
        if not self._active or not self.model:
            return None
        return replace(self._active.params, n_ctx=self.model.n_ctx, n_gpu_layers=self.model.n_gpu_layers)

    @property
    def held_bytes(self) -> Mapping[str, int]:
        """What unloading the model will free, by device name; "" is this machine."""
        return self.model.held_bytes if self._active and self.model else {}

    @property
    def idle_s(self) -> float:
        """Time since the engine was last used. 0 while it is at work, or there is none."""
        return monotonic() - self._used_at if self.can_sleep else 0.0

    @property
    def has_open_requests(self) -> bool:
        return bool(self._open or self._uses)

    @property
    def can_sleep(self) -> bool:
        """There is an engine, and it has nothing to do."""
        return bool(self._active) and not (self._open or self.is_loading)

    # Which model answers

    def load(self, params: LoadParams) -> None:
        """Starts to load; a load that is still going on is called off, and gives its memory back first."""
        if self._threads.is_closing:
            return
        self._threads.call_off()
        self._awaits_room = None
        if self._active and set(params.workers) & set(self._active.params.workers):
            self._load_with_room(params)  # a worker serves one engine at a time
        else:
            self._threads.start(params, self._reclaimable_bytes, self._ending_beside)
        self.loading.emit(params.path)

    def cancel_load(self) -> None:
        """Restores the former state at once. Requests that waited for this model wait for the former one."""
        params, self._awaits_room = self._threads.call_off() or self._awaits_room, None
        if params is None:
            return
        self.load_cancelled.emit(params.path)
        if params == self._asleep:
            self._turn_away(FinishReason.ABORT, LOAD_CANCELLED)
        else:
            self._serve(FinishReason.ABORT, LOAD_CANCELLED)
        self._emit_slept_if_asleep()

    def sleep(self) -> EngineThread | None:
        """Frees the model's memory until the next request: once the returned thread has ended.

        Does nothing while it is at work.
        """
        before = self._active
        if before and self.can_sleep:
            self._set_aside(before.params)
            self.slept.emit()
            return before
        return None

    async def close(self) -> bool:
        """Stops every engine and returns when the last has ended. Never blocks the GUI's loop.

        False: one is still inside a native call that cannot be interrupted. It must not be deleted then.
        """
        self._uses.fail(NO_MODEL)
        return await self._threads.close()

    # Requests and commands

    def post(self, command: Command) -> None:
        """Settings that outlive a model are remembered; most other commands are dropped while there is no
        engine.

        A request is kept, and submitted when its model is loaded or awake.
        """
        if isinstance(command, Submit | ReadAhead):
            self.asked.emit()
        if isinstance(command, Submit):
            self._used_at = monotonic()
            self._open.add(command.request, self.model)
            self._serve(FinishReason.ERROR, NO_MODEL)
            return
        for each in self._open:
            if ends(command, each.request):
                self._give_up(each)
        self._settings.note(command)
        if self._active:
            self._active.post(command)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """Calls `work` beside the active engine, where texts are tokenized. Wakes it up."""
        self._used_at = monotonic()
        if self._active:
            return self._active.use_prompts(work)
        future = self._uses.add(work)
        if self._asleep:
            self.wake()
        else:
            self._uses.fail(NO_MODEL)
        return future

    # An engine's signals

    @Slot(object, object)
    def _on_loaded(self, engine: EngineThread, model: ModelInfo) -> None:
        self._retire()
        self._active, self.model, self._asleep = engine, model, None
        self._used_at = monotonic()
        self._settings.post_to(engine)
        self.loaded.emit(model)
        self._serve(FinishReason.ERROR, NO_MODEL)

    @Slot(object, object)
    def _on_load_failed(self, params: LoadParams, message: str) -> None:
        """A sleeping model that fails to load again is gone; if another one failed, it sleeps on."""
        if params == self._asleep:
            self._asleep = self.model = None
        self.load_failed.emit(params.path, message)
        self._serve(FinishReason.ERROR, message)
        self._emit_slept_if_asleep()

    @property
    def _reclaimable_bytes(self) -> Mapping[str, int]:
        others = self._others.held_beside(self) if self._others else {}
        return Counter(self.held_bytes) + Counter(others)

    @Slot(object)
    def _load_with_room(self, params: LoadParams) -> None:
        """There is no room for both. If this load fails the other comes back with the next request."""
        before = self._active
        if before:
            self._set_aside(before.params)
        elif self._others:
            before = self._others.make_room(self)
            if not (before or self._others.ending):  # all the others answer
                self._awaits_room = params
                return
        self._awaits_room = None
        self._threads.start(params, self._reclaimable_bytes, filter(None, (before, *self._ending_beside)))

    def take_room(self) -> None:
        """Another engine has nothing to do any more."""
        if self._awaits_room and not self._threads.is_closing:
            self._load_with_room(self._awaits_room)

    @property
    def _ending_beside(self) -> Iterable[EngineThread]:
        return self._others.ending if self._others else ()

    @property
    def ending(self) -> frozenset[EngineThread]:
        return self._threads.ending

    @Slot()
    def _on_reported(self) -> None:
        engine = cast(EngineThread, self.sender())
        if engine is self._active:
            self._deliver(engine)
        else:
            self._open.note_last_reports(engine)
            self._serve(FinishReason.ERROR, ENGINE_GONE)

    @Slot(object, object)
    def _on_failed(self, engine: EngineThread, message: str) -> None:
        if engine is not self._active:
            return
        if engine.recovery and self._may_recover():
            self._recovered_at.append(monotonic())
            self._set_aside(engine.recovery)
            self.recovering.emit(message)
            self.wake()
            return
        self._retire()
        self.model = None
        for each in self._open:
            if each.engine is engine:
                self._open.end(each, FinishReason.ERROR, ENGINE_GONE)
        self.engine_failed.emit(message)

    @Slot(object)
    def _on_ended(self, engine: EngineThread) -> None:
        if engine is self._active:  # the program ends, and its chats are closed after its engines
            self._active = None
        else:
            self._open.leave(engine)
            self._serve(FinishReason.ERROR, ENGINE_GONE)

    def _deliver(self, engine: EngineThread) -> None:
        reports = tuple(map(self._open.note, engine.take_reports()))
        if any(report.outputs for report in reports):
            self._used_at = monotonic()
        if reports:
            self.newest = reports[-1]
            self.reported.emit(reports)

    def _may_recover(self) -> bool:
        times = self._recovered_at
        return len(times) < MAX_RECOVERIES or monotonic() - times[0] > RECOVERY_WINDOW_S

    # Waiting requests

    def _serve(self, reason: FinishReason, notice: str) -> None:
        """Submits waiting requests to the active engine, else wakes a sleeping one, else ends them."""
        if self._threads.is_closing:
            return
        if self._active and self.model:
            self._open.ask(self._active, self.model)
            self._uses.hand_to(self._active)
        elif self.is_loading:
            return
        elif not self._asleep:
            self._turn_away(reason, notice)
        elif self._open or self._uses:
            self.wake()

    def _turn_away(self, reason: FinishReason, notice: str) -> None:
        self._open.end_waiting(reason, notice)
        self._uses.fail(notice)

    def renew(self, params: LoadParams | None) -> None:
        """How to load it, unless that was done."""
        if self._asleep and not self.is_loading:
            self._asleep = params

    def wake(self) -> None:
        """Loads it, if it is asleep."""
        if self._asleep is None or self.is_loading:
            return
        if self._others:
            self._others.load_in_turn(self, self._asleep)
        else:
            self.load(self._asleep)

    def _set_aside(self, params: LoadParams) -> None:
        """The model is asleep with `params` as long as nothing else is loaded."""
        self._retire()
        self._asleep = params

    def _emit_slept_if_asleep(self) -> None:
        """It may have been set aside for a load that then failed."""
        if self._asleep and not self.is_loading:
            self.slept.emit()

    def _retire(self) -> None:
        """The engine may still report on what it has not finished; the rest waits for the next engine."""
        if self._active:
            self._deliver(self._active)
            self._active.stop()
            self._active = self.newest = None

    def _give_up(self, each: OpenRequest) -> None:
        """The active engine reports the ends of its own requests."""
        if self._active and each.engine is self._active:
            each.is_aborted = True
        else:
            self._open.end(each, FinishReason.ABORT)


@dataclass(slots=True)
class EngineSettings:
    """Settings that are applied to every new engine.

    A pinned chat and an open cell map belong to a chat and a panel, so they outlive a model. A pause belongs
    to the next batch: a new model that began paused would seem to hang.
    """

    front_chat_id: str | None = None
    speed: Speed = Speed.RESPONSIVE
    cell_store: CellStore | None = None
    pinned_chat_ids: set[str] = field(default_factory=set)
    is_watching_cells: bool = False

    def note(self, command: Command) -> None:
        match command:
            case SetFront(chat_id):
                self.front_chat_id = chat_id
            case SetSpeed(speed):
                self.speed = speed
            case KeepCells(store):
                self.cell_store = store
            case Forget(chat_id):
                self.pinned_chat_ids.discard(chat_id)
            case Pin(chat_id, True):
                self.pinned_chat_ids.add(chat_id)
            case Pin(chat_id, False):
                self.pinned_chat_ids.discard(chat_id)
            case WatchCells(is_watching):
                self.is_watching_cells = is_watching

    def post_to(self, engine: EngineThread) -> None:
        engine.post(SetSpeed(self.speed))
        engine.post(KeepCells(self.cell_store))
        engine.post(SetFront(self.front_chat_id))
        for chat_id in self.pinned_chat_ids:
            engine.post(Pin(chat_id))
        if self.is_watching_cells:
            engine.post(WatchCells())


class PromptUses:
    """Calls on the tokenizer that wait until an engine is loaded. They complete on any thread."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[PromptBuilder], Any], Future[Any]]] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        future: Future[T] = Future()
        self._waiting.append((work, future))
        return future

    def hand_to(self, engine: EngineThread) -> None:
        waiting, self._waiting = self._waiting, []
        for work, future in waiting:
            pass_on(engine.use_prompts(work), future)

    def fail(self, message: str) -> None:
        waiting, self._waiting = self._waiting, []
        for _, future in waiting:
            if future.set_running_or_notify_cancel():
                future.set_exception(EngineError(message))


def pass_on(source: Future[T], target: Future[T]) -> None:
    """Copies the outcome of `source` to `target`, on the thread that completes it."""
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
