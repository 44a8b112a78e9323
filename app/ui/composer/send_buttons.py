"""The buttons that send or queue a message, and stop the answer. GUI thread."""

from functools import cached_property

from PySide6.QtCore import QEvent, QPoint, QSize, Qt
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.buttons import IconButton
from app.look.icons import icon
from app.look.popups import Menu
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.proportions import BUTTONS_HEIGHT as SIDE

ICON_SIDE = 18


class RoundButton(QToolButton):
    """Filled with the accent colour if `is_primary` and enabled."""

    def __init__(self, is_primary: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._is_primary = is_primary
        self._icon_name = ""
        self.setFixedSize(SIDE, SIDE)
        self.setIconSize(QSize(ICON_SIDE, ICON_SIDE))

    def show_icon(self, name: str) -> None:
        self._icon_name = name
        tokens = current()
        enabled = tokens.on_accent if self._is_primary else tokens.text
        self.setIcon(icon(name, enabled if self.isEnabled() else tokens.muted))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._icon_name and event.type() in (QEvent.Type.PaletteChange, QEvent.Type.EnabledChange):
            self.show_icon(self._icon_name)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        is_filled = self._is_primary and self.isEnabled()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(tokens.text), 1.5) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent if is_filled else tokens.raised))
        painter.setOpacity(0.85 if self.isDown() or (is_filled and self.underMouse()) else 1.0)
        painter.drawRoundedRect(self.rect().toRectF().adjusted(1, 1, -1, -1), 8, 8)
        corner = (SIDE - ICON_SIDE) // 2
        self.icon().paint(painter, corner, corner, ICON_SIDE, ICON_SIDE)


class StopButton(RoundButton):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(is_primary=False, parent=parent)
        self.setAccessibleName(tr("Stop"))
        self.setToolTip(tr("Stop this answer (Esc)"))
        self.setProperty("command", "chat.stop")
        self.show_icon("stop")
        self.hide()


class SendButton(RoundButton):
    """Sends, or queues while an answer is being written."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(is_primary=True, parent=parent)
        self.show_state(is_busy=False, can_send=False, enter_sends=True)

    def show_state(self, *, is_busy: bool, can_send: bool, enter_sends: bool) -> None:
        self.setEnabled(can_send)
        self.setAccessibleName(tr("Queue") if is_busy else tr("Send"))
        key = tr("Enter") if enter_sends else tr("Ctrl+Enter")
        if is_busy:
            self.setToolTip(tr("Queue: send when this answer is done ({key})", key=key))
        else:
            self.setToolTip(tr("Send ({key})", key=key))
        self.show_icon("list-end" if is_busy else "arrow-up")


class SendMenuButton(IconButton):
    """Other actions on the draft."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("chevron-up", tr("More ways to send"), 24, parent, icon_side=14)
        self.send = QAction(tr("&Send"), self)
        self.add = QAction(tr("Add &without asking"), self)
        self.add.setToolTip(tr("As your message, without an answer for now"))
        self.add_answer = QAction(tr("Add as &answer"), self)
        self.add_answer.setToolTip(tr("As if the model had written it"))
        self.clicked.connect(self.open_menu)

    @cached_property
    def menu_(self) -> Menu:
        """Made when it is first opened, which in most chats it never is."""
        menu = Menu(self)
        menu.setToolTipsVisible(True)
        menu.addActions([self.send, self.add, self.add_answer])
        return menu

    def show_state(self, *, is_busy: bool, can_send: bool, can_insert: bool) -> None:
        self.send.setText(tr("&Queue") if is_busy else tr("&Send"))
        self.send.setEnabled(can_send)
        for action in (self.add, self.add_answer):
            action.setEnabled(can_insert)

    def open_menu(self) -> None:
        height = self.menu_.sizeHint().height()
        self.menu_.popup(self.mapToGlobal(QPoint(0, -height)))
