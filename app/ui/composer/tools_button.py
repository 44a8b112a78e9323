"""The button that opens the tools of a chat. GUI thread."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.fonts import small_font, tabular
from app.look.icons import icon
from app.look.tokens import current
from app.look.words import tr, tr_n

SIDE = 28


class ToolsButton(QToolButton):
    """Shows how many are on, and is in colour then."""

    requested = Signal()  # clicked

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._num_on = 0
        self.setFont(tabular(small_font()))
        self.setIconSize(QSize(16, 16))
        self.setFixedHeight(SIDE)
        self.setProperty("kind", "chip")
        self.setProperty("command", "chat.tools")
        self.clicked.connect(self.open_tools)
        self._show()

    def open_tools(self) -> None:
        self.requested.emit()

    def apply(self, num_on: int) -> None:
        if num_on != self._num_on:
            self._num_on = num_on
            self._show()

    def _show(self) -> None:
        number, style = self._num_on, Qt.ToolButtonStyle
        self.setText(f" {number}" if number else "")  # the style sets no gap after the icon
        self.setToolButtonStyle(style.ToolButtonTextBesideIcon if number else style.ToolButtonIconOnly)
        self.setIcon(icon("wrench", current().accent if number else None))
        on = tr_n("{n} tool is on", "{n} tools are on", number) if number else tr("none is on")
        self.setAccessibleName(tr("Tools of this chat: {state}", state=on))
        self.setToolTip(tr("Tools the model may call in this chat (Ctrl+Shift+O)"))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text()) + 10 if self._num_on else 0
        return QSize(SIDE + words, SIDE)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show()
