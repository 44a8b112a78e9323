"""A field and a list below it, over the window: the list shows what fits the field's text. GUI thread."""

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, Qt, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QListView, QWidget
from shiboken6 import isValid

from app.look.list import Index, ListDelegate
from app.look.popups import stand_out

_TAKES = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


class FieldPopup(QFrame):
    """A child of the window, so that input methods work. Escape closes it, and so does a click elsewhere.

    A subclass hides itself when it is made.
    """

    WIDTH, TOP = 640, 56
    PAGE = 8  # rows

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._came_from: QWidget | None = None
        self._moves = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_PageDown: self.PAGE,
            Qt.Key.Key_PageUp: -self.PAGE,
        }
        self.field = QLineEdit(self)
        self.field.installEventFilter(self)
        self.list = QListView(self)
        self.list.clicked.connect(lambda index: self.take(index, False))
        window.installEventFilter(self)
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr]
        stand_out(self)

    def take(self, index: Index, is_beside: bool) -> None:
        """Enter, or a click; `is_beside` with Ctrl."""
        raise NotImplementedError

    def step(self, rows: int) -> None:
        """An arrow key, or one for a page."""
        raise NotImplementedError

    def place(self) -> None:
        raise NotImplementedError

    def come_up(self) -> None:
        if self.isHidden():
            self._came_from = QApplication.focusWidget()
        self.place()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_up(self) -> None:
        """The focus goes back to where it was."""
        former = self._came_from
        self.hide()
        if former and isValid(former) and former.isVisible():
            former.setFocus(Qt.FocusReason.PopupFocusReason)

    def dress_list(self, model: QAbstractItemModel, delegate: ListDelegate, label: str) -> None:
        self.list.setModel(model)
        self.list.setItemDelegate(delegate)
        self.list.setAccessibleName(label)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field keeps it, and forwards the arrow keys
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new and self.isVisible() and new.window() is self.window() and not self.isAncestorOf(new):
            self.hide()

    def hideEvent(self, event: QHideEvent) -> None:
        """With its window it is hidden only for a while."""
        super().hideEvent(event)
        if self.isHidden():
            self._came_from = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent):
            return self._hears(event)
        if watched is not self.field and isinstance(event, QResizeEvent) and self.isVisible():
            self.place()
        return False

    def _hears(self, event: QKeyEvent) -> bool:
        """Whether the field and the window's shortcuts, where Escape stops an answer, do not get the key."""
        key = Qt.Key(event.key())
        is_ours = key in self._moves or key in _TAKES or key in _TABS or key == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride and is_ours:
            event.accept()
        elif event.type() == QEvent.Type.KeyPress and key == Qt.Key.Key_Escape:
            self.close_up()
        elif event.type() == QEvent.Type.KeyPress and key in _TAKES:
            is_beside = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self.take(self.list.currentIndex(), is_beside)
        elif event.type() == QEvent.Type.KeyPress and key in self._moves:
            self.step(self._moves[key])
        return is_ours
