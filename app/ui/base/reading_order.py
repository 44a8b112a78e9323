"""The order in which Tab goes through a part of the window: as it is read. GUI thread."""

from itertools import pairwise

from PySide6.QtCore import QPoint, Qt
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
