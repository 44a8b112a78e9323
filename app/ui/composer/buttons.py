"""The composer's buttons: to send, queue and stop, and those that show what a chat has chosen. GUI thread."""

from functools import cached_property

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.buttons import IconButton
from app.look.fonts import small_font, tabular
from app.look.icons import icon, paint_icon
from app.look.plain_text import as_tab_text
from app.look.popups import Menu
from app.look.tokens import current
from app.look.words import tr, tr_n
from app.ui.base.proportions import BUTTONS_HEIGHT

ICON_SIDE = 16
SIDE, NAME_WIDTH = 28, 140  # of buttons for choices


class RoundButton(QToolButton):
    """Filled with the accent colour if `is_primary` and enabled."""

    def __init__(self, icon_name: str, is_primary: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self._is_primary = is_primary
        self.setFixedSize(BUTTONS_HEIGHT, BUTTONS_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        is_filled = self._is_primary and self.isEnabled()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(tokens.text), 1.5) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent if is_filled else tokens.raised))
        painter.setOpacity(0.85 if self.isDown() or (is_filled and self.underMouse()) else 1.0)
        painter.drawRoundedRect(self.rect().toRectF().adjusted(1, 1, -1, -1), 8, 8)
        corner = (BUTTONS_HEIGHT - ICON_SIDE) // 2
        name = ("on_accent" if self._is_primary else "text") if self.isEnabled() else "muted"
        place = QRectF(corner, corner, ICON_SIDE, ICON_SIDE)
        paint_icon(painter, self._icon_name, place, getattr(tokens, name))


class StopButton(RoundButton):
    def __init__(self, parent: QWidget) -> None:
        super().__init__("stop", is_primary=False, parent=parent)
        self.setAccessibleName(tr("Stop"))
        self.setToolTip(tr("Stop this answer (Esc)"))
        self.setProperty("command", "chat.stop")
        self.hide()


class SendButton(RoundButton):
    """Sends, or queues while an answer is being written."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("arrow-up", is_primary=True, parent=parent)
        self.show_state(is_busy=False, can_send=False, enter_sends=True)

    def show_state(self, *, is_busy: bool, can_send: bool, enter_sends: bool) -> None:
        self.setEnabled(can_send)
        self.setAccessibleName(tr("Queue") if is_busy else tr("Send"))
        key = tr("Enter") if enter_sends else tr("Ctrl+Enter")
        if is_busy:
            self.setToolTip(tr("Queue: send when this answer is done ({key})", key=key))
        else:
            self.setToolTip(tr("Send ({key})", key=key))
        self._icon_name = "list-end" if is_busy else "arrow-up"
        self.update()


class SendMenuButton(IconButton):
    """Other actions on the draft."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("chevron-up", tr("More ways to send"), 24, parent, icon_side=14)
        self.send = QAction(tr("&Send"), self)
        self.add = QAction(tr("Add as my &message"), self)
        self.add.setToolTip(tr("Without an answer for now"))
        self.add_answer = QAction(tr("Add as the model's &answer"), self)
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


class ChoiceButton(QToolButton):
    """An icon; with a choice its label beside it, and in colour."""

    requested = Signal()  # clicked
    END = 10  # pixels after the label

    def __init__(self, icon_name: str, command: str, font: QFont, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self.setFont(font)
        self.setIconSize(QSize(16, 16))
        self.setFixedHeight(SIDE)
        self.setProperty("kind", "chip")
        self.setProperty("command", command)
        self.clicked.connect(lambda: self.requested.emit())

    def show_choice(self, label: str) -> None:
        """Empty: nothing is chosen."""
        style = Qt.ToolButtonStyle
        self.setText(f" {label}" if label else "")  # the style sets no gap after the icon
        self.setToolButtonStyle(style.ToolButtonTextBesideIcon if label else style.ToolButtonIconOnly)
        self.setIcon(icon(self._icon_name, "accent" if label else "muted"))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text()) + self.END if self.text() else 0
        return QSize(SIDE + words, SIDE)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class ShelfButton(ChoiceButton):
    """Shows the shelf's name."""

    END = 12

    def __init__(self, parent: QWidget) -> None:
        super().__init__("library", "chat.shelf", small_font(), parent)
        self.apply("", "")

    def apply(self, name: str, state: str) -> None:
        """`name` is empty without a shelf; `state` is a sentence about it."""
        self.show_choice(
            self.fontMetrics().elidedText(as_tab_text(name), Qt.TextElideMode.ElideRight, NAME_WIDTH)
        )
        self.setAccessibleName(tr("Shelf of this chat: {name}", name=name or tr("none")))
        self.setToolTip(state or tr("Files that the model reads in this chat"))


class ToolsButton(ChoiceButton):
    """Shows how many are on."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("wrench", "chat.tools", tabular(small_font()), parent)
        self._num_on = 0
        self._show()

    def open_tools(self) -> None:
        self.requested.emit()

    def apply(self, num_on: int) -> None:
        if num_on != self._num_on:
            self._num_on = num_on
            self._show()

    def _show(self) -> None:
        number = self._num_on
        self.show_choice(f"{number}" if number else "")
        on = tr_n("{n} tool is on", "{n} tools are on", number) if number else tr("none is on")
        self.setAccessibleName(tr("Tools of this chat: {state}", state=on))
        self.setToolTip(tr("Tools the model may call in this chat (Ctrl+Shift+O)"))
