"""The trash: deleted chats, to be restored or deleted for good. GUI thread."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QDialog, QListWidget, QListWidgetItem, QWidget

from app.look.buttons import dialog_button
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.windows import resize_to_fit
from app.look.words import tr
from app.storage.list_rows import TRASH_DAYS, ChatSummary
from app.ui.base.chat_title import shown_title

SIZE = QSize(520, 420)


class TrashDialog(QDialog):
    restore_requested = Signal(object)  # tuple of chat ids
    purge_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Trash"))
        resize_to_fit(self, SIZE)
        self.list = QListWidget(self)
        self.list.setObjectName("lines")
        self.list.setAccessibleName(tr("Deleted chats"))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.note = PlainLabel("", self, "muted", wraps=True)
        self.restore = dialog_button(tr("&Restore"), self._on_restore, self)
        self.purge = dialog_button(tr("&Delete permanently"), self._on_purge, self)
        close = dialog_button(tr("Close"), self.close, self)
        buttons = hbox(self.restore, self.purge, STRETCH, close)
        vbox(self.note, (self.list, 1), buttons, on=self, margins=16)
        self.list.itemSelectionChanged.connect(self._show_state)
        self.list.itemActivated.connect(lambda _item: self._on_restore())
        self.finished.connect(self.list.clear)
        self._show_state()

    @property
    def chosen(self) -> tuple[str, ...]:
        return tuple(item.data(Qt.ItemDataRole.UserRole) for item in self.list.selectedItems())

    @Slot(object)
    def apply(self, chats: Sequence[ChatSummary]) -> None:
        if self.isHidden():  # they are listed anew when it is shown
            return
        self.list.clear()
        for chat in chats:
            item = QListWidgetItem(shown_title(chat.title), self.list)
            item.setData(Qt.ItemDataRole.UserRole, chat.id)
        kept = tr("Deleted chats are kept here for {days} days.", days=TRASH_DAYS)
        self.note.setText(kept if chats else tr("The trash is empty."))
        self.note.setAlignment(Qt.AlignmentFlag.AlignLeading if chats else Qt.AlignmentFlag.AlignCenter)
        self.list.setVisible(bool(chats))
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        for button in (self.restore, self.purge):
            button.setEnabled(bool(self.chosen))

    def _on_restore(self) -> None:
        self.restore_requested.emit(self.chosen)

    def _on_purge(self) -> None:
        self.purge_requested.emit(self.chosen)
