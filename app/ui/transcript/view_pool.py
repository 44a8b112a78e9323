"""The widgets of a page: made once, then given from one turn to another as it scrolls. GUI thread."""

from collections.abc import Callable, Iterator

from PySide6.QtWidgets import QApplication, QWidget

from app.chats.chat import Turn
from app.ui.transcript.turn_view import TurnView

MAX_VIEWS = 32  # more only while more are in sight


class ViewPool:
    """Those that are hidden are spare, but know their turn until another one needs them."""

    def __init__(self, make: Callable[[type[TurnView], Turn], TurnView], page: QWidget) -> None:
        self._make = make
        self._page = page
        self._views: dict[str, TurnView] = {}  # by turn id, the one used last at the end

    def __iter__(self) -> Iterator[TurnView]:
        return iter(tuple(self._views.values()))

    @property
    def live(self) -> list[TurnView]:
        """Those that are not hidden, from top to bottom."""
        return sorted((view for view in self if not view.isHidden()), key=lambda view: view.y())

    def live_view_of(self, turn: Turn) -> TurnView | None:
        view = self._views.get(turn.id)
        return view if view and not view.isHidden() else None

    def with_widget(self, widget: QWidget) -> TurnView | None:
        """The one that this is a part of."""
        return next((view for view in self if view.isAncestorOf(widget)), None)

    def take(self, kind: type[TurnView], turn: Turn) -> TurnView:
        """The widget of this turn. It may be hidden, and then it may show what the turn was before."""
        view = self._views.pop(turn.id, None)
        if view and type(view) is not kind:
            self._hide(view)
            view.deleteLater()
            view = None
        view = view or self._spare(kind) or self._make(kind, turn)
        self._views[turn.id] = view
        if view.turn is not turn:
            view.show_turn(turn)
        return view

    def hand_over(self, turn: Turn, version: Turn, kind: type[TurnView]) -> None:
        """Another version takes its place: in the same widget, under the same mouse and with its focus."""
        view = self._views.get(turn.id)
        if view and type(view) is kind:
            view.stop_editing()
            view.show_turn(version)
            self._views[version.id] = self._views.pop(turn.id)

    def put_away(self, turn: Turn) -> None:
        """It is not shown any more."""
        if view := self._views.get(turn.id):
            view.stop_editing()
            self._hide(view)

    def free(self) -> None:
        """What somebody has begun to write stays."""
        for view in [view for view in self if not view.editor]:
            del self._views[view.turn.id]
            view.deleteLater()

    def _spare(self, kind: type[TurnView]) -> TurnView | None:
        """The one of its kind that has been hidden longest, if there are enough."""
        if len(self._views) < MAX_VIEWS:
            return None
        spare = next((view for view in self if view.isHidden() and type(view) is kind), None)
        return self._views.pop(spare.turn.id) if spare else None

    def _hide(self, view: TurnView) -> None:
        """Its focus goes to the page: Qt would look for the next widget that takes it, wherever that is."""
        focused = QApplication.focusWidget()
        if focused is not None and view.isAncestorOf(focused):
            self._page.setFocus()
        view.hide()
