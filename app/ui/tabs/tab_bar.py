"""The tab bar: tabs as wide as their titles, pinned ones small, and a × on the tab under the mouse.

Qt asks for the size of every tab whenever one of them changes, so sizes are cached, and the × is painted
instead of a button: 1,000 tabs are no problem. Knows titles, no chats. GUI thread.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QIcon,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionTab, QTabBar, QWidget

from app.look import marks
from app.look.buttons import IconButton
from app.look.icons import icon, paint_icon
from app.look.layouts import STRETCH, hbox
from app.look.marks import Mark
from app.look.painted import TAB_MARK, tab_mark
from app.look.plain_text import as_tab_text, as_tooltip, one_line
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.proportions import ABOVE_TABS, STRIP_HEIGHT, TAB_HEIGHT
from app.ui.base.titles import TitleEdit
from app.ui.tabs.tab import Tab

MIN_TAB, MAX_TAB, PINNED_TAB = 128, 220, 60
SQUEEZED_TAB = 88  # what a tab keeps where there are many; then the bar scrolls
_AROUND_TITLE = 68  # mark, × and the spaces between, as the style sheet has them
_CROSS = 14
MAX_SPARE_WIDTHS = 100  # of titles that no tab may have any more
_PULLED_OUT = 24  # so far below the tabs the mouse carries one away


@dataclass(frozen=True, slots=True)
class _Face:
    title: str
    is_pinned: bool = False
    is_beside: bool = False
    is_preview: bool = False  # its title is in italics


class TabBar(QTabBar):
    close_requested = Signal(int)
    menu_requested = Signal(int, QPoint)  # of a tab, at a place on the screen
    rename_requested = Signal(int)
    keep_requested = Signal(int)  # of a preview
    pulled = Signal(int, QPoint)  # a tab is dragged out of the bar, to this place on the screen
    dropped = Signal(int, QPoint)  # and was dropped there
    let_go = Signal()  # the drag of a tab has ended

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._widths: dict[str, int] = {}  # by title
        self._pressed = -1  # the tab whose × is pressed, or which the middle button presses
        self._pressed_at = QPoint()
        self._hovered = -1
        self._is_pulled = False
        self.is_squeezed = False  # the tabs have less room than their titles need
        self.setObjectName("chats")
        self.setMovable(True)
        self.setDocumentMode(True)
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setUsesScrollButtons(True)
        self.setIconSize(TAB_MARK)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(tr("Chats"))

    def insert(self, index: int, title: str) -> None:
        self.insertTab(index, as_tab_text(title))
        self.setTabData(index, _Face(title))
        self.updateGeometry()  # a hidden QTabBar does not report that it has grown

    def set_face(self, index: int, face: _Face) -> None:
        if face != self._face(index):
            self.setTabData(index, face)
            # Its text is its name for screen readers: for a pinned tab it is clipped, not removed.
            self.setTabText(index, as_tab_text(face.title))
            self.update()

    def set_icon(self, index: int, icon: QIcon) -> None:
        if icon.cacheKey() != self.tabIcon(index).cacheKey():  # else all tabs would be laid out each time
            self.setTabIcon(index, icon)

    def edit_title(self, index: int) -> TitleEdit:
        """Edits the title in place, and ends an edit that was left for another window."""
        for left in self.findChildren(TitleEdit):
            left.end(is_kept=True)
        edit = TitleEdit(self._face(index).title, self)
        room = self.tabRect(index).adjusted(6, 3, -6, -3)
        room.setWidth(max(room.width(), MIN_TAB))
        edit.setGeometry(room)
        edit.show()
        edit.setFocus()
        return edit

    def cross_rect(self, index: int) -> QRect:
        """Where the × of a tab is; empty for one that has none."""
        rect = self.tabRect(index)
        has_none = self._face(index).is_pinned or (self.is_squeezed and index != self.currentIndex())
        if has_none or not rect.isValid():
            return QRect()
        return QRect(rect.right() - 8 - _CROSS, rect.center().y() - _CROSS // 2, _CROSS, _CROSS)

    def _face(self, index: int) -> _Face:
        face = self.tabData(index)
        return face if isinstance(face, _Face) else _Face("")

    # Sizes

    def tabSizeHint(self, index: int) -> QSize:
        face = self._face(index)
        return QSize(PINNED_TAB if face.is_pinned else self._width_of(face.title), TAB_HEIGHT)

    def minimumTabSizeHint(self, index: int) -> QSize:
        return self.tabSizeHint(index).boundedTo(QSize(SQUEEZED_TAB, TAB_HEIGHT))

    def _width_of(self, title: str) -> int:
        if title not in self._widths:
            beginning = as_tab_text(title)[:MAX_TAB]  # more characters than pixels cannot be seen
            width = self.fontMetrics().horizontalAdvance(beginning) + _AROUND_TITLE
            self._widths[title] = max(MIN_TAB, min(MAX_TAB, width))
        return self._widths[title]

    def tabRemoved(self, index: int) -> None:
        super().tabRemoved(index)
        if len(self._widths) > 2 * self.count() + MAX_SPARE_WIDTHS:
            self._widths.clear()  # most of the titles are those of closed tabs

    def tabLayoutChange(self) -> None:
        """Where there is little room, the × stands on the selected tab alone, and the title has its place."""
        super().tabLayoutChange()
        is_squeezed = any(
            self.tabRect(index).width() < self.tabSizeHint(index).width()
            for index in range(self.count())
            if self.isTabVisible(index)
        )
        if is_squeezed != self.is_squeezed:
            self.is_squeezed = is_squeezed
            self.setProperty("squeezed", is_squeezed)
            self.style().unpolish(self)
            self.style().polish(self)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._widths.clear()
        super().changeEvent(event)

    # The mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        index = self.tabAt(place)
        is_middle = event.button() is Qt.MouseButton.MiddleButton
        on_cross = event.button() is Qt.MouseButton.LeftButton and self._is_on_cross(place)
        self._pressed = index if is_middle or on_cross else -1
        self._pressed_at = place
        if self._pressed < 0:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        self._hover(self.tabAt(place))
        if self._pressed >= 0:
            return
        is_dragged = bool(event.buttons() & Qt.MouseButton.LeftButton)
        if is_dragged and self._face(self.currentIndex()).is_preview and not self._is_near_press(place):
            self.keep_requested.emit(self.currentIndex())  # before Qt takes a picture of the tab
        super().mouseMoveEvent(event)
        if is_dragged:
            is_outside = not self.window().frameGeometry().contains(event.globalPosition().toPoint())
            self._is_pulled = is_outside or place.y() > self.height() + _PULLED_OUT
            self.pulled.emit(self.currentIndex(), event.globalPosition().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        pressed, self._pressed = self._pressed, -1
        if pressed >= 0:
            is_middle = event.button() is Qt.MouseButton.MiddleButton
            if pressed == self.tabAt(place) and (is_middle or self._is_on_cross(place)):
                self.close_requested.emit(pressed)
            return
        super().mouseReleaseEvent(event)
        is_pulled, self._is_pulled = self._is_pulled, False
        if is_pulled:
            self.dropped.emit(self.currentIndex(), event.globalPosition().toPoint())
        self.let_go.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        index = self.tabAt(place)
        if index >= 0 and event.button() is Qt.MouseButton.LeftButton and not self._is_on_cross(place):
            (self.keep_requested if self._face(index).is_preview else self.rename_requested).emit(index)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            place = self.mapToGlobal(self.tabRect(index).bottomLeft())
        else:
            index, place = self.tabAt(event.pos()), event.globalPos()
        if index >= 0:
            self.menu_requested.emit(index, place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F2 and self.currentIndex() >= 0:
            self.rename_requested.emit(self.currentIndex())
        elif event.key() == Qt.Key.Key_Delete and self.currentIndex() >= 0:
            self.close_requested.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _is_on_cross(self, place: QPoint) -> bool:
        index = self.tabAt(place)
        return index >= 0 and self.cross_rect(index).adjusted(-3, -3, 3, 3).contains(place)

    def _is_near_press(self, place: QPoint) -> bool:
        return (place - self._pressed_at).manhattanLength() < QApplication.startDragDistance()

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
        self.update()

    # Painting

    def initStyleOption(self, option: QStyleOptionTab, index: int) -> None:
        super().initStyleOption(option, index)
        if self._face(index).is_preview:
            option.text = ""  # a tab has no font of its own: see _paint_title

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index in {self.currentIndex(), self._hovered}:
            if 0 <= index < self.count():
                self._paint_cross(painter, index)
        for index in range(self.count()):
            if self._face(index).is_preview:
                self._paint_title(painter, index)
            if self._face(index).is_beside:
                line = self.tabRect(index).adjusted(8, TAB_HEIGHT - 2, -8, 0)
                painter.fillRect(line, QColor(current().muted))

    def _paint_title(self, painter: QPainter, index: int) -> None:
        """Of a preview, in italics."""
        option = QStyleOptionTab()
        self.initStyleOption(option, index)
        rect = self.style().subElementRect(QStyle.SubElement.SE_TabBarTabText, option, self)
        font = QFont(self.font())
        font.setItalic(True)
        is_bright = index in (self.currentIndex(), self._hovered)
        title = one_line(self._face(index).title)
        text = QFontMetrics(font).elidedText(title, Qt.TextElideMode.ElideRight, rect.width())
        painter.setFont(font)
        painter.setPen(QColor(current().text if is_bright else current().muted))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_cross(self, painter: QPainter, index: int) -> None:
        rect = self.cross_rect(index)
        if rect.isEmpty():
            return
        tokens = current()
        if self._is_on_cross(self.mapFromGlobal(self.cursor().pos())) and index == self._hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.hairline))
            painter.drawRoundedRect(rect.adjusted(-3, -3, 3, 3), 5, 5)
        paint_icon(
            painter, "x", QRectF(QPointF(rect.topLeft()), QSize(_CROSS, _CROSS).toSizeF()), tokens.muted
        )


class TabStrip(QWidget):
    """The row of tabs with its "+" and the list of all tabs. Owns no page."""

    current_changed = Signal(int)
    moved = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_told = True
        self.bar = TabBar(self)
        self.sidebar = IconButton("panel-left", tr("Show the list of chats (Ctrl+B)"), 28, self)
        self.sidebar.setProperty("command", "view.sidebar")
        self.sidebar.hide()
        self.new = IconButton("plus", tr("New chat (Ctrl+T)"), 28, self)
        self.new.setProperty("command", "chat.new")
        self.list = IconButton("chevron-down", tr("All open chats"), 28, self)
        parts = (self.sidebar, self.bar, self.new, STRETCH, self.list)
        hbox(*parts, on=self, margins=(8, ABOVE_TABS, 8, 0), spacing=4)
        self.setFixedHeight(STRIP_HEIGHT)
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

    def set_visible(self, index: int, is_visible: bool) -> None:
        self._quietly(lambda: self.bar.setTabVisible(index, is_visible))
        self.bar.updateGeometry()

    def apply(self, index: int, tab: Tab, is_pinned: bool, is_beside: bool) -> None:
        is_preview = tab.session.is_preview
        self.bar.set_face(index, _Face(tab.title, is_pinned, is_beside, is_preview))
        if tab.mark is marks.IDLE and tab.colour is None:
            self.bar.set_icon(index, icon("pin") if is_pinned else QIcon())
        else:
            self.bar.set_icon(index, tab_mark(tab.mark, tab.colour.name() if tab.colour else ""))
        tip = as_tooltip(tab_tooltip(tab.title, tab.mark, tab.sequence, is_pinned, is_preview))
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


def tab_tooltip(
    title: str, mark: Mark, sequence: int | None, is_pinned: bool = False, is_preview: bool = False
) -> str:
    """The full title, and the meaning of the marks."""
    states = [mark.text if mark.glyph else mark.word]
    if sequence is not None:
        states.append(tr("sequence {number} of the shared context", number=sequence))
    if is_pinned:
        states.append(tr("pinned"))
    if is_preview:
        states.append(tr("preview, a double click keeps it"))
    return f"{one_line(title)}\n{' · '.join(states)}"
