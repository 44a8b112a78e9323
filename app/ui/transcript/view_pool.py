"""The widgets of a page, reused for other turns as it scrolls. GUI thread."""

from collections.abc import Callable, Iterator

from PySide6.QtWidgets import QApplication, QWidget

from app.chats.chat import Turn
from app.ui.message.markdown_column import discard
from app.ui.transcript.turn_view import TurnView

MAX_VIEWS = 32  # more only while more are visible


class ViewPool:
    """Hidden ones are spare, but keep their turn until another one needs them."""

    def __init__(self, make: Callable[[type[TurnView], Turn], TurnView], page: QWidget) -> None:
        self._make = make
        self._page = page
        self._views: dict[str, TurnView] = {}  # by turn id, most recently used last

    def __iter__(self) -> Iterator[TurnView]:
        return iter(tuple(self._views.values()))

    @property
    def live(self) -> list[TurnView]:
        """The views that are not hidden, from top to bottom."""
        return sorted((view for view in self if not view.isHidden()), key=lambda view: view.y())

    def live_view_of(self, turn: Turn) -> TurnView | None:
        view = self._views.get(turn.id)
        return view if view and not view.isHidden() else None

    def with_widget(self, widget: QWidget) -> TurnView | None:
        """The view that contains this widget."""
        return next((view for view in self if view.isAncestorOf(widget)), None)

    def take(self, kind: type[TurnView], turn: Turn) -> TurnView:
        """The widget of this turn. A hidden one may show an old state of the turn."""
        view = self._views.pop(turn.id, None)
        if view and type(view) is not kind:
            self._hide(view)
            discard(view)
            view = None
        view = view or self._spare(kind) or self._make(kind, turn)
        self._views[turn.id] = view
        if view.turn is not turn:
            view.show_turn(turn)
        return view

    def hand_over(self, turn: Turn, version: Turn, kind: type[TurnView]) -> None:
        """Another version replaces it in the same widget, keeping mouse and focus."""
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
        """Frees all widgets except those with an unsaved edit."""
        for view in [view for view in self if not view.editor]:
            self._views.pop(view.turn.id, None)
            discard(view)

    def _spare(self, kind: type[TurnView]) -> TurnView | None:
        """The longest hidden one of its kind, if there are enough."""
        if len(self._views) < MAX_VIEWS:
            return None
        spare = next((view for view in self._views.values() if view.isHidden() and type(view) is kind), None)
        return self._views.pop(spare.turn.id) if spare else None

    def _hide(self, view: TurnView) -> None:
        """Moves its focus to the page: Qt would give it to any other widget."""
        focused = QApplication.focusWidget()
        if focused is not None and view.isAncestorOf(focused):
            self._page.setFocus()
        view.hide()
