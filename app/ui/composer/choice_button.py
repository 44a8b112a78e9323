"""A button of the composer that shows what a chat has chosen. GUI thread."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.icons import icon
from app.look.tokens import current

SIDE = 28


class ChoiceButton(QToolButton):
    """An icon; with a choice its label beside it, and in colour."""

    requested = Signal()  # clicked
    END = 10  # pixels after the label

    def __init__(self, icon_name: str, command: str, font: QFont, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self.setFont(font)
        self.setIconSize(QSize(16, 16))
        self.setFixedHeight(SIDE)
        self.setProperty("kind", "chip")
        self.setProperty("command", command)
        self.clicked.connect(lambda: self.requested.emit())

    def show_choice(self, label: str) -> None:
        """Empty: nothing is chosen."""
        style = Qt.ToolButtonStyle
        self.setText(f" {label}" if label else "")  # the style sets no gap after the icon
        self.setToolButtonStyle(style.ToolButtonTextBesideIcon if label else style.ToolButtonIconOnly)
        self._colour()
        self.updateGeometry()

    def _colour(self) -> None:
        self.setIcon(icon(self._icon_name, current().accent if self.text() else None))

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text()) + self.END if self.text() else 0
        return QSize(SIDE + words, SIDE)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colour()
