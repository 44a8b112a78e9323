"""The order in which Tab goes through a part of the window, and what Escape does there. GUI thread."""

from itertools import pairwise

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget


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
