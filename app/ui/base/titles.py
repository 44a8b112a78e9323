"""A chat's title as it is shown, and the field for editing a title in place. GUI thread."""

from functools import lru_cache

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.chats.titles import NEW_CHAT, NEW_NOTEBOOK
from app.look.layouts import drop
from app.look.plain_text import one_line
from app.look.words import tr
from app.ui.base.keyboard import keeps_escape

MAX_GIVEN_CHARS = 200
# Its own menu, or another window in front: on X11 the menu that a rename began in is one for a moment.
STILL_EDITED = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)


class TitleEdit(QLineEdit):
    """Enter applies, Escape cancels. Deletes itself when done."""

    committed = Signal(str)  # a title, other than before and not blank
    left_by_key = Signal()  # left by Enter or Escape: the focus may move on

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(one_line(title), parent)
        self._is_over = False
        self.setMaxLength(MAX_GIVEN_CHARS)
        self.setAccessibleName(tr("Title"))
        self.setProperty("place", "title")
        self.setSelection(len(self.text()), -len(self.text()))  # all, with its beginning in sight

    def event(self, event: QEvent) -> bool:
        return keeps_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            super().keyPressEvent(event)
            return
        self.end(is_kept=event.key() != Qt.Key.Key_Escape)
        self.left_by_key.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in STILL_EDITED:
            self.end(is_kept=True)

    def end(self, is_kept: bool) -> None:
        if self._is_over:
            return
        self._is_over = True
        title = one_line(self.text())
        if is_kept and title and self.isModified():
            self.committed.emit(title)
        drop(self)


_one_line = lru_cache(maxsize=32_768)(one_line)  # the sidebar needs each repeatedly


def shown_title(title: str) -> str:
    """In one line, and translated if it is the default title."""
    if title == NEW_NOTEBOOK:
        return tr("New notebook")
    return tr("New chat") if title in ("", NEW_CHAT) else _one_line(title)
