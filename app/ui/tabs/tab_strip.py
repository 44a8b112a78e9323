"""The row of tabs with its "+" and the list of all tabs. Shows titles and marks, emits clicks.

Owns no page. GUI thread.
"""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.look import marks
from app.look.buttons import IconButton
from app.look.icons import icon
from app.look.layouts import STRETCH, hbox
from app.look.marks import Mark
from app.look.painted import tab_mark
from app.look.plain_text import as_tooltip, one_line
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.proportions import ABOVE_TABS, STRIP_HEIGHT
from app.ui.tabs.tab import Tab
from app.ui.tabs.tab_bar import TabBar


class TabStrip(QWidget):
    new_requested = Signal()
    list_requested = Signal()
    sidebar_requested = Signal()
    current_changed = Signal(int)
    moved = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_told = True
        self.bar = TabBar(self)
        self.sidebar = IconButton("panel-left", tr("Show the list of chats (Ctrl+B)"), 28, self)
        self.sidebar.setProperty("command", "view.sidebar")
        self.sidebar.hide()
        self._new = IconButton("plus", tr("New chat (Ctrl+T)"), 28, self)
        self._new.setProperty("command", "chat.new")
        self.list = IconButton("chevron-down", tr("All open chats"), 28, self)
        parts = (self.sidebar, self.bar, self._new, STRETCH, self.list)
        hbox(*parts, on=self, margins=(8, ABOVE_TABS, 8, 0), spacing=4)
        self.setFixedHeight(STRIP_HEIGHT)
        self._new.clicked.connect(self.new_requested)
        self.list.clicked.connect(self.list_requested)
        self.sidebar.clicked.connect(self.sidebar_requested)
        self.bar.currentChanged.connect(self._on_current_changed)
        self.bar.tabMoved.connect(self._on_moved)

    def insert(self, index: int, title: str) -> None:
        self._quietly(lambda: self.bar.insert(index, title))

    def remove(self, index: int) -> None:
        self._quietly(lambda: self.bar.removeTab(index))

    def move_tab(self, old: int, new: int) -> None:
        self._quietly(lambda: self.bar.moveTab(old, new))

    def set_current(self, index: int) -> None:
        self._quietly(lambda: self.bar.setCurrentIndex(index))

    def apply(self, index: int, tab: Tab, is_pinned: bool, is_beside: bool) -> None:
        self.bar.set_face(index, tab.title, is_pinned, is_beside)
        if tab.mark is marks.IDLE and tab.colour is None:
            self.bar.set_icon(index, icon("pin") if is_pinned else QIcon())
        else:
            self.bar.set_icon(index, tab_mark(tab.mark, tab.colour))
        tip = as_tooltip(tab_tooltip(tab.title, tab.mark, tab.sequence, is_pinned))
        if self.bar.tabToolTip(index) != tip:
            self.bar.setTabToolTip(index, tip)

    def _quietly(self, change: Callable[[], object]) -> None:
        """Suppresses signals for changes made by the program itself."""
        was_told, self._is_told = self._is_told, False
        try:
            change()
        finally:
            self._is_told = was_told

    def _on_current_changed(self, index: int) -> None:
        if self._is_told and index >= 0:
            self.current_changed.emit(index)

    def _on_moved(self, old: int, new: int) -> None:
        if self._is_told:
            self.moved.emit(old, new)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().surface))


def tab_tooltip(title: str, mark: Mark, sequence: int | None, is_pinned: bool = False) -> str:
    """The full title, and the meaning of the marks."""
    states = [mark.text if mark.glyph else mark.word]
    if sequence is not None:
        states.append(tr("sequence {number}", number=sequence))
    if is_pinned:
        states.append(tr("pinned"))
    return f"{one_line(title)}\n{' · '.join(states)}"
