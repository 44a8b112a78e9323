"""The order in which Tab and F6 go through the window, and what Escape does there. GUI thread."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget


def focus_chain(part: QWidget) -> list[QWidget]:
    """What Tab can reach in it, from top to bottom and from left to right."""
    reachable = [
        widget
        for widget in part.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(part)
    ]
    places = {widget: widget.mapTo(part, QPoint(0, 0)) for widget in reachable}
    return sorted(reachable, key=lambda widget: (places[widget].y(), places[widget].x()))


def chain_down(part: QWidget) -> None:
    for before, widget in pairwise(focus_chain(part)):
        QWidget.setTabOrder(before, widget)


def keeps_escape(event: QEvent) -> bool:
    """For the `event` of a widget: makes its Escape an ordinary key, which does not stop the answer."""
    is_asked = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
    if is_asked and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
        event.accept()
        return True
    return False


class Panes:
    """What F6 goes through. `reading_order` gives all panes as they are now; invisible ones are skipped."""

    def __init__(self, reading_order: Callable[[], Sequence[QWidget]]) -> None:
        self._reading_order = reading_order

    def cycle(self, step: int) -> None:
        """Moves the focus by `step` panes, wrapping around."""
        panes = [pane for pane in self._reading_order() if pane.isVisible()]
        if not panes:
            return
        here = next((index for index, pane in enumerate(panes) if has_focus(pane)), -1 if step > 0 else 0)
        pane = panes[(here + step) % len(panes)]
        pane.window().activateWindow()  # a panel that is torn off
        pane.setFocus(Qt.FocusReason.ShortcutFocusReason)


def has_focus(pane: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and (focused is pane or pane.isAncestorOf(focused))
