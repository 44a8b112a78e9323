"""A small button that copies a text and says so by its icon for a moment. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.icons import icon
from app.look.tokens import current


class CopyButton(QToolButton):
    SIDE = 26
    CONFIRMS_FOR_MS = 1500

    def __init__(self, name: str, text: Callable[[], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._name = name
        self._text = text
        self._confirms = QTimer(self)
        self._confirms.setSingleShot(True)
        self._confirms.setInterval(self.CONFIRMS_FOR_MS)
        self._confirms.timeout.connect(self._show_state)
        self.setIconSize(QSize(16, 16))
        self.setFixedSize(self.SIDE, self.SIDE)
        self.clicked.connect(self._on_clicked)
        self._show_state()

    def _on_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._text())
        self._confirms.start()
        self._show_state()

    def _show_state(self) -> None:
        is_copied = self._confirms.isActive()
        self.setIcon(icon("check", current().ok) if is_copied else icon("copy"))
        self.setToolTip("Copied" if is_copied else self._name)
        self.setAccessibleName("Copied" if is_copied else self._name)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show_state()
