"""Where MCP servers are added or changed: in a form, or by a pasted mcp.json and its values. GUI thread."""

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QWidget

from app.bridge.drafts import Drafts
from app.look.buttons import dialog_button
from app.look.fonts import code_font, small_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading, one_line
from app.look.popups import resize_to_fit
from app.look.words import mark, tr, tr_n, tr_said
from app.protocol.errors import InvalidRequestError
from app.tools.server_config import ServerConfig, check, checked_name
from app.ui.base.choice_list import ChoiceList
from app.ui.base.kept_text import KeptText
from app.ui.base.setting import Choice

WIDTH = 520
TEXT_HEIGHT = 76
COMMAND, ADDRESS = "command", "address"
KINDS = (
    Choice(COMMAND, mark("Command"), mark("A program on this computer, started by Skein.")),
    Choice(ADDRESS, mark("Address"), mark("A server that is already running, here or on the network.")),
)


class ServerDialog(QDialog):
    """Not modal. Tells a config once it can be used."""

    given = Signal(object)  # ServerConfig

    def __init__(
        self,
        parent: QWidget,
        known: ServerConfig | None = None,
        taken: Collection[str] = (),
        drafts: Drafts | None = None,
    ) -> None:
        """`known`: the one to be changed. `taken`: the names of the others. `drafts` keep what is typed."""
        super().__init__(parent)
        self._known, self._taken = known, taken
        self.setWindowTitle(tr("Change MCP server") if known else tr("Add MCP server"))
        self.name = line("", tr("Name"), self)
        self.kind = ChoiceList(tr("Kind of server"), KINDS, parent=self)
        self.kind.chosen.connect(self._show_kind)
        self.command = line("npx -y @modelcontextprotocol/server-everything", tr("Command line"), self)
        self.environment = _text("API_KEY=…", tr("Environment"), self)
        self.url = line("https://example.org/mcp", tr("Address"), self)
        self.headers = _text("Authorization: …", tr("Headers"), self)
        self.problem = PlainLabel(parent=self, tone="danger", wraps=True)
        self.problem.hide()
        label = tr("Save") if known else tr("Add")
        self.add = dialog_button(label, self._on_add, self, is_default=True)
        self._lay_out()
        self._fill(known or ServerConfig(""))
        self._kept = [
            KeptText(text, drafts or Drafts(), ("", f"{name}/{known.name if known else ''}"))
            for name, text in (("environment", self.environment), ("headers", self.headers))
        ]

    def _lay_out(self) -> None:
        self._command_part, self._address_part = QWidget(self), QWidget(self)
        vbox(
            *named(self.command, tr("As you would type it in a terminal."), self._command_part),
            *named(
                self.environment, tr("One variable on each line. Kept in a private file."), self._command_part
            ),
            on=self._command_part,
            spacing=4,
        )
        vbox(
            *named(self.url, "", self._address_part),
            *named(self.headers, tr("One header on each line. Kept in a private file."), self._address_part),
            on=self._address_part,
            spacing=4,
        )
        foot = hbox(STRETCH, dialog_button(tr("Cancel"), self.reject, self), self.add)
        vbox(
            *named(self.name, "", self),
            4,
            self.kind,
            self._command_part,
            self._address_part,
            self.problem,
            8,
            foot,
            on=self,
            margins=20,
            spacing=6,
        )
        self.setFixedWidth(WIDTH)

    def _fill(self, config: ServerConfig) -> None:
        self.name.setText(config.name)
        self.kind.choose(ADDRESS if config.url else COMMAND)
        self.command.setText(config.command_line if config.command else "")
        self.environment.setPlainText(_lines(config.environment.items(), "="))
        self.url.setText(config.url)
        self.headers.setPlainText(_lines(config.headers.items(), ": "))
        self._show_kind(self.kind.value)
        self.name.setFocus()

    def _show_kind(self, kind: str) -> None:
        self._command_part.setVisible(kind == COMMAND)
        self._address_part.setVisible(kind == ADDRESS)
        self.problem.hide()
        self.adjustSize()

    def _on_add(self) -> None:
        try:
            config = self._config()
        except _UnusableError as error:
            self.problem.say(error.args[0])
            self.adjustSize()
            return
        for kept in self._kept:
            kept.forget()
        self.given.emit(config)
        self.accept()

    def _config(self) -> ServerConfig:
        """Raises _UnusableError, with a sentence."""
        known = self._known or ServerConfig("")
        is_command = self.kind.value == COMMAND
        try:
            words = shlex.split(self.command.text()) if is_command else []
        except ValueError:
            raise _UnusableError(tr("A quotation mark in the command line is not closed.")) from None
        if is_command and not words:
            raise _UnusableError(tr("Enter the command that starts the server."))
        if not is_command and not self.url.text().strip():
            raise _UnusableError(tr("Enter the address of the server."))
        suggestion = words[-1].rsplit("/", 1)[-1] if words else self.url.text().split("//")[-1].split("/")[0]
        try:
            name = checked_name(self.name.text().strip() or suggestion)
        except ValueError:
            raise _UnusableError(tr("Give the server a name.")) from None
        if name in self._taken:
            raise _UnusableError(tr("There already is a server “{name}”.", name=name))
        config = replace(
            known,
            name=name,
            command=words[0] if words else "",
            arguments=tuple(words[1:]),
            environment=_pairs(self.environment.toPlainText(), "=") if is_command else {},
            url="" if is_command else self.url.text().strip(),
            headers={} if is_command else _pairs(self.headers.toPlainText(), ":"),
        )
        try:
            check(config)
        except ValueError:
            raise _UnusableError(tr("The address must begin with http:// or https://.")) from None
        return config


class _UnusableError(Exception):
    pass


def _pairs(text: str, between: str) -> dict[str, str]:
    """Raises _UnusableError."""
    found: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        name, sign, value = line.partition(between)
        if not sign or not name.strip():
            example = f"NAME{between} …" if between == ":" else "NAME=…"
            raise _UnusableError(
                tr("“{line}” is not of the form {form}.", line=line.strip()[:60], form=example)
            )
        found[name.strip()] = value.strip() if between == ":" else value
    return found


def _lines(pairs: Collection[tuple[str, str]], between: str) -> str:
    return "\n".join(f"{name}{between}{value}" for name, value in pairs)


def named(control: QWidget, sentence: str, parent: QWidget) -> tuple[QWidget, ...]:
    label = PlainLabel(control.accessibleName(), parent)
    label.setBuddy(control)
    label.setContentsMargins(0, 6, 0, 0)
    if not sentence:
        return label, control
    note = PlainLabel(sentence, parent, tone="muted", wraps=True)
    note.setFont(small_font())
    return label, control, note


def line(placeholder: str, name: str, parent: QWidget) -> QLineEdit:
    line = QLineEdit(parent)
    line.setPlaceholderText(placeholder)
    line.setAccessibleName(name)
    return line


def _text(placeholder: str, name: str, parent: QWidget) -> QPlainTextEdit:
    text = QPlainTextEdit(parent)
    text.setFont(code_font(-1))
    text.setFixedHeight(TEXT_HEIGHT)
    text.setTabChangesFocus(True)
    text.setPlaceholderText(placeholder)
    text.setAccessibleName(name)
    return text


PASTE_SIZE = QSize(620, 420)
INPUTS_WIDTH = 460
MAX_TAKEN = 100_000  # characters of the clipboard, without being asked
EXAMPLE = """{
  "mcpServers": {
    "time": {"command": "uvx", "args": ["mcp-server-time"]}
  }
}"""


class PasteDialog(QDialog):
    """Says what is in the text while it is typed or pasted."""

    given = Signal(object)  # list of ServerConfig

    def __init__(
        self, read: Callable[[str], Sequence[ServerConfig]], parent: QWidget, drafts: Drafts | None = None
    ) -> None:
        """`drafts` keep what is typed."""
        super().__init__(parent)
        self._read = read
        self._found: Sequence[ServerConfig] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Paste mcp.json"))
        resize_to_fit(self, PASTE_SIZE)
        words = PlainLabel(
            tr("As Claude Desktop, LM Studio and VS Code write it. Nothing starts before you confirm it."),
            self,
            tone="muted",
            wraps=True,
        )
        self.text = QPlainTextEdit(self)
        self.text.setFont(code_font(-1))
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText(EXAMPLE)
        self.text.setAccessibleName(tr("mcp.json"))
        self.verdict = PlainLabel(parent=self, wraps=True)
        self.add = dialog_button(tr("Add"), self._on_add, self, is_default=True)
        foot = hbox(STRETCH, dialog_button(tr("Cancel"), self.reject, self), self.add)
        vbox(words, (self.text, 1), self.verdict, foot, on=self, margins=20, spacing=10)
        self.text.textChanged.connect(self._look)
        self._kept = KeptText(self.text, drafts or Drafts(), ("", "mcp.json"))
        pasted = QGuiApplication.clipboard().text()
        if len(pasted) < MAX_TAKEN and ('"mcpServers"' in pasted or '"servers"' in pasted):
            self.text.setPlainText(pasted)
        self._look()

    def _look(self) -> None:
        self._found, problem, text = (), "", self.text.toPlainText()
        if text.strip():
            try:
                self._found = self._read(text)
            except InvalidRequestError as error:
                problem = tr_said(str(error))
        names = ", ".join(one_line(config.name) for config in self._found)
        number = len(self._found)
        said = tr_n("{n} server: {names}", "{n} servers: {names}", number, names=names) if number else problem
        self.verdict.setText(said)
        self.verdict.set_tone("danger" if problem else "muted")
        self.add.setEnabled(bool(self._found))

    def _on_add(self) -> None:
        self._kept.forget()
        self.given.emit(list(self._found))
        self.accept()


class InputsDialog(QDialog):
    """Asks for what VS Code would ask for: keys and other values that stand in no file."""

    given = Signal(object)  # list of ServerConfig, all filled

    def __init__(self, configs: Sequence[ServerConfig], parent: QWidget) -> None:
        super().__init__(parent)
        self._configs = configs
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Values for MCP servers"))
        self.fields: dict[str, QLineEdit] = {}
        inputs = {one.id: one for config in configs for one in config.inputs}
        parts: list[QWidget] = []
        for name, one in inputs.items():
            field = QLineEdit(self)
            field.setAccessibleName(one_line(one.description or name))
            if one.is_password:
                field.setEchoMode(QLineEdit.EchoMode.Password)
            field.textChanged.connect(self._show_state)
            self.fields[name] = field
            label = PlainLabel(one_line(one.description or name), self, wraps=True)
            label.setBuddy(field)
            parts += [label, field]
        self.add = dialog_button(tr("Add"), self._on_add, self, is_default=True)
        names = ", ".join(one_line(config.name) for config in configs)
        foot = hbox(STRETCH, dialog_button(tr("Cancel"), self.reject, self), self.add)
        title = heading(tr("Values for {names}", names=names), self, wraps=True)
        vbox(title, *parts, 8, foot, on=self, margins=20, spacing=6)
        self.setFixedWidth(INPUTS_WIDTH)
        self._show_state()

    def _show_state(self) -> None:
        self.add.setEnabled(all(field.text() for field in self.fields.values()))

    def _on_add(self) -> None:
        values = {name: field.text() for name, field in self.fields.items()}
        self.given.emit([config.filled(values) for config in self._configs])
        self.accept()
