"""Decides when what changed is written, and goes on trying when it cannot be. GUI thread.

At most one write is under way; what changes meanwhile goes into the next.
"""

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.chat_session import ChatSession
from app.bridge.tasks import spawn
from app.storage.chat_store import ChatChange, ChatStore, Tabs
from app.storage.errors import StorageError

SAVE_INTERVAL_MS = 500
RETRY_INTERVAL_MS = 5_000


class Autosave(QObject):
    failed = Signal(str)  # one sentence; once, until a write succeeds again

    def __init__(self, store: ChatStore, tabs: Callable[[], Tabs], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._tabs = tabs
        self._tabs_changed = False
        self._changed: dict[str, ChatSession] = {}  # by chat id
        self._num_kept_turns: dict[str, int] = {}  # by chat id: the turns before are as they are on disk
        self._is_failing = False
        self._writing = asyncio.Lock()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.save_now)

    def is_on_disk(self, session: ChatSession) -> None:
        """It was just loaded."""
        self._num_kept_turns[session.chat.id] = len(session.chat.turns)

    def touch(self, session: ChatSession) -> None:
        """Something of it changed that can wait a moment."""
        self._changed[session.chat.id] = session
        self._start_timer(SAVE_INTERVAL_MS)

    def touch_tabs(self) -> None:
        self._tabs_changed = True
        self._start_timer(SAVE_INTERVAL_MS)

    @Slot()
    def save_now(self) -> None:
        spawn(self.flush())

    async def flush(self) -> None:
        """Returns when all that has changed is on disk, or `failed` has told that it is not."""
        async with self._writing:
            self._timer.stop()
            changed, self._changed = self._changed, {}
            with_tabs, self._tabs_changed = self._tabs_changed, False
            if not changed and not with_tabs:
                return
            try:
                await self._write(changed, self._tabs() if with_tabs else None)
                self._is_failing = False
            except StorageError as error:
                self._changed = changed | self._changed
                self._tabs_changed |= with_tabs
                self._on_failed(str(error))

    async def _write(self, changed: dict[str, ChatSession], tabs: Tabs | None) -> None:
        num_final_turns = {
            chat_id: len(session.chat.turns) - int(session.is_busy) for chat_id, session in changed.items()
        }
        # An answer that found no room is written again when it is asked for again.
        first_turns = {
            chat_id: min(self._num_kept_turns.get(chat_id, 0), num_final)
            for chat_id, num_final in num_final_turns.items()
        }
        changes = [
            ChatChange.of(session.chat, session.draft, first_turns[chat_id])
            for chat_id, session in changed.items()
        ]
        await self._store.save(changes, tabs)
        self._num_kept_turns |= num_final_turns

    def _on_failed(self, message: str) -> None:
        self._timer.start(RETRY_INTERVAL_MS)
        if not self._is_failing:
            self._is_failing = True
            self.failed.emit(message)

    def _start_timer(self, interval_ms: int) -> None:
        if not self._timer.isActive():
            self._timer.start(interval_ms)
