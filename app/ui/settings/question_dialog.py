"""Questions of MCP servers to the user, and the arguments of their prompts: forms, and pages to visit.

Who asks is plain to see, and what it says is plain text. Not modal. GUI thread.
"""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QPushButton, QScrollArea, QWidget

from app.look.buttons import dialog_button
from app.look.fonts import code_font, small_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading, one_line
from app.look.words import tr
from app.services.tools import ServerPrompt
from app.ui.base.hidden_characters import mark_hidden
from app.ui.base.page_panel import scrolled
from app.ui.base.schema_form import SchemaForm

WIDTH, MAX_FORM_HEIGHT = 460, 420
MAX_MESSAGE_CHARS = 2_000


class _Asking(QDialog):
    """Answers once, also by being closed."""

    answered = Signal(object)  # the values by name, or None: the user declines

    def __init__(self, title: str, message: str, note: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._has_answered = False
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setFixedWidth(WIDTH)
        words = PlainLabel(mark_hidden(message[:MAX_MESSAGE_CHARS]), self, wraps=True)
        words.setVisible(bool(message))
        small = PlainLabel(note, self, tone="muted", wraps=True)
        small.setFont(small_font())
        small.setVisible(bool(note))
        self._column = vbox(heading(title, self, wraps=True), words, small, on=self, margins=20, spacing=10)

    def _answer(self, content: Mapping[str, Any] | None) -> None:
        if not self._has_answered:
            self._has_answered = True
            self.answered.emit(content)
        self.accept()

    def reject(self) -> None:
        """Also called when it is closed."""
        self._answer(None)

    def _add_foot(self, *buttons: QPushButton) -> None:
        self._column.addSpacing(4)
        self._column.addLayout(hbox(STRETCH, *buttons))


class QuestionDialog(_Asking):
    """In the middle of a call a server wants to know something."""

    def __init__(self, server: str, message: str, schema: Mapping[str, Any], parent: QWidget) -> None:
        name = one_line(server)
        note = tr("Your answer goes to {server}. Do not enter passwords.", server=name)
        super().__init__(tr("{server} asks", server=name), message, note, parent)
        self.form = SchemaForm(schema, self)
        self._column.addWidget(_within(self.form, self))
        self.send = _primary(tr("Send"), self)
        self.send.clicked.connect(self._on_send)
        self._add_foot(dialog_button(tr("Decline"), self.reject, self), self.send)
        self.form.focus_first()

    def _on_send(self) -> None:
        if self.form.is_complete:
            self._answer(self.form.values)
        else:
            self.form.show_problems()


class PageDialog(_Asking):
    """A server wants the user to visit a page, such as one to sign in."""

    def __init__(self, server: str, message: str, url: str, parent: QWidget) -> None:
        name = one_line(server)
        super().__init__(tr("{server} asks you to visit a page", server=name), message, "", parent)
        address = PlainLabel(mark_hidden(url), self, wraps=True)
        address.setFont(code_font(-1))
        address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._column.addWidget(address)
        self._url = QUrl(url)
        self.visit = _primary(tr("Open in the browser"), self)
        self.visit.setEnabled(self._url.scheme() in ("http", "https"))
        self.visit.clicked.connect(self._on_visit)
        self._add_foot(dialog_button(tr("Decline"), self.reject, self), self.visit)

    def _on_visit(self) -> None:
        QDesktopServices.openUrl(self._url)
        self._answer({})


class PromptDialog(QDialog):
    """The arguments of a prompt, before it is put in the message."""

    given = Signal(object)  # the values by name

    def __init__(self, server: str, prompt: ServerPrompt, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(one_line(prompt.title or prompt.name))
        self.setFixedWidth(WIDTH)
        place = PlainLabel(tr("A prompt of {server}", server=one_line(server)), self, tone="muted")
        place.setFont(small_font())
        words = PlainLabel(mark_hidden(prompt.description[:MAX_MESSAGE_CHARS]), self, wraps=True)
        words.setVisible(bool(prompt.description))
        arguments = {
            each.name: {"type": "string", "description": each.description} for each in prompt.arguments
        }
        needed = [each.name for each in prompt.arguments if each.is_required]
        self.form = SchemaForm({"properties": arguments, "required": needed}, self)
        self.insert = _primary(tr("Insert"), self)
        self.insert.clicked.connect(self._on_insert)
        foot = hbox(STRETCH, dialog_button(tr("Cancel"), self.reject, self), self.insert)
        head = heading(self.windowTitle(), self, wraps=True)
        vbox(head, place, words, _within(self.form, self), 4, foot, on=self, margins=20, spacing=8)
        self.form.focus_first()

    def _on_insert(self) -> None:
        if self.form.is_complete:
            self.given.emit({name: str(value) for name, value in self.form.values.items()})
            self.accept()
        else:
            self.form.show_problems()


def _within(form: SchemaForm, parent: QWidget) -> QScrollArea:
    """A long form scrolls."""
    scroll = scrolled(form, parent)
    scroll.setFixedHeight(min(MAX_FORM_HEIGHT, form.sizeHint().height() + 4))
    return scroll


def _primary(label: str, parent: QDialog) -> QPushButton:
    button = QPushButton(label, parent)
    button.setDefault(True)
    return button
