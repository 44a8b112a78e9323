"""A panel above the composer of the current chat: opens it, keeps it in its place and closes it.

One panel for all tabs. GUI thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.ui.base.page_panel import PagePanel
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView

Panel = TypeVar("Panel", bound=PagePanel)


class PanelOfChat(QObject, Generic[Panel]):
    """Subclasses make the panel and say what it shows."""

    def __init__(self, tabs: ChatTabs, parent: QWidget) -> None:
        super().__init__(parent)
        self._tabs = tabs
        self._window = parent
        self._view: ChatView | None = None  # whose chat it shows
        self._panel: Panel | None = None
        tabs.current_state_changed.connect(self._on_current_changed)

    @property
    def panel(self) -> Panel:
        """Created on first use, and again where it went with the window that it was in."""
        if self._panel is None or not isValid(self._panel):
            self._panel = self._new_panel()
            self._panel.closed.connect(self._on_closed)
        return self._panel

    def open_for(self, view: ChatView) -> None:
        """A second call closes it. Does nothing while the chat is still being loaded."""
        if not view.session.is_loaded:
            return
        panel = self.panel
        if self._view is view and panel.isVisible():
            panel.close_up()
            return
        self._view = view
        (view.parentWidget() or view).installEventFilter(self)  # which is laid out before that hears of it
        self._fill()
        panel.open_above(view.foot)

    def _new_panel(self) -> Panel:
        raise NotImplementedError

    def _fill(self) -> None:
        """The panel is about to be shown for `_view`."""
        raise NotImplementedError

    def _on_current_changed(self) -> None:
        if self._view and self._tabs.current is not self._view:
            self.panel.close_up()

    def _on_closed(self) -> None:
        view, self._view = self._view, None
        if view is not None and view is self._tabs.current:
            view.setFocus()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self._view and self.panel.isVisible():
            self.panel.place_above(self._view.foot)
        return False
