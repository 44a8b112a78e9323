"""All engines of the window: one for each model that a chat uses. GUI thread.

A chat names its model; one that names none has `default`. The rest of the window sees one engine at a time,
that of the chat in front: what is asked of `Engines` without a chat is asked of that one, and `loaded` says
that another model is in front, too. One model is loaded at a time. Where memory does not suffice for all,
the one that was unused longest goes to sleep; one that no chat uses any more goes by itself.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.engine_thread import EngineThread
from app.bridge.engine_threads import StartThread
from app.bridge.model_engine import EngineSettings, ModelEngine
from app.chats.chat import Chat
from app.engine.turns import StepTurns
from app.protocol.commands import (
    Abort,
    AbortAll,
    Command,
    Forget,
    Fork,
    KeepCells,
    NoteTool,
    Pause,
    Pin,
    ReadAhead,
    Resume,
    SetFront,
    SetSpeed,
    Submit,
    WatchCells,
)
from app.protocol.load import LoadParams
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

T = TypeVar("T")

TIDY_MS = 2_000  # from the last change until engines that no chat uses go to sleep
FOR_ALL = (Abort, AbortAll, Forget, KeepCells, Pause, Pin, Resume, SetFront, SetSpeed, WatchCells)


class Engines(QObject):
    # Of the engine in front, or of one that was chosen to be.
    loading = Signal(object)  # Path
    load_progressed = Signal(float)  # 0..1
    loaded = Signal(object)  # ModelInfo: it is in front now
    slept = Signal()  # what is in front now has no context; the next request loads it
    load_failed = Signal(object, object)  # Path, message; the former model (if any) stays in front
    load_cancelled = Signal(object)  # Path; likewise
    engine_failed = Signal(object)  # message: the engine died; every open request has ended with ERROR
    recovering = Signal(object)  # message: the engine died and is loaded again, and its answers go on
    front_reported = Signal(object)  # tuple[StepReport, ...], coalesced
    # Of any engine.
    opened = Signal(object)  # ModelInfo: it was loaded, or was chosen while it is
    changed = Signal()  # which engines there are, or what they are at
    asked = Signal()  # for an answer, or to read ahead
    reported = Signal(object)  # tuple[StepReport, ...], coalesced
    ended = Signal(object)  # Output that is in no report
    reports_of = Signal(str, object)  # address, tuple[StepReport, ...]
    context_changed = Signal(str)  # address: it has a new context, or none
    chosen = Signal(object)  # list[Chat]: they have another model

    def __init__(self, parent: QObject | None = None, make_thread: StartThread | None = None) -> None:
        super().__init__(parent)
        self.default = ""  # address of the model of a chat that names none
        # How to load what is at an address. None: nothing is there, such as a server that was removed.
        self.params_of: Callable[[str], LoadParams | None] = lambda address: LoadParams(Path(address))
        self.pinned: Callable[[], Iterable[str]] = tuple  # addresses of models that stay loaded
        self.chats: Callable[[], Iterable[Chat]] = tuple  # that are open
        self.called: set[str] = set()  # addresses of models that callers have asked for, until they sleep
        self._turns = StepTurns()
        self._make_thread = make_thread or self._new_thread
        self._settings = EngineSettings()
        self._engines: dict[str, ModelEngine] = {}  # by address
        self._none = ModelEngine(self)  # in front while no model is
        self._none.ended.connect(self.ended)
        self._front_chat: Chat | None = None
        self._front = self._none
        self._choice = ""  # address of a model that is loaded for these chats
        self._formers: list[tuple[Chat, str]] = []  # and which models they had
        self._former_default = ""
        self._loads: deque[tuple[ModelEngine, LoadParams]] = deque()  # that wait for their turn
        self._tidying = QTimer(self, singleShot=True, interval=TIDY_MS)
        self._tidying.timeout.connect(self.tidy)

    # Which there are

    def __iter__(self) -> Iterator[ModelEngine]:
        return iter(tuple(self._engines.values()))

    def at(self, address: str) -> ModelEngine:
        """The engine of this model, which may be asleep. No model, no engine: one that refuses all."""
        if not address:
            return self._none
        if address not in self._engines:
            params = self.params_of(address)
            engine = ModelEngine(self, self._make_thread, self._settings, self, params)
            self._engines[address] = engine
            self._connect(address, engine)
            self.changed.emit()
        return self._engines[address]

    @property
    def of_callers(self) -> ModelEngine:
        """Of what is no chat here: the default one, else another that is loaded, never one elsewhere.

        Any thread.
        """
        here = [one for one in self if one.model and not one.model.server]
        loaded = [one for one in here if not one.is_asleep]
        default = self._engines.get(self.default, self._none)
        return default if default in here else (loaded or here or [self._none])[-1]

    @property
    def unpinned(self) -> list[ModelEngine]:
        """Those that may go to sleep by themselves."""
        pinned = set(self.pinned())
        return [engine for address, engine in self._engines.items() if address not in pinned]

    @property
    def newest_reports(self) -> dict[str, StepReport]:
        """Of each engine that has reported, by address."""
        return {address: one.newest for address, one in self._engines.items() if one.newest}

    def known(self, address: str) -> ModelEngine | None:
        """None: it is not loaded, and was not since the start, or was given up."""
        return self._engines.get(address)

    def address_of(self, chat: Chat) -> str:
        return chat.model_path or self.default

    def of_chat_id(self, chat_id: str) -> ModelEngine:
        """Ways and titles of a chat begin with its id. What is no open chat has the engine in front."""
        found = (chat for chat in self.chats() if chat_id.startswith(chat.id))
        chat = next(found, None)
        return self.at(self.address_of(chat)) if chat else self._front

    @property
    def front(self) -> ModelEngine:
        return self._front

    @property
    def front_address(self) -> str:
        return self.address_of(self._front_chat) if self._front_chat else self.default

    def show(self, chat: Chat | None) -> None:
        """This chat is in front."""
        self._front_chat = chat
        self.post(SetFront(chat.id if chat else None))
        self.note_chats()

    def note_chats(self) -> None:
        """Chats were opened or closed, or use other models."""
        if self._front_chat and self._front_chat.model_path:
            self.default = self._front_chat.model_path
        engine, former = self._engines.get(self.front_address, self._none), self._turns.front
        self._turns.front = self.front_address
        if engine is not self._front or former != self.front_address:
            self._front = engine
            self._emit_front()
        self._tidying.start()

    def _emit_front(self) -> None:
        if self.model and not self.is_asleep:
            self.loaded.emit(self.model)
        else:
            self.slept.emit()
        if path := self.loading_path:
            self.loading.emit(path)

    # The engine in front, as `ModelEngine` has it

    @property
    def model(self) -> ModelInfo | None:
        return self._front.model

    @property
    def is_asleep(self) -> bool:
        return self._front.is_asleep

    @property
    def loading_path(self) -> Path | None:
        """Of what is in front, or will be."""
        loading, is_chosen = self._front.loading_params, self._choice == self.front_address
        return loading.path if loading else Path(self._choice) if self._choice and is_chosen else None

    @property
    def is_loading(self) -> bool:
        return self.loading_path is not None

    @property
    def is_idle(self) -> bool:
        """No engine has anything to do, and the one in front is there."""
        return self._front.can_sleep and not any(one.has_open_requests or one.is_loading for one in self)

    @property
    def held_bytes(self) -> Mapping[str, int]:
        """What unloading all of them would free, by device name; "" is this machine."""
        return sum((Counter(one.held_bytes) for one in self), Counter())

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        return self._front.use_prompts(work)

    def post(self, command: Command, address: str = "") -> None:
        """To all; or to the engine at `address`, else to that of its chat, else to the one in front."""
        if isinstance(command, FOR_ALL):
            self._settings.note(command)  # there may be no engine yet
            for engine in (self._none, *self):
                engine.post(command)
            return
        match command:
            case _ if address:
                engine = self.at(address)
            case Submit(request) | ReadAhead(request):
                engine = self.of_chat_id(request.chat_id)
            case Fork(chat_id) | NoteTool(chat_id):
                engine = self.of_chat_id(chat_id)
            case _:
                engine = self._front
        engine.post(command)

    # Which model a chat has

    def load(self, params: LoadParams, chats: Sequence[Chat] | None = None) -> None:
        """Chosen for these chats, or for the one in front, which have it from now on.

        If it cannot be loaded, they have their former ones again. One that is loaded so is not loaded again,
        unless it is in front already.
        """
        address = params.address
        if self._choice not in ("", address):
            self._call_off(self._choice)
        engine, is_in_front = self.at(address), address == self.front_address
        is_there = engine.model and not engine.is_asleep and engine.params == params
        self._choose(address, chats)
        if is_there and (chats or not is_in_front):
            self._settle()
            self.opened.emit(engine.model)
        elif engine.loading_params != params:
            self.load_in_turn(engine, params)
        self.note_chats()

    def cancel_load(self) -> None:
        """What the chat in front waits for: its choice, or its own model."""
        if self._choice and self._choice == self.front_address:
            self._call_off(self._choice)
        else:
            self._front.cancel_load()

    def _choose(self, address: str, chats: Sequence[Chat] | None) -> None:
        if not self._choice:
            self._former_default = self.default
        self._choice = address
        changed = list(chats if chats is not None else filter(None, [self._front_chat]))
        for chat in changed:
            self._formers.append((chat, chat.model_path))
            chat.model_path = address
        if not self._front_chat or self._front_chat in changed:
            self.default = address
        self.chosen.emit(changed)

    def _settle(self) -> None:
        """What was chosen stays."""
        self._choice = ""
        self._former_default = ""
        self._formers.clear()

    def _take_back(self) -> None:
        """What was chosen cannot be loaded."""
        if self.default == self._choice and self._former_default:  # else nothing takes its place unasked
            self.default = self._former_default
        changed: list[Chat] = []
        for chat, former in reversed(self._formers):
            if chat.model_path == self._choice:
                chat.model_path = former
                changed.append(chat)
        self._settle()
        self.chosen.emit(changed)
        self.note_chats()

    def want(self, address: str) -> None:
        """Loads it, if it is not loaded. Nothing else changes."""
        engine = self.at(address)
        if address and engine.model is None:
            engine.renew(self.params_of(address))  # the settings may have changed since it was named
        engine.wake()
        self.note_chats()

    def _call_off(self, address: str) -> None:
        """`load_cancelled` follows, if it was being loaded."""
        engine = self._engines.get(address)
        self._loads = deque(one for one in self._loads if one[0] is not engine)
        if engine:
            engine.cancel_load()
        if address == self._choice:  # it was waiting for its turn
            self._take_back()

    # Loading, one after the other

    def load_in_turn(self, engine: ModelEngine, params: LoadParams) -> None:
        """A load of the same engine that is under way is replaced."""
        self._loads = deque(one for one in self._loads if one[0] is not engine)
        self._loads.append((engine, params))
        if engine.is_loading:
            self._loads.rotate(1)
            self._begin_load()
        else:
            self._load_next()

    @Slot()
    def _load_next(self) -> None:
        if self._loads and not any(one.is_loading for one in self):
            self._begin_load()
        self.changed.emit()

    def _begin_load(self) -> None:
        engine, params = self._loads.popleft()
        engine.load(params)

    @property
    def ending(self) -> set[EngineThread]:
        return {thread for one in self.findChildren(ModelEngine) for thread in one.ending}

    def make_room(self, engine: ModelEngine) -> EngineThread | None:
        return next((one.sleep() for one in self._idle_beside(engine)), None)

    def held_beside(self, engine: ModelEngine) -> Mapping[str, int]:
        others = (one for one in self.unpinned if one is not engine)
        return sum((Counter(one.held_bytes) for one in others), Counter())

    def _idle_beside(self, engine: ModelEngine) -> list[ModelEngine]:
        """Those unused longest first, of those that hold memory here."""
        idle = [one for one in self.unpinned if one.can_sleep and any(one.held_bytes.values())]
        idle = [one for one in idle if one is not engine]
        return sorted(idle, key=lambda one: one.idle_s, reverse=True)

    @Slot()
    def tidy(self) -> None:
        """What no chat uses goes to sleep, once it has nothing to do."""
        used = {self.default, self._former_default, *(former for _, former in self._formers)}
        used |= {*map(self.address_of, self.chats()), *self.pinned(), *self.called}
        for address, engine in tuple(self._engines.items()):
            if address not in used:
                engine.sleep()
                if engine.has_open_requests or engine.is_loading:
                    self._tidying.start()

    async def close(self) -> bool:
        """Stops every engine and returns when the last has ended. Never blocks the GUI's loop.

        False: one is still inside a native call that cannot be interrupted. It must not be deleted then.
        """
        self._loads.clear()
        self._tidying.stop()
        engines = self.findChildren(ModelEngine)  # also those that were given up, and may not have ended
        return all(await asyncio.gather(*(engine.close() for engine in engines)))

    # Their signals

    def _connect(self, address: str, engine: ModelEngine) -> None:
        for its, slot in (
            (engine.loading, self._on_loading),
            (engine.load_progressed, self._on_progressed),
            (engine.loaded, self._on_loaded),
            (engine.load_failed, self._on_load_failed),
            (engine.load_cancelled, self._on_load_cancelled),
            (engine.slept, self._on_slept),
            (engine.engine_failed, self._on_engine_failed),
            (engine.recovering, self._on_recovering),
            (engine.reported, self._on_reported),
        ):
            its.connect(partial(slot, address, engine))
        engine.asked.connect(self.asked)
        engine.ended.connect(self.ended)

    def _is_seen(self, address: str) -> bool:
        return address in (self._choice, self.front_address)

    def _on_loading(self, address: str, _engine: ModelEngine, path: Path) -> None:
        if address == self.front_address:
            self.note_chats()
            self.loading.emit(path)
        self.changed.emit()

    def _on_progressed(self, address: str, _engine: ModelEngine, fraction: float) -> None:
        if address == self.front_address:
            self.load_progressed.emit(fraction)

    def _on_loaded(self, address: str, engine: ModelEngine, model: ModelInfo) -> None:
        is_front = engine is self._front
        self.context_changed.emit(address)
        if address == self._choice:
            self._settle()
        self.opened.emit(model)
        if is_front:
            self.loaded.emit(model)
        self._tidying.start()
        self._load_next()

    def _on_load_failed(self, address: str, engine: ModelEngine, path: Path, message: str) -> None:
        is_seen = self._is_seen(address)
        if not engine.params:
            self._drop(address, engine)
        if address == self._choice:
            self._take_back()
        if is_seen:
            self.load_failed.emit(path, message)
        self._load_next()

    def _on_load_cancelled(self, address: str, _engine: ModelEngine, path: Path) -> None:
        is_seen = self._is_seen(address)
        if address == self._choice:
            self._take_back()
        if is_seen:
            self.load_cancelled.emit(path)
        self._load_next()

    def _on_slept(self, address: str, engine: ModelEngine) -> None:
        self.called.discard(address)
        self.context_changed.emit(address)
        if engine is self._front:
            self.slept.emit()
        self.changed.emit()

    def _on_engine_failed(self, address: str, engine: ModelEngine, message: str) -> None:
        is_front = engine is self._front
        self._drop(address, engine)
        if is_front:
            self.engine_failed.emit(message)
        self.changed.emit()

    def _on_recovering(self, _address: str, engine: ModelEngine, message: str) -> None:
        if engine is self._front:
            self.recovering.emit(message)

    def _on_reported(self, address: str, engine: ModelEngine, reports: tuple[StepReport, ...]) -> None:
        self.reported.emit(reports)
        self.reports_of.emit(address, reports)
        if engine is self._front:
            self.front_reported.emit(reports)
        if engine.can_sleep:
            self._give_room()

    def _give_room(self) -> None:
        for engine in self:
            engine.take_room()

    def _drop(self, address: str, engine: ModelEngine) -> None:
        """It failed: who asks for this model again gets another engine."""
        self._engines.pop(address, None)
        self._give_room()
        if self._front is engine:
            self._front = self._none

    def _new_thread(self, params: LoadParams, parent: QObject) -> EngineThread:
        return EngineThread(params, parent, turns=self._turns)


class ChatEngine:
    """The engine of one chat, whichever that is: its chat may get another model."""

    def __init__(self, engines: Engines, chat: Chat) -> None:
        self._engines, self._chat = engines, chat
        # A model was loaded, perhaps this one; or is in front.
        self.opened, self.loaded, self.engine_failed = engines.opened, engines.loaded, engines.engine_failed
        self.load_failed, self.load_cancelled = engines.load_failed, engines.load_cancelled

    @property
    def address(self) -> str:
        return self._engines.address_of(self._chat)

    @property
    def _known(self) -> ModelEngine | None:
        return self._engines.known(self.address)

    @property
    def model(self) -> ModelInfo | None:
        return self.model_at(self.address)

    def model_at(self, address: str) -> ModelInfo | None:
        """None: it was not loaded yet."""
        engine = self._engines.known(address)
        return engine.model if engine else None

    @property
    def is_asleep(self) -> bool:
        return self._known is None or self._known.is_asleep

    @property
    def takes_requests(self) -> bool:
        return self._known is not None and self._known.takes_requests

    def want(self) -> None:
        """Has the model loaded."""
        self._engines.want(self.address)

    def post(self, command: Command, address: str = "") -> None:
        """To another engine, if an address is given."""
        self._engines.post(command, address or self.address)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        return self._engines.at(self.address).use_prompts(work)
