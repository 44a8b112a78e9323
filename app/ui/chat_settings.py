"""What becomes of a chat that is full, and how long it may get: shown on a button, changed above it.

GUI thread.
"""

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.engine.types import Overflow
from app.look.figures import count
from app.look.fonts import small_font
from app.look.icons import icon
from app.look.plain_text import PlainLabel, heading
from app.ui.choice_list import ChoiceList
from app.ui.choices import OVERFLOWS, overflow_label
from app.ui.number_field import NumberField

WIDTH = 400
SIDE = 28
GAP = 6
MAX_TOKENS = 2**24


class ChatSettingsButton(QToolButton):
    """Shows the overflow choice of its chat; a click opens the settings above the composer."""

    changed = Signal(object, int)  # Overflow, the chat's own cap (0: none)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.popover = ChatSettings(self)
        self.popover.changed.connect(self.changed)
        self.setIconSize(QSize(14, 14))
        self.setFont(small_font())
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setProperty("kind", "chip")
        self.setToolTip("What becomes of this chat when it is full, and how long it may get")
        self.setIcon(icon("sliders-horizontal"))
        self.clicked.connect(self.open_settings)

    def apply(self, overflow: Overflow, max_context_tokens: int, limit: int) -> None:
        """`limit` is what comes of it: how many tokens the chat can have. 0: no model tells."""
        label = overflow_label(overflow)
        self.setText(f" {label}")  # the style sets no gap after the icon
        self.setAccessibleName(f"Chat settings: {label}")
        self.popover.apply(overflow, max_context_tokens, limit)

    def open_settings(self) -> None:
        self.popover.open_above(self.parentWidget() or self)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + SIDE + 12, SIDE)

    def minimumSizeHint(self) -> QSize:
        return QSize(SIDE, SIDE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Without its words where there is no room for them."""
        super().resizeEvent(event)
        has_room = event.size().width() >= self.sizeHint().width()
        style = Qt.ToolButtonStyle
        self.setToolButtonStyle(style.ToolButtonTextBesideIcon if has_room else style.ToolButtonIconOnly)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.setIcon(icon("sliders-horizontal"))


class ChatSettings(QFrame):
    """Whatever is chosen counts at once. Escape and a click beside it close it."""

    changed = Signal(object, int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("popover")
        self.setAccessibleName("Chat settings")
        self.overflow = ChoiceList("When this chat is full", OVERFLOWS, is_narrow=True, parent=self)
        self.max_tokens = NumberField("Longest this chat may get", 0, MAX_TOKENS, 256, self)
        self.max_tokens.setKeyboardTracking(False)  # a number half typed is no choice yet
        self._limit = PlainLabel(parent=self, tone="muted")
        self._limit.setWordWrap(True)
        self._lay_out()
        self.overflow.chosen.connect(self._tell)
        self.max_tokens.valueChanged.connect(self._tell)

    def apply(self, overflow: Overflow, max_context_tokens: int, limit: int) -> None:
        self.overflow.choose(overflow)
        self.max_tokens.blockSignals(True)
        self.max_tokens.setValue(max_context_tokens)
        self.max_tokens.blockSignals(False)
        self.max_tokens.set_word_for_zero("As in settings")
        self._limit.setText(f"Now {count(limit)} tokens." if limit else "")

    @property
    def limit_text(self) -> str:
        return self._limit.text()

    def open_above(self, widget: QWidget) -> None:
        self.adjustSize()
        corner = widget.mapToGlobal(QPoint(0, 0)) - QPoint(0, self.height() + GAP)
        space = widget.screen().availableGeometry()
        self.move(min(corner.x(), space.right() - self.width()), max(corner.y(), space.top()))
        self.show()
        self.overflow.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.close()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.max_tokens.interpretText()  # what was typed last counts, too
        super().hideEvent(event)

    def _tell(self) -> None:
        self.changed.emit(Overflow(self.overflow.value), self.max_tokens.value())

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 14)
        column.setSpacing(6)
        column.addWidget(heading(self.overflow.accessibleName(), self))
        column.addWidget(self.overflow)
        column.addSpacing(6)
        column.addWidget(heading(self.max_tokens.accessibleName(), self))
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.max_tokens)
        row.addWidget(self._limit, 1)
        column.addLayout(row)
        self.setFixedWidth(WIDTH)
