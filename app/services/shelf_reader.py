"""Has the engine compute what chats with a shelf begin with, while nothing else is to be done. GUI thread.

It is broken off by whatever else is asked, and goes on later from where it was.
"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from time import monotonic

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.ahead_reader import is_on_mains
from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.protocol.commands import ReadAhead
from app.protocol.errors import EngineError, RequestError
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.services.shelves import ShelfService, ShelfState
from app.settings.settings import Settings

LOOK_EVERY_MS = 1000
MAX_WAIT_S = 300.0  # after attempts in vain, such as beside chats that leave no room: each builds the prompt


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a shelf is computed: of `num_tokens`, `num_held` are in cells, or saved."""

    num_tokens: int = 0
    num_held: int = 0
    is_saved: bool = False  # it needs no cells now: its state is in memory or on disk

    @property
    def is_whole(self) -> bool:
        return 0 < self.num_tokens <= self.num_held + 1  # the last token of a prompt is computed with it


class ShelfReader(QObject):
    changed = Signal()

    def __init__(
        self,
        engine: Engines,
        workspace: Workspace,
        shelves: ShelfService,
        settings: Settings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._workspace = workspace
        self._shelves = shelves
        self._settings = settings
        self._readings: dict[str, Reading] = {}  # by shelf id
        self._measured: dict[str, tuple[object, str]] = {}  # by shelf id: the model and the text
        self._done: set[tuple[object, str]] = set()  # models and texts: what is lost later is not read again
        self._waits: dict[str, tuple[float, float]] = {}  # by shelf id: until when, and how long
        self._is_at_work = False  # the engine computes something
        self._is_asking = False
        self._timer = QTimer(self, interval=LOOK_EVERY_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()
        engine.front_reported.connect(self._on_reported)
        engine.loaded.connect(self._on_loaded)

    def reading(self, shelf_id: str) -> Reading:
        return self._readings.get(shelf_id, Reading())

    @Slot()
    def _look(self) -> None:
        busy = any(one.is_busy for one in self._workspace.sessions)
        is_free = self._engine.is_idle and not (busy or self._is_at_work or self._is_asking)
        if is_free and self._settings.reads_ahead and is_on_mains() and (state := self._next()):
            self._is_asking = True
            spawn(self._ask_for(state))

    def _next(self) -> ShelfState | None:
        """The next shelf to read: those of open chats come first. None: all are read, or do not fit."""
        used = {session.chat.shelf_id for session in self._workspace.sessions}
        due = [state for state in self._shelves.states if self._is_due(state)]
        return min(due, key=lambda state: state.shelf.id not in used, default=None)

    def _is_due(self, state: ShelfState) -> bool:
        text, model = self._text_of(state), self._engine.model
        if not text or state.num_waiting or (model, text) in self._done:
            return False
        if monotonic() < self._waits.get(state.shelf.id, (0.0, 0.0))[0]:
            return False
        is_measured = self._measured.get(state.shelf.id) == (model, text)
        return not (is_measured and self.reading(state.shelf.id).is_whole)

    def _text_of(self, state: ShelfState) -> str:
        """Empty if it does not stand before chats, that is not known, or the model is on another machine."""
        model, shelf_id = self._engine.model, state.shelf.id
        if model is None or model.server or not self._shelves.is_ready(shelf_id):
            return ""
        room = model.max_sequence_tokens
        return self._shelves.text_before(shelf_id, room) if self._shelves.is_whole(shelf_id, room) else ""

    async def _ask_for(self, state: ShelfState) -> None:
        try:
            await self._measure_and_post(state)
        except (EngineError, RequestError):  # it is told where a chat is sent
            self._done.add((self._engine.model, self._text_of(state)))
        finally:
            self._is_asking = False

    async def _measure_and_post(self, state: ShelfState) -> None:
        shelf, text, model = state.shelf, self._text_of(state), self._engine.model
        request = beginning(shelf.chat_id, text)
        if self._measured.get(shelf.id) != (model, text):
            front = self._engine.front
            measured = front.use_prompts(lambda prompts: len(prompts.build_ahead(request).token_ids))
            num_tokens = await asyncio.wrap_future(measured)
            self._measured[shelf.id] = model, text
            self._readings[shelf.id] = Reading(num_tokens)
            self.changed.emit()
        if self._engine.is_idle and self._text_of(state) == text:
            wait_s = min(2 * self._waits.get(shelf.id, (0.0, 1.0))[1], MAX_WAIT_S)
            self._waits[shelf.id] = monotonic() + wait_s, wait_s
            self._engine.post(ReadAhead(request))

    @Slot(object)
    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        if not reports:
            return
        last = reports[-1]
        self._is_at_work = any(slot.request_id for slot in last.slots) or bool(last.waiting)
        held = {slot.chat_id: slot.num_cells for slot in last.slots if slot.chat_id}
        saved = {one.chat_id: one.num_tokens for one in last.hibernated}
        for state in self._shelves.states:
            chat_id, shelf_id, before = state.shelf.chat_id, state.shelf.id, self.reading(state.shelf.id)
            num_held = held.get(chat_id, saved.get(chat_id, 0))
            now = Reading(before.num_tokens, num_held, chat_id in saved)
            if now.num_held > before.num_held:
                self._waits.pop(shelf_id, None)
            if now != before:
                self._readings[shelf_id] = now
                self.changed.emit()
            if now.is_whole and (measured := self._measured.get(shelf_id)):
                self._done.add(measured)

    @Slot(object)
    def _on_loaded(self) -> None:
        self._readings.clear()
        self._measured.clear()
        self._waits.clear()
        self._is_at_work = False
        self.changed.emit()


def beginning(chat_id: str, text: str) -> Request:
    """A request for the cells of `text`, with which the prompts of all chats with the shelf begin."""
    messages = (Message(Role.SYSTEM, text), Message(Role.USER, ""))
    request_id = uuid.uuid4().hex
    return Request(request_id, chat_id, messages, max_tokens=0, is_saved=True, begins_as=chat_id)
