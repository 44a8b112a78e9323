"""A small button that copies a text and says so by its icon for a moment. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QToolTip, QWidget

from app.look.buttons import IconButton
from app.look.icons import icon
from app.look.words import tr, tr_n
from app.ui.base.hidden_characters import num_hidden


class CopyButton(IconButton):
    SIDE = 26
    CONFIRMS_FOR_MS = 1500

    def __init__(self, label: str, text: Callable[[], str], parent: QWidget, is_quiet: bool = False) -> None:
        super().__init__("copy", label, self.SIDE, parent, is_quiet)
        self._text = text
        self._confirms = QTimer(self, singleShot=True, interval=self.CONFIRMS_FOR_MS)
        self._confirms.timeout.connect(lambda: self._show("copy", "muted", label))
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        text = self._text()
        said = copy_text(text)
        self._confirms.start()
        if num_hidden(text):
            self._show("triangle-alert", "warning", said)
            QToolTip.showText(self.mapToGlobal(QPoint(0, self.height())), said, self)
        else:
            self._show("check", "ok", said)

    def _show(self, name: str, colour: str, label: str) -> None:
        self.setIcon(icon(name, colour))
        self.set_label(label)


def copy_text(text: str) -> str:
    """Copies it, and returns the message to show: it may contain invisible characters."""
    QGuiApplication.clipboard().setText(text)
    number = num_hidden(text)
    if not number:
        return tr("Copied")
    return tr_n("Copied with {n} hidden character", "Copied with {n} hidden characters", number)
