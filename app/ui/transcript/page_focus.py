"""The focus on the page: which turn has it, and the tab order. GUI thread."""

from itertools import pairwise

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.transcript.turn_view import TurnView
from app.ui.transcript.view_pool import ViewPool


class PageFocus(QObject):
    """Connected only while the page is shown: the application signals every change to all pages."""

    def __init__(self, views: ViewPool, parent: QObject) -> None:
        super().__init__(parent)
        self._views = views
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

    def _set_view(self, view: TurnView | None) -> None:
        if view is self.view:
            return
        if self.view:
            self.view.set_has_focus(False)
        self.view = view
        if view:
            view.set_has_focus(True)
