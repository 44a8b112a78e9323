"""Shows that a pane without a frame has the focus. GUI thread."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.look.tokens import current

WIDTH = 2
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
        if isinstance(event, QFocusEvent):
            self.setGeometry(0, 0, WIDTH, self._pane.height())
            self.setVisible(event.gotFocus() and event.reason() in _BY_KEYS)
            self.raise_()
        elif event.type() == QEvent.Type.Resize:
            self.resize(WIDTH, self._pane.height())
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().accent))
