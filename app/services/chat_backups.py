"""Schedules backups of the chats, and restores one. GUI thread.

Half an hour after something changed, and at the start if the last one is older than a day.
"""

import logging
from datetime import timedelta
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.storage.backups import Backup
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError

PERIOD = timedelta(minutes=30)
MAX_AGE_AT_START = timedelta(days=1)

log = logging.getLogger(__name__)


class ChatBackups(QObject):
    listed = Signal(object)  # all Backups, newest first
    made = Signal(object)  # Backup, that the user has asked for
    failed = Signal(object)  # one sentence; for automatic ones, once until one succeeds
    restored = Signal()  # memory does not match the database any more: Skein has to restart

    def __init__(self, store: ChatStore, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._workspace = workspace
        self._is_failing = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timeout)

    @property
    def folder(self) -> Path:
        return self._store.backups_dir

    def start(self) -> None:
        """To be called once the chats are loaded."""
        self._timer.start(PERIOD // timedelta(milliseconds=1))
        spawn(self._make_if_due(MAX_AGE_AT_START))

    def refresh(self) -> None:
        """`listed` follows."""
        spawn(self._list())

    def make(self) -> None:
        """`made` or `failed` follows."""
        spawn(self._make())

    def restore(self, backup: Backup) -> None:
        """`restored` or `failed` follows. The present chats are kept as another backup."""
        spawn(self._restore(backup))

    @Slot()
    def _on_timeout(self) -> None:
        spawn(self._make_if_due(PERIOD))

    async def _make_if_due(self, max_age: timedelta) -> None:
        try:
            backup = await self._store.back_up_if_due(max_age)
        except StorageError as error:
            log.warning("%s", error)
            if not self._is_failing:
                self._is_failing = True
                self.failed.emit(str(error))
            return
        self._is_failing = False
        if backup:
            log.info("Backed up as %s.", backup.path)
            await self._list()

    async def _list(self) -> None:
        self.listed.emit(await self._store.backups())

    async def _make(self) -> None:
        await self._workspace.autosave.flush()
        try:
            backup = await self._store.back_up()
        except StorageError as error:
            self.failed.emit(str(error))
            return
        self.made.emit(backup)
        await self._list()

    async def _restore(self, backup: Backup) -> None:
        """After the last save before it, nothing may be written to the restored database."""
        await self._workspace.stop_saving()
        try:
            await self._store.restore(backup)
        except StorageError as error:
            self._workspace.autosave.resume()
            self.failed.emit(str(error))
            return
        log.info("%s has been restored.", backup.path)
        self.restored.emit()
