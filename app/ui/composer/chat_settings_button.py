"""The chip in the composer that opens the settings of its chat. GUI thread."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app.look.fonts import small_font
from app.look.icons import icon
from app.look.words import tr
from app.protocol.request import Overflow
from app.ui.base.choices import overflow_label

SIDE = 28


class ChatSettingsButton(QToolButton):
    """Shows the overflow choice of its chat."""

    requested = Signal()  # clicked

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.limit = 0  # how many tokens the chat can have; 0: no model
        self.setIconSize(QSize(14, 14))
        self.setFont(small_font())
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setProperty("kind", "chip")
        self.setToolTip(tr("System prompt, sampling and context of this chat (Ctrl+Shift+L)"))
        self.setProperty("command", "chat.settings")
        self.setIcon(icon("sliders-horizontal"))
        self.clicked.connect(self.open_settings)

    def apply(self, overflow: Overflow, limit: int) -> None:
        self.limit = limit
        label = overflow_label(overflow)
        self.setText(f" {label}")  # the style sets no gap after the icon
        self.setAccessibleName(tr("Chat settings: {label}", label=label))

    def open_settings(self) -> None:
        self.requested.emit()

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + SIDE + 12, SIDE)

    def minimumSizeHint(self) -> QSize:
        return QSize(SIDE, SIDE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shows only the icon where there is no room for the label."""
        super().resizeEvent(event)
        has_room = event.size().width() >= self.sizeHint().width()
        style = Qt.ToolButtonStyle
        self.setToolButtonStyle(style.ToolButtonTextBesideIcon if has_room else style.ToolButtonIconOnly)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.setIcon(icon("sliders-horizontal"))
