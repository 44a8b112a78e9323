"""Backups in the window: the command, its dialog, and the requests of both. GUI thread."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from app.look.windows import come_up
from app.look.words import tr, tr_said
from app.services.chat_backups import ChatBackups
from app.storage.backups import Backup
from app.ui.base.actions import command
from app.ui.base.help_commands import open_folder
from app.ui.base.notices import Notices
from app.ui.data.backups import BackupsDialog, when


class BackupsMenu(QObject):
    def __init__(self, backups: ChatBackups, notices: Notices, parent: QWidget) -> None:
        super().__init__(parent)
        self._backups = backups
        self._notices = notices
        self._parent = parent
        self._dialog: BackupsDialog | None = None
        self.open = command(parent, "tools.backups", self.show_dialog)
        backups.made.connect(self._on_made)
        backups.failed.connect(self._on_failed)

    @property
    def dialog(self) -> BackupsDialog:
        """Created on first use."""
        if self._dialog is None:
            self._dialog = BackupsDialog(self._parent)
            self._dialog.make_requested.connect(self._backups.make)
            self._dialog.restore_requested.connect(self._backups.restore)
            self._dialog.folder_requested.connect(lambda: open_folder(self._backups.folder))
            self._backups.listed.connect(self._dialog.apply)
        return self._dialog

    def show_dialog(self) -> None:
        self._backups.refresh()
        come_up(self.dialog)

    @Slot(object)
    def _on_made(self, backup: Backup) -> None:
        self.dialog.show_note(tr("Backup created at {time}.", time=when(backup.made_at)))

    @Slot(object)
    def _on_failed(self, message: str) -> None:
        if self._dialog and self._dialog.isVisible():
            self._dialog.show_note(tr_said(message), "danger")
        else:
            self._notices.show_error(tr_said(message))
