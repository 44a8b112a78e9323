"""The bar for the search in a chat, with the number of matches. GUI thread."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.look.bars import Bar
from app.look.buttons import IconButton
from app.look.fonts import tabular
from app.look.layouts import STRETCH, hbox
from app.look.plain_text import PlainLabel
from app.look.words import tr

SIDE = 28
FIELD_WIDTH = 260
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class FindBar(Bar):
    """Enter and F3 go to the next match, with Shift to the previous one; Esc closes."""

    query_changed = Signal()
    step_requested = Signal(int)  # 1 to the next, -1 to the one before
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(tr("Find in this chat"))
        self.field.setAccessibleName(tr("Find in this chat"))
        self.field.setFixedWidth(FIELD_WIDTH)
        self.count = PlainLabel(parent=self, tone="muted")
        self.count.setFont(tabular(self.count.font()))
        self.case = IconButton("case-sensitive", tr("Match case"), SIDE, self)
        self.case.setCheckable(True)
        self.previous = IconButton("chevron-up", tr("Previous match (Shift+F3)"), SIDE, self)
        self.previous.setProperty("command", "chat.find-previous")
        self.next = IconButton("chevron-down", tr("Next match (F3)"), SIDE, self)
        self.next.setProperty("command", "chat.find-next")
        self.close_button = IconButton("x", tr("Close (Esc)"), SIDE, self)
        self._lay_out()
        self.field.textChanged.connect(self.query_changed)
        self.case.toggled.connect(self.query_changed)
        self.previous.clicked.connect(lambda: self.step_requested.emit(-1))
        self.next.clicked.connect(lambda: self.step_requested.emit(1))
        self.close_button.clicked.connect(self.closed)
        self.setFocusProxy(self.field)
        self.hide()

    @property
    def query(self) -> str:
        return self.field.text()

    @property
    def matches_case(self) -> bool:
        return self.case.isChecked()

    def show_count(self, text: str, can_step: bool) -> None:
        self.count.setText(text)
        self.previous.setEnabled(can_step)
        self.next.setEnabled(can_step)

    def _lay_out(self) -> None:
        hbox(
            STRETCH,
            self.count,
            10,
            self.field,
            4,
            self.case,
            self.previous,
            self.next,
            self.close_button,
            on=self,
            margins=(16, 6, 12, 6),
            spacing=2,
        )

    def event(self, event: QEvent) -> bool:
        """Takes its keys before the window's shortcuts: Esc would stop an answer."""
        is_override = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if is_override and event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_F3):  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        elif event.key() in (*_ENTER, Qt.Key.Key_F3):
            self.step_requested.emit(-1 if is_back else 1)
        else:
            super().keyPressEvent(event)
