"""Has the engine compute what chats with a shelf or in a project begin with, while it is idle. GUI thread.

It is broken off by whatever else is asked, and goes on later from where it was.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from time import monotonic

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.ahead_reader import is_on_mains
from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.protocol.commands import ReadAhead
from app.protocol.errors import EngineError, RequestError
from app.protocol.report import StepReport
from app.protocol.request import BEGINNINGS, Message, Request, Role
from app.settings.settings import Settings

LOOK_EVERY_MS = 1000
# Of shelves or projects: the ids of their own sequences, and what chats of at most so many tokens begin with.
Beginnings = Callable[[int], Iterable[tuple[str, str]]]
MAX_WAIT_S = 300.0  # after attempts in vain, such as beside chats that leave no room: each builds the prompt


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a beginning is computed: of `num_tokens`, `num_held` are in cells, or saved."""

    num_tokens: int = 0
    num_held: int = 0
    is_saved: bool = False  # it needs no cells now: its state is in memory or on disk

    @property
    def is_whole(self) -> bool:
        return 0 < self.num_tokens <= self.num_held + 1  # the last token of a prompt is computed with it


class BeginningReader(QObject):
    changed = Signal()

    def __init__(
        self,
        engine: Engines,
        workspace: Workspace,
        sources: Iterable[Beginnings],
        settings: Settings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._workspace = workspace
        self._sources = tuple(sources)
        self._settings = settings
        self._readings: dict[str, Reading] = {}  # by chat id
        self._measured: dict[str, tuple[object, str]] = {}  # by chat id: the model and the text
        self._done: set[tuple[object, int]] = set()  # models, hashes of texts: what is lost is not read again
        self._waits: dict[str, tuple[float, float]] = {}  # by chat id: until when, and how long
        self._is_at_work = False  # the engine computes something
        self._is_asking = False
        self._timer = QTimer(self, interval=LOOK_EVERY_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()
        engine.front_reported.connect(self._on_reported)
        engine.loaded.connect(self._on_loaded)

    def reading(self, chat_id: str) -> Reading:
        """Of the sequence of a shelf or a project."""
        return self._readings.get(chat_id, Reading())

    @Slot()
    def _look(self) -> None:
        busy = any(one.is_busy for one in self._workspace.sessions)
        is_free = self._engine.is_idle and not (busy or self._is_at_work or self._is_asking)
        if is_free and self._settings.reads_ahead and is_on_mains() and (due := self._next()):
            self._is_asking = True
            spawn(self._ask_for(*due))

    def _texts(self) -> dict[str, str]:
        """By chat id. None if the model is on another machine."""
        model = self._engine.model
        if model is None or model.server:
            return {}
        found = chain.from_iterable(source(model.max_sequence_tokens) for source in self._sources)
        return {chat_id: text for chat_id, text in found if text}

    def _next(self) -> tuple[str, str] | None:
        """The next id and text: those of open chats come first. None: all are read, or do not fit."""
        used = {session.shelf.begins_as for session in self._workspace.sessions}
        due = [one for one in self._texts().items() if self._is_due(*one)]
        return min(due, key=lambda one: one[0] not in used, default=None)

    def _is_due(self, chat_id: str, text: str) -> bool:
        model = self._engine.model
        if (model, hash(text)) in self._done or monotonic() < self._waits.get(chat_id, (0.0, 0.0))[0]:
            return False
        is_measured = self._measured.get(chat_id) == (model, text)
        return not (is_measured and self.reading(chat_id).is_whole)

    async def _ask_for(self, chat_id: str, text: str) -> None:
        try:
            await self._measure_and_post(chat_id, text)
        except (EngineError, RequestError):  # it is told where a chat is sent
            self._done.add((self._engine.model, hash(text)))
        finally:
            self._is_asking = False

    async def _measure_and_post(self, chat_id: str, text: str) -> None:
        request, model = beginning(chat_id, text), self._engine.model
        if self._measured.get(chat_id) != (model, text):
            front = self._engine.front
            measured = front.use_prompts(lambda prompts: len(prompts.build_ahead(request).token_ids))
            num_tokens = await asyncio.wrap_future(measured)
            self._measured[chat_id] = model, text
            self._readings[chat_id] = Reading(num_tokens)
            self.changed.emit()
        if self._engine.is_idle and self._texts().get(chat_id) == text:
            wait_s = min(2 * self._waits.get(chat_id, (0.0, 1.0))[1], MAX_WAIT_S)
            self._waits[chat_id] = monotonic() + wait_s, wait_s
            self._engine.post(ReadAhead(request))

    @Slot(object)
    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        if not reports:
            return
        last = reports[-1]
        self._is_at_work = any(slot.request_id for slot in last.slots) or bool(last.waiting)
        saved = {one.chat_id: one.num_tokens for one in last.hibernated}
        held = saved | {slot.chat_id: slot.num_cells for slot in last.slots if slot.chat_id}
        known = {chat_id for chat_id in held if chat_id.startswith(BEGINNINGS)}
        for chat_id in known | self._readings.keys():
            before, num_held = self.reading(chat_id), held.get(chat_id, 0)
            is_former = num_held > before.num_tokens  # of a text that was longer
            now = Reading(before.num_tokens, 0 if is_former else num_held, chat_id in saved)
            if now.num_held > before.num_held:
                self._waits.pop(chat_id, None)
            if now != before:
                self._readings[chat_id] = now
                self.changed.emit()
            if now.is_whole and (measured := self._measured.get(chat_id)):
                self._done.add((measured[0], hash(measured[1])))

    @Slot(object)
    def _on_loaded(self) -> None:
        self._readings.clear()
        self._measured.clear()
        self._waits.clear()
        self._is_at_work = False
        self.changed.emit()


def beginning(chat_id: str, text: str) -> Request:
    """A request for the cells of `text`, with which all chats with the shelf, or in the project, begin."""
    messages = (Message(Role.SYSTEM, text), Message(Role.USER, ""))
    request_id = uuid.uuid4().hex
    return Request(request_id, chat_id, messages, max_tokens=0, is_saved=True, begins_as=chat_id)
