"""One chat in a window of its own, beside the main window. GUI thread.

Its commands are actions of the main window, which act on the chat of the active window.
"""

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QGuiApplication,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QWidget

from app.chats.chat import Chat
from app.look.buttons import IconButton
from app.look.layouts import hbox, vbox
from app.look.popups import resize_to_fit
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.keyboard import FocusHome
from app.ui.tabs.chat_view import ChatView

SIZE = QSize(760, 760)


class ChatWindow(QWidget):
    left = Signal()  # it was closed: the chat goes back to its tab
    activated = Signal()  # it is the active window now, or no longer

    def __init__(self, chat: Chat, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.chat = chat
        self.setWindowIcon(parent.window().windowIcon())
        self.back = IconButton("picture-in-picture-2", tr("Move back to the tabs"), 28, self)
        self.back.clicked.connect(self.close)
        self._line = hbox(self.back, margins=(0, 0, 8, 0))
        self._column = vbox(self._line, on=self, spacing=0)
        QShortcut(QKeySequence("Ctrl+W"), self, self.close)
        resize_to_fit(self, SIZE)

    def show_above(self, line: QWidget) -> None:
        """Something above the chat."""
        self._line.insertWidget(0, line, 1)

    def show_view(self, view: ChatView) -> None:
        """Made with this window as its parent. It stays the only one."""
        self._view = view
        self._column.addWidget(view, 1)
        self.setFocusProxy(view)
        view.changed.connect(self._show_title)
        FocusHome(self, view.setFocus)
        self._show_title()
        view.setFocus()

    def put_at(self, place: QPoint) -> None:
        """Its corner, as far as the screen has room for it there."""
        room = (QGuiApplication.screenAt(place) or self.screen()).availableGeometry()
        right, bottom = room.right() - self.width(), room.bottom() - self.height()
        self.move(max(room.left(), min(place.x(), right)), max(room.top(), min(place.y(), bottom)))

    @Slot()
    def _show_title(self) -> None:
        self.setWindowTitle(f"{self._view.title} — Skein")

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().window))

    def showEvent(self, event: QShowEvent) -> None:
        """It is there, but not seen yet. Else it would always lie over the main window."""
        super().showEvent(event)
        self.windowHandle().setTransientParent(None)  # type: ignore[arg-type]

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange:
            self.activated.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Whoever hears of it deletes it."""
        event.ignore()
        self.left.emit()
