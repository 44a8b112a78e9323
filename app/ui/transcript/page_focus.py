"""The focus on the page: which turn has it, the tab order, and the line that shows it. GUI thread."""

from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.look.tokens import current
from app.ui.transcript.turn_view import TurnView
from app.ui.transcript.view_pool import ViewPool


class PageFocus(QObject):
    """Connected only while the page is shown: the application signals every change to all pages."""

    moved = Signal(bool)  # whether the page, or something in it, has the focus now

    def __init__(self, views: ViewPool, page: QWidget) -> None:
        super().__init__(page)
        self._views = views
        self._page = page
        self._listens = False
        self.view: TurnView | None = None  # the one with the focus

    def listen(self) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication) and not self._listens:
            self._listens = True
            application.focusChanged.connect(self._on_focus_changed)

    def end(self) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication) and self._listens:
            self._listens = False
            application.focusChanged.disconnect(self._on_focus_changed)
        self._set_view(None)

    def chain(self, first: QWidget, last: QWidget) -> None:
        """Tab goes down the page, whatever the order of creation."""
        chain = [first]
        for view in self._views.live:
            chain += view.focus_chain()
        for before, widget in pairwise([*chain, last]):
            QWidget.setTabOrder(before, widget)

    @Slot("QWidget*", "QWidget*")
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        self._set_view(self._views.with_widget(new) if new else None)
        self.moved.emit(new is not None and (new is self._page or self._page.isAncestorOf(new)))

    def _set_view(self, view: TurnView | None) -> None:
        if view is self.view:
            return
        if self.view:
            self.view.set_has_focus(False)
        self.view = view
        if view:
            view.set_has_focus(True)


LINE_WIDTH = 2
_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class FocusLine(QWidget):
    """At the left edge of the pane. Not shown for focus by mouse, where the place is obvious."""

    def __init__(self, pane: QWidget) -> None:
        super().__init__(pane)
        self._pane = pane
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        pane.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if not isValid(self._pane):  # it is being deleted, and so loses the focus
            return False
        if isinstance(event, QFocusEvent):
            self.setGeometry(0, 0, LINE_WIDTH, self._pane.height())
            self.setVisible(event.gotFocus() and event.reason() in _BY_KEYS)
            self.raise_()
        elif event.type() == QEvent.Type.Resize:
            self.resize(LINE_WIDTH, self._pane.height())
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().accent))
