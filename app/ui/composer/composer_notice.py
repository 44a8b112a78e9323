"""A sentence above the message: what did not work, what can be undone. GUI thread."""

from collections.abc import Callable
from functools import cached_property

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.look.buttons import IconButton, quiet_button
from app.look.fonts import small_font
from app.look.layouts import hbox
from app.look.plain_text import PlainLabel
from app.look.words import tr
from app.ui.base.notices import UNDO_FOR_MS

SIDE = 22
MAX_LINES = 4


class ComposerNotice(QWidget):
    """Problems are listed below each other. An offer replaces everything."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._lines: list[str] = []
        self._on_clicked: Callable[[], object] | None = None
        self._timer = QTimer(self, singleShot=True, interval=UNDO_FOR_MS)
        self._timer.timeout.connect(self.clear)
        self.hide()

    # Made when there is something to say, which in most chats there never is.

    @cached_property
    def _label(self) -> PlainLabel:
        label = PlainLabel(parent=self, wraps=True)
        label.setFont(small_font())
        hbox((label, 1), self.button, self.cross, on=self, margins=(6, 0, 0, 0))
        QWidget.setTabOrder(self, self.button)
        QWidget.setTabOrder(self.button, self.cross)
        return label

    @cached_property
    def button(self) -> QPushButton:
        button = quiet_button("", self, "bar")
        button.clicked.connect(self._on_button)
        return button

    @cached_property
    def cross(self) -> IconButton:
        cross = IconButton("x", tr("Dismiss"), SIDE, self, icon_side=14)
        cross.clicked.connect(self.clear)
        return cross

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def add_problem(self, text: str) -> None:
        self._timer.stop()
        self._forget_offer()
        self._lines = [*self._lines, text][-MAX_LINES:]
        self._show("danger")

    def say(self, text: str) -> None:
        """In place of everything."""
        self.clear()
        self._lines = [text]
        self._show("muted")

    def offer_undo(self, text: str, undo: Callable[[], object]) -> None:
        """For ten seconds."""
        self.offer(text, tr("Undo"), undo)
        self._timer.start()

    def offer(self, text: str, label: str, on_clicked: Callable[[], object]) -> None:
        self._timer.stop()
        self._lines = [text]
        self._on_clicked = on_clicked
        self.button.setText(label)
        self._show("muted")

    def clear(self) -> None:
        self._timer.stop()
        self._forget_offer()
        self._lines.clear()
        self.hide()

    def _forget_offer(self) -> None:
        if self._on_clicked:
            self._on_clicked = None
            self._lines.clear()

    def _on_button(self) -> None:
        on_clicked = self._on_clicked
        self.clear()
        if on_clicked:
            on_clicked()

    def _show(self, tone: str) -> None:
        self._label.set_tone(tone)
        self._label.setText(self.text)
        self.setAccessibleName(self.text)
        self.button.setVisible(self._on_clicked is not None)
        self.show()
        if self.isVisible() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.text))
