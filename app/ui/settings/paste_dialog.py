"""Where an mcp.json is pasted, and where the values that it leaves out are given. GUI thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QWidget

from app.look.buttons import dialog_button
from app.look.fonts import code_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading, one_line
from app.look.popups import resize_to_fit
from app.look.words import tr, tr_n, tr_said
from app.protocol.errors import InvalidRequestError
from app.tools.server_config import ServerConfig

SIZE = QSize(620, 420)
WIDTH = 460
MAX_TAKEN = 100_000  # characters of the clipboard, without being asked
EXAMPLE = """{
  "mcpServers": {
    "time": {"command": "uvx", "args": ["mcp-server-time"]}
  }
}"""


class PasteDialog(QDialog):
    """Says what is in the text while it is typed or pasted."""

    given = Signal(object)  # list of ServerConfig

    def __init__(self, read: Callable[[str], Sequence[ServerConfig]], parent: QWidget) -> None:
        super().__init__(parent)
        self._read = read
        self._found: Sequence[ServerConfig] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Paste mcp.json"))
        resize_to_fit(self, SIZE)
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
        self.setFixedWidth(WIDTH)
        self._show_state()

    def _show_state(self) -> None:
        self.add.setEnabled(all(field.text() for field in self.fields.values()))

    def _on_add(self) -> None:
        values = {name: field.text() for name, field in self.fields.items()}
        self.given.emit([config.filled(values) for config in self._configs])
        self.accept()
