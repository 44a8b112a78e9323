"""A small button that copies a text and says so by its icon for a moment. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QToolTip, QWidget

from app.look.buttons import IconButton
from app.look.icons import icon
from app.look.tokens import current
from app.look.words import tr, tr_n
from app.ui.base.hidden_characters import num_hidden


class CopyButton(IconButton):
    SIDE = 26
    CONFIRMS_FOR_MS = 1500
    _is_copied = False
    _has_hidden = False  # what was copied contains invisible characters
    _said = ""

    def __init__(self, label: str, text: Callable[[], str], parent: QWidget, is_quiet: bool = False) -> None:
        super().__init__("copy", label, self.SIDE, parent, is_quiet)
        self._label = label
        self._text = text
        self._confirms = QTimer(self, singleShot=True, interval=self.CONFIRMS_FOR_MS)
        self._confirms.timeout.connect(lambda: self._show_copied(False))
        self.clicked.connect(self._on_clicked)

    def show_icon(self) -> None:
        if self._is_copied and self._has_hidden:
            self.setIcon(icon("triangle-alert", current().warning))
        elif self._is_copied:
            self.setIcon(icon("check", current().ok))
        else:
            super().show_icon()

    def _on_clicked(self) -> None:
        text = self._text()
        self._said = copy_text(text)
        self._has_hidden = num_hidden(text) > 0
        self._confirms.start()
        self._show_copied(True)
        if self._has_hidden:
            QToolTip.showText(self.mapToGlobal(QPoint(0, self.height())), self._said, self)

    def _show_copied(self, is_copied: bool) -> None:
        self._is_copied = is_copied
        self.set_label(self._said if is_copied else self._label)
        self.show_icon()


def copy_text(text: str) -> str:
    """Copies it, and returns the message to show: it may contain invisible characters."""
    QGuiApplication.clipboard().setText(text)
    number = num_hidden(text)
    if not number:
        return tr("Copied")
    return tr_n("Copied with {n} hidden character", "Copied with {n} hidden characters", number)
