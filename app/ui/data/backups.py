"""Backups in the window: the command, and the dialog that lists, creates and restores them. GUI thread."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QDateTime, QLocale, QObject, QSize, Slot
from PySide6.QtWidgets import QDialog, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from app.look.buttons import dialog_button
from app.look.figures import mebibytes
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.popups import come_up, resize_to_fit
from app.look.table import LEFT, RIGHT, cell, dress_table
from app.look.words import locale, mark, tr, tr_said
from app.services.chat_backups import ChatBackups
from app.storage.backups import Backup, BackupReason
from app.ui.base.actions import command
from app.ui.base.help_commands import open_folder
from app.ui.base.notices import Notices


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
            self._dialog = BackupsDialog(self._backups, self._parent)
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


SIZE = QSize(640, 480)
ROW_HEIGHT = 28
_HEADS = (mark("Created"), mark("Reason"), mark("Size"))
_WHY = {
    BackupReason.REGULAR: mark("Automatic"),
    BackupReason.ASKED: mark("Manual"),
    BackupReason.UPDATE: mark("Before a database upgrade"),
    BackupReason.IMPORT: mark("Before an import"),
    BackupReason.RESTORE: mark("Before a restore"),
}
INTRO = mark(
    "Skein backs up all chats, with their pictures and sounds, half an hour after a change. After two days "
    "it keeps one backup a day, later one a week, then one a month; fewer once they take more than 4 GB."
)
NONE_YET = mark("No backups yet. The first is made once there are chats to back up.")
ARE_YOU_SURE = mark(
    "All chats return to this state, and Skein restarts. The current state is backed up first."
)


class BackupsDialog(QDialog):
    def __init__(self, service: ChatBackups, parent: QWidget) -> None:
        super().__init__(parent)
        self._service = service
        self._backups: tuple[Backup, ...] = ()
        self._asks = False  # whether it asks to confirm the restore
        intro = PlainLabel(tr(INTRO), self, tone="muted", wraps=True)
        self.table = self._table()
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.make_button = dialog_button(tr("&Back up now"), self._on_make, self)
        self.folder_button = dialog_button(tr("Open &folder"), lambda: open_folder(service.folder), self)
        self.restore_button = dialog_button(tr("&Restore…"), self._on_restore, self)
        self.cancel_button = dialog_button(tr("Cancel"), self._stop_asking, self)
        self.close_button = dialog_button(tr("Close"), self.close, self)
        self.setWindowTitle(tr("Backups"))
        resize_to_fit(self, SIZE)
        self._lay_out(intro)
        self.table.itemSelectionChanged.connect(self._stop_asking)
        self.finished.connect(self._stop_asking)
        service.listed.connect(self.apply)
        self.apply(())

    @property
    def chosen(self) -> Backup | None:
        rows = self.table.selectionModel().selectedRows()
        return self._backups[rows[0].row()] if rows else None

    @Slot(object)
    def apply(self, backups: Sequence[Backup]) -> None:
        """All there are, newest first. The chosen one stays chosen."""
        chosen, asked = self.chosen, self._asks
        self._backups = tuple(backups)
        self.table.setRowCount(len(backups))
        for row, backup in enumerate(backups):
            for column, item in enumerate(_items(backup)):
                self.table.setItem(row, column, item)
        if chosen in self._backups:
            self.table.selectRow(self._backups.index(chosen))
        else:
            self.table.clearSelection()
        if not backups:
            self.note.setText(tr(NONE_YET))
        elif self.note.text() == tr(NONE_YET):
            self.note.clear()
        if asked and chosen in self._backups:
            self._ask()
        self._show_buttons()

    def show_note(self, text: str, tone: str = "muted") -> None:
        """The result of the last request. The next one is possible now."""
        self._stop_asking()
        self.note.setText(text)
        self.note.set_tone(tone)
        self.make_button.setEnabled(True)

    def _on_make(self) -> None:
        self.make_button.setEnabled(False)
        self._service.make()

    def _on_restore(self) -> None:
        if not self._asks:
            self._ask()
        elif self.chosen:
            chosen = self.chosen
            self.show_note(tr("Restoring…"))
            self.restore_button.setEnabled(False)
            self._service.restore(chosen)

    def _ask(self) -> None:
        self._asks = True
        self.note.setText(tr(ARE_YOU_SURE))
        self.note.set_tone("")
        self._show_buttons()
        self.cancel_button.setFocus()

    @Slot()
    def _stop_asking(self) -> None:
        if self._asks:
            self._asks = False
            self.note.clear()
            self.note.set_tone("muted")
        self._show_buttons()

    def _show_buttons(self) -> None:
        self.restore_button.setText(tr("Restore and restart") if self._asks else tr("&Restore…"))
        self.restore_button.setEnabled(self.chosen is not None)
        self.cancel_button.setVisible(self._asks)
        self.close_button.setVisible(not self._asks)

    def _table(self) -> QTableWidget:
        table = QTableWidget(0, len(_HEADS), self)
        for column, head in enumerate(_HEADS):
            table.setHorizontalHeaderItem(column, cell(tr(head), RIGHT if column == 2 else LEFT))
        dress_table(table, tr("Backups"), ROW_HEIGHT)
        header = table.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        return table

    def _lay_out(self, intro: PlainLabel) -> None:
        vbox(
            intro,
            (self.table, 1),
            self.note,
            hbox(
                self.make_button,
                self.folder_button,
                STRETCH,
                self.restore_button,
                self.cancel_button,
                self.close_button,
            ),
            on=self,
            margins=(24, 16, 24, 16),
            spacing=16,
        )


def _items(backup: Backup) -> tuple[QTableWidgetItem, ...]:
    return (
        cell(when(backup.made_at)),
        cell(tr(_WHY[backup.reason])),
        cell(mebibytes(backup.size_bytes), RIGHT),
    )


def when(moment: datetime) -> str:
    """In the user's time zone and language."""
    local = QDateTime.fromSecsSinceEpoch(int(moment.timestamp()))
    return locale().toString(local, QLocale.FormatType.ShortFormat)
