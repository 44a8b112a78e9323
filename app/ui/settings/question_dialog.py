"""Questions of MCP servers to the user, and the arguments of their prompts: forms, and pages to visit.

Who asks is plain to see, and what it says is plain text. Not modal. GUI thread.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QPlainTextEdit, QPushButton, QScrollArea, QWidget

from app.bridge.drafts import Drafts
from app.look.buttons import dialog_button
from app.look.fonts import code_font, small_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading, one_line
from app.look.popups import FlatCombo
from app.look.words import tr
from app.services.tools import ServerPrompt
from app.ui.base.hidden_characters import mark_hidden
from app.ui.base.kept_text import KeptText
from app.ui.base.page_panel import scrolled
from app.ui.base.setting_controls import Switch

MAX_FIELDS = 40
MAX_CHOICES = 200
MAX_LABEL_CHARS, MAX_SENTENCE_CHARS = 80, 400
LONG_FROM = 200  # a text that may be so long gets several lines
LONG_HEIGHT = 72


class SchemaForm(QWidget):
    changed = Signal()

    def __init__(self, schema: Mapping[str, Any], parent: QWidget) -> None:
        super().__init__(parent)
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        required = schema.get("required")
        needed = {str(name) for name in required} if isinstance(required, Sequence) else set()
        self.fields = {
            str(name): FormField(str(name), told if isinstance(told, Mapping) else {}, name in needed, self)
            for name, told in list(properties.items())[:MAX_FIELDS]
        }
        for field in self.fields.values():
            field.changed.connect(self.changed)
        vbox(*self.fields.values(), on=self, spacing=12)

    @property
    def values(self) -> dict[str, Any]:
        """The values that are filled in. Only to be asked once nothing is wrong."""
        return {name: field.value for name, field in self.fields.items() if field.value is not None}

    @property
    def is_complete(self) -> bool:
        return not any(field.problem for field in self.fields.values())

    def show_problems(self) -> None:
        """Shows what is wrong in each field, and puts the keyboard into the first."""
        for field in self.fields.values():
            field.show_problem()
        first = next((field for field in self.fields.values() if field.problem), None)
        if first:
            first.control.setFocus()

    def focus_first(self) -> None:
        for field in self.fields.values():
            field.control.setFocus()
            return


class FormField(QWidget):
    changed = Signal()

    def __init__(self, name: str, told: Mapping[str, Any], is_required: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._kind = _kind_of(told)
        self._told = told
        self._is_required = is_required
        self._choices = _choices_of(told)
        self.control = self._made(told)
        label = one_line(str(told.get("title") or name)[:MAX_LABEL_CHARS])
        self.label = PlainLabel(f"{label} *" if is_required else label, self, wraps=True)
        self.label.setBuddy(self.control)
        sentence = one_line(str(told.get("description") or "")[:MAX_SENTENCE_CHARS])
        self.sentence = PlainLabel(sentence, self, tone="muted", wraps=True)
        self.sentence.setVisible(bool(sentence))
        self.error = PlainLabel(parent=self, tone="danger", wraps=True)
        self.error.hide()
        for small in (self.sentence, self.error):
            small.setFont(small_font())
        self.control.setAccessibleName(label)
        self.control.setAccessibleDescription(sentence)
        is_beside = isinstance(self.control, QCheckBox)
        words = vbox(self.label, self.sentence, spacing=1)
        if is_beside:
            vbox(hbox((words, 1), self.control, spacing=12), self.error, on=self, spacing=4)
        else:
            vbox(words, self.control, self.error, on=self, spacing=4)

    def _made(self, told: Mapping[str, Any]) -> QWidget:
        default = told.get("default")
        if self._choices:
            combo = FlatCombo(self)
            if not self._is_required:
                combo.addItem(tr("None"), None)
            for value, name in self._choices:
                combo.addItem(name, value)
            combo.setCurrentIndex(max(0, combo.findData(default)) if default is not None else 0)
            combo.activated.connect(lambda _index: self._on_changed())
            return combo
        if self._kind == "boolean":
            switch = Switch(self)
            switch.setChecked(default is True)
            switch.clicked.connect(lambda _is_on: self._on_changed())
            return switch
        text = "" if default is None or isinstance(default, dict | list) else str(default)
        longest = told.get("maxLength")
        if self._kind == "string" and isinstance(longest, int) and longest >= LONG_FROM:
            editor = QPlainTextEdit(text, self)
            editor.setFixedHeight(LONG_HEIGHT)
            editor.setTabChangesFocus(True)
            editor.textChanged.connect(self._on_changed)
            return editor
        line = QLineEdit(text, self)
        line.setMaxLength(longest if isinstance(longest, int) and 0 < longest < 10_000 else 10_000)
        line.setPlaceholderText(_PLACEHOLDERS.get(str(told.get("format")), ""))
        line.textChanged.connect(lambda _text: self._on_changed())
        return line

    @property
    def value(self) -> Any:
        """None: nothing is filled in, or no number."""
        control = self.control
        if isinstance(control, FlatCombo):
            return control.currentData()
        if isinstance(control, QCheckBox):
            return control.isChecked()
        text = self._text
        if self._kind == "string":
            return text or None
        return _number(text, self._kind)

    @property
    def problem(self) -> str:
        """A sentence; empty if it can be sent."""
        if isinstance(self.control, FlatCombo | QCheckBox):
            return ""
        if not self._text.strip():
            return tr("Fill this in.") if self._is_required else ""
        if self._kind == "string":
            least = self._told.get("minLength")
            is_short = isinstance(least, int) and len(self._text) < least
            return tr("At least {n} characters.", n=least) if is_short else ""
        number = _number(self._text, self._kind)
        if number is None:
            return tr("Not a whole number.") if self._kind == "integer" else tr("Not a number.")
        low, high = _bound(self._told, "minimum"), _bound(self._told, "maximum")
        if low is not None and number < low:
            return tr("Not below {number}.", number=low)
        if high is not None and number > high:
            return tr("Not above {number}.", number=high)
        return ""

    def show_problem(self) -> None:
        self.error.say(self.problem)

    @property
    def _text(self) -> str:
        control = self.control
        if isinstance(control, QPlainTextEdit):
            return control.toPlainText()
        assert isinstance(control, QLineEdit)
        return control.text()

    def _on_changed(self) -> None:
        if not self.error.isHidden():
            self.show_problem()
        self.changed.emit()


_PLACEHOLDERS = {"date": "2026-12-31", "email": "name@example.org", "uri": "https://"}


def _kind_of(told: Mapping[str, Any]) -> str:
    kind = told.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "string")
    return kind if kind in ("number", "integer", "boolean") else "string"


def _choices_of(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Values and names: an `enum` with or without `enumNames`, or constants with titles."""
    values = told.get("enum")
    if isinstance(values, list):
        names = told.get("enumNames")
        names = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = list(zip(values, names, strict=True))
    else:
        listed = told.get("oneOf") or told.get("anyOf")
        listed = listed if isinstance(listed, list) else []
        consts = [one for one in listed if isinstance(one, Mapping) and "const" in one]
        pairs = [(one["const"], one.get("title") or one["const"]) for one in consts]
    shown = [(value, one_line(str(name)[:MAX_LABEL_CHARS])) for value, name in pairs[:MAX_CHOICES]]
    return [(value, name) for value, name in shown if isinstance(value, str)]


def _number(text: str, kind: str) -> int | float | None:
    try:
        return int(text) if kind == "integer" else float(text.replace(",", "."))
    except ValueError:
        return None


def _bound(told: Mapping[str, Any], name: str) -> int | float | None:
    value = told.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


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
        """The user declines, or closes the dialog."""
        self._answer(None)

    def _add_foot(self, *buttons: QPushButton) -> None:
        self._column.addSpacing(4)
        self._column.addLayout(hbox(STRETCH, *buttons))


class QuestionDialog(_Asking):
    """In the middle of a call a server wants to know something."""

    def __init__(
        self,
        server: str,
        message: str,
        schema: Mapping[str, Any],
        parent: QWidget,
        drafts: Drafts | None = None,
    ) -> None:
        """`drafts` keep long answers until they are sent."""
        name = one_line(server)
        note = tr("Your answer goes to {server}. Do not enter passwords.", server=name)
        super().__init__(tr("{server} asks", server=name), message, note, parent)
        self.form = SchemaForm(schema, self)
        self._kept = [
            KeptText(field.control, drafts or Drafts(), ("", f"{server}/{name}"))
            for name, field in self.form.fields.items()
            if isinstance(field.control, QPlainTextEdit)
        ]
        self._column.addWidget(_within(self.form, self))
        self.send = dialog_button(tr("Send"), self._on_send, self, is_default=True)
        self._add_foot(dialog_button(tr("Decline"), self.reject, self), self.send)
        self.form.focus_first()

    def _on_send(self) -> None:
        if self.form.is_complete:
            for kept in self._kept:
                kept.forget()
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
        self.visit = dialog_button(tr("Open in the browser"), self._on_visit, self, is_default=True)
        self.visit.setEnabled(self._url.scheme() in ("http", "https"))
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
        self.insert = dialog_button(tr("Insert"), self._on_insert, self, is_default=True)
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
