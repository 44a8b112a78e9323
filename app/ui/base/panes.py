"""F6 moves the focus through the panes of the window. GUI thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget


class Panes:
    """`reading_order` gives all panes as they are now; invisible ones are skipped."""

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
