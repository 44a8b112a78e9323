"""The row of tabs with its "+". Shows titles and marks, tells what was clicked; owns no page. GUI thread."""

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QTabBar, QToolButton, QWidget

from app.look.icon_button import IconButton
from app.look.marks import Mark
from app.look.painted import TAB_MARK, tab_mark
from app.look.plain_text import as_tab_text, as_tooltip, one_line
from app.look.tokens import current

MIN_TAB, MAX_TAB, TAB_HEIGHT = 124, 220, 34


class TabStrip(QWidget):
    new_requested = Signal()
    close_requested = Signal(int)
    current_changed = Signal(int)
    moved = Signal(int, int)
    menu_requested = Signal(int, QPoint)  # of a tab, at a place on the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = _Bar(self)
        self._new = IconButton("plus", "New chat (Ctrl+T)", 28, self)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 0)
        row.setSpacing(4)
        row.addWidget(self.bar)
        row.addWidget(self._new)
        row.addStretch(1)
        self._new.clicked.connect(self.new_requested)
        self.bar.close_requested.connect(self.close_requested)
        self.bar.currentChanged.connect(self.current_changed)
        self.bar.tabMoved.connect(self.moved)
        self.bar.menu_requested.connect(self.menu_requested)

    def insert(self, index: int, title: str) -> None:
        self.bar.insertTab(index, as_tab_text(title))
        close = _CloseButton(self.bar)
        close.clicked.connect(lambda: self._on_close_clicked(close))
        self.bar.setTabButton(index, QTabBar.ButtonPosition.RightSide, close)
        self.bar.updateGeometry()  # a hidden QTabBar keeps it to itself that it has grown

    def remove(self, index: int) -> None:
        self.bar.removeTab(index)

    def set_title(self, index: int, title: str) -> None:
        text = as_tab_text(title)
        if self.bar.tabText(index) != text:
            self.bar.setTabText(index, text)

    def set_mark(
        self, index: int, mark: Mark, title: str, sequence: int | None, colour: QColor | None
    ) -> None:
        icon = tab_mark(mark, colour)
        if icon.cacheKey() != self.bar.tabIcon(index).cacheKey():  # else the bar would be painted each time
            self.bar.setTabIcon(index, icon)
        self.bar.setTabToolTip(index, as_tooltip(tab_tooltip(title, mark, sequence)))

    def _on_close_clicked(self, button: QToolButton) -> None:
        for index in range(self.bar.count()):
            if self.bar.tabButton(index, QTabBar.ButtonPosition.RightSide) is button:
                self.close_requested.emit(index)
                return

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().surface))


def tab_tooltip(title: str, mark: Mark, sequence: int | None) -> str:
    state = mark.text if mark.glyph else mark.word
    place = f" · sequence {sequence}" if sequence is not None else ""
    return f"{one_line(title)}\n{state}{place}"


class _Bar(QTabBar):
    close_requested = Signal(int)
    menu_requested = Signal(int, QPoint)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._pressed = -1
        self.setMovable(True)
        self.setDocumentMode(True)
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.setUsesScrollButtons(True)
        self.setIconSize(TAB_MARK)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Chats")

    def tabSizeHint(self, index: int) -> QSize:
        wanted = super().tabSizeHint(index).width()
        return QSize(max(MIN_TAB, min(MAX_TAB, wanted)), TAB_HEIGHT)

    def minimumTabSizeHint(self, _index: int) -> QSize:
        return QSize(MIN_TAB, TAB_HEIGHT)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.MiddleButton:
            self._pressed = self.tabAt(event.position().toPoint())
        else:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.MiddleButton:
            super().mouseReleaseEvent(event)
        elif self._pressed >= 0 and self._pressed == self.tabAt(event.position().toPoint()):
            self.close_requested.emit(self._pressed)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            index, place = (
                self.currentIndex(),
                self.mapToGlobal(self.tabRect(self.currentIndex()).bottomLeft()),
            )
        else:
            index, place = self.tabAt(event.pos()), event.globalPos()
        if index >= 0:
            self.menu_requested.emit(index, place)


class _CloseButton(IconButton):
    def __init__(self, parent: QWidget) -> None:
        super().__init__("x", "Close tab", 20, parent, icon_side=14)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setStyleSheet("padding: 1px; margin-right: 2px;")
