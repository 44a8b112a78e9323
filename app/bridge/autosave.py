"""Schedules the saving of changes, and retries when saving fails. GUI thread.

At most one write is under way; what changes meanwhile goes into the next. Only the new words of answers are
written beside it, by `GrowingAnswers`.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.bridge.chat_session import ChatSession
from app.bridge.drafts import Field
from app.bridge.tasks import spawn
from app.chats.chat import Turn
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.storage.list_rows import Tabs

SAVE_INTERVAL_MS = 250
RETRY_INTERVAL_MS = 5_000

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Unsaved:
    """The unsaved changes of one chat: turns that changed, and turns that were removed."""

    session: ChatSession
    is_chat_itself: bool = False  # its title, draft, settings or path, not only its turns
    turns: dict[str, Turn] = field(default_factory=dict)  # by id
    removed: set[str] = field(default_factory=set)

    def change(self) -> ChatChange:
        session = self.session
        if not self.is_chat_itself:
            return ChatChange.of_turns(session.chat, self.turns.values())
        return ChatChange.of(
            session.chat,
            session.draft,
            session.draft_attachments,
            self.turns.values(),
            self.removed,
            session.leaf_id,
            is_kept=not session.is_blank,
        )

    def add(self, turns: Iterable[Turn], removed: Iterable[str]) -> None:
        for turn in turns:
            self.turns[turn.id] = turn
            self.removed.discard(turn.id)
        for turn_id in removed:
            self.turns.pop(turn_id, None)
            self.removed.add(turn_id)


class Autosave(QObject):
    failed = Signal(object)  # one sentence; once, until a write succeeds again
    saved = Signal()  # something was written
    recovered = Signal()  # after `failed`: all is on disk again
    _answers_failed = Signal(object)  # from the thread that writes them: why

    def __init__(
        self, store: ChatStore, tabs: Callable[[], Tabs | None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._tabs = tabs
        self._tabs_changed = False
        self._unsaved: dict[str, _Unsaved] = {}  # by chat id
        self._drafts: dict[Field, str] = {}  # that have changed
        self.why_not = ""  # the message of `failed`, until a write succeeds
        self._is_stopped = False
        self._writing = asyncio.Lock()
        self._growing = GrowingAnswers(store.write_answers, self._answers_failed.emit)
        self._answers_failed.connect(self._on_answers_failed, Qt.ConnectionType.QueuedConnection)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.save_now)

    def touch(self, session: ChatSession, turns: Iterable[Turn] = (), removed: Iterable[str] = ()) -> None:
        """The chat and these of its turns changed. They are saved after a moment."""
        unsaved = self._unsaved_of(session)
        unsaved.is_chat_itself = True
        unsaved.add(turns, removed)
        self._start_timer(SAVE_INTERVAL_MS)

    def touch_answer(self, session: ChatSession, answer: Turn) -> None:
        """It has grown or ended. Its chat need not be written again, with a draft that may be large."""
        self._unsaved_of(session).add((answer,), ())  # in the next write, too: this one may fail
        if not self.why_not and not self._is_stopped:
            self._growing.put(answer)

    def _unsaved_of(self, session: ChatSession) -> _Unsaved:
        unsaved = self._unsaved.setdefault(session.chat.id, _Unsaved(session))
        unsaved.session = session  # a chat that was closed and opened again has another
        return unsaved

    def touch_tabs(self) -> None:
        self._tabs_changed = True
        self._start_timer(SAVE_INTERVAL_MS)

    def touch_draft(self, field: Field, text: str) -> None:
        """What stands in a text field; empty: nothing is to be kept of it."""
        self._drafts[field] = text
        self._start_timer(SAVE_INTERVAL_MS)

    @Slot()
    def save_now(self) -> None:
        spawn(self.flush())

    async def flush(self) -> None:
        """Returns when all changes are on disk, or `failed` was emitted."""
        async with self._writing:
            self._timer.stop()
            if self._is_stopped:
                return
            unsaved, with_tabs, drafts = self._take()
            if not unsaved and not with_tabs and not drafts:
                return
            try:
                changes = [each.change() for each in unsaved.values()]
                await self._store.save(changes, self._tabs() if with_tabs else None, drafts)
            except StorageError as error:
                self._keep_for_later(unsaved, with_tabs, drafts)
                self._on_failed(str(error))
            else:
                self.saved.emit()
                self._on_saved()

    def save_and_wait(self) -> None:
        """As `flush`, but blocking, for when the event loop may not run again. Waits for a running write."""
        if self._is_stopped:
            return
        unsaved, with_tabs, drafts = self._take()
        changes = [each.change() for each in unsaved.values()]
        try:
            self._store.save_and_wait(changes, self._tabs() if with_tabs else None, drafts)
        except (StorageError, TimeoutError):
            log.warning("Not all could be saved at once.", exc_info=True)
            self._keep_for_later(unsaved, with_tabs, drafts)  # there may be a later

    async def stop(self) -> None:
        """Writes for the last time."""
        await self.flush()
        self._is_stopped = True

    def resume(self) -> None:
        self._is_stopped = False
        self.save_now()

    def _take(self) -> tuple[dict[str, _Unsaved], bool, dict[Field, str]]:
        """What is to be written, and whether the tabs are."""
        unsaved, self._unsaved = self._unsaved, {}
        with_tabs, self._tabs_changed = self._tabs_changed, False
        drafts, self._drafts = self._drafts, {}
        return unsaved, with_tabs, drafts

    def _keep_for_later(
        self, unsaved: dict[str, _Unsaved], with_tabs: bool, drafts: dict[Field, str]
    ) -> None:
        """What changed during the write that failed is newer."""
        self._tabs_changed |= with_tabs
        self._drafts = {**drafts, **self._drafts}
        for chat_id, older in unsaved.items():
            if newer := self._unsaved.get(chat_id):
                older.add(newer.turns.values(), newer.removed)
                older.is_chat_itself |= newer.is_chat_itself
                older.session = newer.session
            self._unsaved[chat_id] = older

    @Slot(object)
    def _on_answers_failed(self, message: str) -> None:
        if not self.why_not:
            self._on_failed(message)

    def _on_failed(self, message: str) -> None:
        self._timer.start(RETRY_INTERVAL_MS)
        if not self.why_not:
            self.failed.emit(message)
        self.why_not = message

    def _on_saved(self) -> None:
        if self.why_not:
            self.why_not = ""
            self.recovered.emit()

    def _start_timer(self, interval_ms: int) -> None:
        if not self._timer.isActive():
            self._timer.start(interval_ms)


SAVE_WITHIN_S = 0.25  # after they have come, words are on disk, unless the disk takes longer than that


class GrowingAnswers:
    """Saves answers while they grow, by a clock of its own: the GUI's loop may be held up.

    `put` on the GUI thread; another one writes, which is there while words wait.
    """

    def __init__(self, write: Callable[[list[Turn]], object], on_failed: Callable[[str], object]) -> None:
        """`write` returns when all is on disk, or raises StorageError; `on_failed` is called with its words.

        Both on any thread.
        """
        self._write = write
        self._on_failed = on_failed
        self._lock = threading.Lock()  # not a queue: of an answer only the newest state counts
        self._unsaved: dict[str, Turn] = {}  # copies, by id
        self._since = 0.0  # when the oldest of their words came
        self._write_s = 0.0  # the last write took
        self._timer: threading.Timer | None = None  # None: nothing waits, and nothing is being written

    def put(self, answer: Turn) -> None:
        """It has more text, or has ended."""
        copy = answer.copied()
        with self._lock:
            if not self._unsaved:
                self._since = monotonic()
            self._unsaved[copy.id] = copy
            if self._timer is None:
                self._start_timer()

    def _start_timer(self) -> None:
        begin = self._since + SAVE_WITHIN_S - self._write_s
        self._timer = threading.Timer(max(0.0, begin - monotonic()), self._save)
        self._timer.daemon = True
        self._timer.start()

    def _save(self) -> None:
        """The timer's thread. Words that come meanwhile are in the next write."""
        with self._lock:
            answers, self._unsaved = list(self._unsaved.values()), {}
        begun = monotonic()
        try:
            self._write(answers)
        except StorageError as error:
            self._on_failed(str(error))
        finally:
            self._write_s = monotonic() - begun
            with self._lock:
                self._timer = None
                if self._unsaved:
                    self._start_timer()
