"""The order in which Tab and F6 go through the window, and what Escape does there.

Where the focus goes once what had it is gone. GUI thread.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QPlainTextEdit, QWidget
from shiboken6 import isValid

from app.look.popups import POPUP_CLOSED


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


class FocusHome(QObject):
    """The focus goes to the chat in front once what had it is gone: a button, a panel, a popup, a window.

    It stays where somebody can type, and in a panel that is still open.
    """

    def __init__(self, window: QWidget, go_home: Callable[[], object]) -> None:
        super().__init__(window)
        self._window = window
        self._last: QWidget | None = None  # had the focus, in any of our windows
        self._is_due = False  # once the window is active
        self._soon = QTimer(self, singleShot=True, interval=0)  # who closed it may move the focus itself
        self._soon.timeout.connect(self._look)
        self._go_home = go_home
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr]
        window.installEventFilter(self)

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is None:  # another program has it, or what had it is about to be hidden
            return
        last, self._last = self._last, new
        if last is not None and not (isValid(last) and last.isVisible()):
            self._soon.start()

    @Slot()
    def _look(self) -> None:
        focused = QApplication.focusWidget()
        is_active = QApplication.activeWindow() is self._window and not QApplication.activePopupWidget()
        self._is_due = not is_active
        if is_active and not (focused and (_takes_text(focused) or _is_in_panel(focused))):
            self._go_home()

    def eventFilter(self, _window: QObject, event: QEvent) -> bool:
        if event.type() == POPUP_CLOSED or (self._is_due and event.type() == QEvent.Type.WindowActivate):
            self._soon.start()
        return False


def _takes_text(widget: QWidget) -> bool:
    return isinstance(widget, QLineEdit | QPlainTextEdit | QAbstractSpinBox) and not widget.isReadOnly()


def _is_in_panel(widget: QWidget) -> bool:
    part: QWidget | None = widget
    while part and not part.isWindow():
        if part.property("stands") == "out" or part.property("is_read"):
            return True
        part = part.parentWidget()
    return False
