"""A panel over a chat's page, above its composer: of one chat's settings, or its tools. GUI thread.

A child of the window, no window of its own: input methods do not reach popups.
"""

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from app.look.popups import stand_out
from app.ui.base.keyboard import keeps_escape

GAP = 6


class PagePanel(QFrame):
    """Escape and a click elsewhere close it. Once it is made it hides itself."""

    closed = Signal()

    def __init__(self, name: str, size: tuple[int, int], parent: QWidget) -> None:
        """`size`: its width and height, at most."""
        super().__init__(parent)
        self.setObjectName("popover")
        self.setAccessibleName(name)
        stand_out(self)
        self._host = parent
        self._most = size
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)

    def open_above(self, widget: QWidget) -> None:
        """The panel is as high as its page; where that is narrow, it lies over what is beside it."""
        if self._host is not widget.window():
            self._host = widget.window()
            self.setParent(self._host)
        self.place_above(widget)
        self.show()
        self.raise_()

    def place_above(self, widget: QWidget) -> None:
        page = widget.parentWidget() or widget
        top_left = page.mapTo(self._host, QPoint(0, 0))
        corner = widget.mapTo(self._host, QPoint(0, 0))
        width = min(self._most[0], self._host.width() - 2 * GAP)
        height = min(self.wanted_height(width), corner.y() - top_left.y() - 2 * GAP)
        left = min(corner.x(), self._host.width() - width - GAP)
        self.setGeometry(QRect(left, corner.y() - GAP - height, width, height))

    def wanted_height(self, _width: int) -> int:
        return self._most[1]

    def close_up(self) -> None:
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_up()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Escape closes this before it stops an answer."""
        return keeps_escape(event) or super().event(event)

    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        """There is no focus widget while a menu or another program is active."""
        if new is None or not self.isVisible() or new.window() is not self.window():
            return
        if new is not self and not self.isAncestorOf(new):
            self.close_up()


def scrolled(inner: QWidget, parent: QWidget) -> QScrollArea:
    """The panel's own ground shows through."""
    scroll = QScrollArea(parent)
    scroll.setWidgetResizable(True)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setWidget(inner)
    for page in (inner, scroll.viewport()):
        page.setAutoFillBackground(False)
    return scroll
