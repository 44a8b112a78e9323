"""One page, or two side by side with a line over the current one. Knows no chats. GUI thread."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QSplitter, QStackedLayout, QWidget

from app.look.layouts import vbox
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.proportions import HALF

LINE = 2
MIN_PANE = 260


class SplitPages(QSplitter):
    entered = Signal(QWidget)  # the keyboard or the mouse went to this page, which is not the current one

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._current = 0
        self._is_moving = False  # pages, and the keyboard with them: nobody has entered any
        self.share = HALF  # of the width, for the left one; kept while there is only one
        self._panes = (_Pane(self), _Pane(self))
        self._hint = _DropHint(self, parent)  # a child of a splitter would become a pane
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        for index, pane in enumerate(self._panes):
            self.addWidget(pane)
            self.setStretchFactor(index, 1)
        self._panes[1].hide()
        self.splitterMoved.connect(self._on_moved)
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr]

    @property
    def ground(self) -> QWidget:
        """The parent to make a page with: to be given another one styles each of its widgets again."""
        return self._panes[0]

    @property
    def is_split(self) -> bool:
        return not self._panes[1].isHidden()

    def show_pages(self, pages: Sequence[QWidget], current_index: int) -> None:
        """One or two, from left to right."""
        was_split = self.is_split
        self._current = current_index
        is_split = len(pages) > 1
        self._is_moving = True
        for page, pane in zip(pages, self._panes, strict=False):
            pane.show_page(page)
        self._panes[1].setVisible(is_split)
        self._is_moving = False
        if is_split and not was_split:
            left = round(self.width() * self.share)
            self.setSizes([left, self.width() - left])
        for index, pane in enumerate(self._panes):
            pane.set_line(is_split, is_current=index == current_index)

    def take(self, page: QWidget) -> None:
        """Removes a page before its deletion."""
        for pane in self._panes:
            pane.take(page)

    def hint_drop(self, place: QPoint | None) -> None:
        """Shows where a tab would go if dropped at this place on the screen."""
        self._hint.setVisible(place is not None and self.is_on_right(place))

    def is_on_right(self, place: QPoint) -> bool:
        local = self.mapFromGlobal(place)
        return self.rect().contains(local) and local.x() > self.width() // 2

    @Slot()
    def _on_moved(self) -> None:
        left, right = self.sizes()
        self.share = left / max(left + right, 1)

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is None or not self.is_split or self._is_moving:
            return
        for index, pane in enumerate(self._panes):
            if index != self._current and pane.isAncestorOf(new):
                self.entered.emit(pane.page)
                return


class _Pane(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._line = ""  # the name of its colour
        self._pages = QStackedLayout()
        self._column = vbox(self._pages, on=self, spacing=None)
        self.setMinimumWidth(MIN_PANE)
        self.setAccessibleName(tr("Chat"))

    @property
    def page(self) -> QWidget | None:
        return self._pages.currentWidget()

    def show_page(self, page: QWidget) -> None:
        if self._pages.indexOf(page) < 0:
            self._pages.addWidget(page)
        self._pages.setCurrentWidget(page)

    def take(self, page: QWidget) -> None:
        if self._pages.indexOf(page) >= 0:
            self._pages.removeWidget(page)

    def set_line(self, has_line: bool, is_current: bool) -> None:
        self._line = ("accent" if is_current else "hairline") if has_line else ""
        self._column.setContentsMargins(0, LINE if has_line else 0, 0, 0)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens.window))
        if self._line:
            painter.fillRect(0, 0, self.width(), LINE, QColor(getattr(tokens, self._line)))


class _DropHint(QWidget):
    """Over the right half, where the tab would go."""

    def __init__(self, ground: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._ground = ground
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def setVisible(self, is_visible: bool) -> None:
        if is_visible:
            ground = self._ground.geometry()
            ground.setLeft(ground.center().x())
            self.setGeometry(ground)
            self.raise_()
        super().setVisible(is_visible)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = QColor(current().accent)
        painter.setPen(colour)
        colour.setAlphaF(0.14)
        painter.setBrush(colour)
        painter.drawRoundedRect(self.rect().toRectF().adjusted(4.5, 4.5, -4.5, -4.5), 8, 8)
