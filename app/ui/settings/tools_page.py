"""The page of the settings about tools: the built-in ones, the user's MCP servers, and what they may do.

GUI thread.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app.look.buttons import IconButton, dialog_button
from app.look.file_dialog import choose_file, choose_folder
from app.look.fonts import small_font
from app.look.layouts import STRETCH, FlowLayout, drop, hbox, vbox
from app.look.plain_text import ElidedLabel, PlainLabel, heading, one_line, short_path
from app.look.strip import Offer, Strip, StripLook
from app.look.words import tr, tr_said
from app.protocol.errors import InvalidRequestError
from app.services.preferences import Preferences
from app.services.tools import ServerState, ToolService
from app.tools.server_config import ServerConfig
from app.ui.base.hidden_characters import num_hidden
from app.ui.base.keyboard import chain_down
from app.ui.base.notices import UNDO_FOR_MS
from app.ui.settings.server_dialog import InputsDialog, PasteDialog, ServerDialog
from app.ui.settings.server_row import ApprovalRow, ServerLog, ServerRow

SIDE = 26
MAX_FILE_BYTES = 1 << 20


class ToolsPage(QWidget):
    def __init__(self, service: ToolService, preferences: Preferences, parent: QWidget) -> None:
        super().__init__(parent)
        self._service = service
        self._preferences = preferences
        self.built_in: dict[str, ApprovalRow] = {}
        self.folders: dict[Path, QWidget] = {}
        self.models: dict[str, QWidget] = {}
        self.servers: dict[str, ServerRow] = {}
        self.problem = PlainLabel(parent=self, tone="danger", wraps=True)
        self.undo = Strip(StripLook((0, 0, 0, 0)), self)
        self._nothing = PlainLabel(
            tr("None yet. Add one, or paste the mcp.json of another program."), self, tone="muted", wraps=True
        )
        self.add = dialog_button(tr("Add server…"), self._add, self)
        self.paste = dialog_button(tr("Paste mcp.json…"), self._paste, self)
        self.import_ = dialog_button(tr("Import from file…"), self._choose_file, self)
        self._lay_out()
        self._connect()
        self._show()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes down the page, whatever the order in which servers came."""
        chain_down(self)
        return super().focusNextPrevChild(forward)

    # What is there

    @Slot()
    def _show(self) -> None:
        service = self._service
        self._show_built_in()
        self._show_folders()
        self._show_models()
        states = {state.name: state for state in service.servers}
        for name in [name for name in self.servers if name not in states]:
            drop(self.servers.pop(name))
        for name, state in states.items():
            if name not in self.servers:
                self.servers[name] = self._new_row(state)
            self.servers[name].apply(state)
        self._nothing.setVisible(not states)

    def _show_built_in(self) -> None:
        tools = self._service.built_in
        for key in [key for key in self.built_in if key not in {tool.key for tool in tools}]:
            drop(self.built_in.pop(key))
        for tool in tools:
            if tool.key not in self.built_in:
                self.built_in[tool.key] = ApprovalRow(tool, self._service, self)
                self._built_in_column.addWidget(self.built_in[tool.key])
            self.built_in[tool.key].apply(tool)

    def _show_folders(self) -> None:
        wanted = list(self._preferences.settings.tool_folders)
        for folder in [folder for folder in self.folders if folder not in wanted]:
            drop(self.folders.pop(folder))
        for folder in wanted:
            if folder not in self.folders:
                self.folders[folder] = line = self._line(short_path(folder), partial(self._leave_out, folder))
                self._folder_column.addWidget(line)

    def _line(self, name: str, remove: Callable[[], object]) -> QWidget:
        line = QWidget(self)
        button = IconButton("x", tr("Remove {name}", name=name), SIDE, line, icon_side=14)
        button.clicked.connect(lambda: remove())
        hbox((ElidedLabel(name, line), 1), button, on=line)
        return line

    def _leave_out(self, folder: Path) -> None:
        self._set_folders([one for one in self.folders if one != folder])

    def _set_folders(self, folders: Sequence[Path]) -> None:
        self._preferences.set("tool_folders", list(dict.fromkeys(folders)))
        self._show()

    def _show_models(self) -> None:
        wanted = self._preferences.settings.models_calling_in_text
        for model in [model for model in self.models if model not in wanted]:
            drop(self.models.pop(model))
        for model in wanted:
            if model not in self.models:
                self.models[model] = line = self._line(model, partial(self._forget_model, model))
                self._model_column.addWidget(line)
        self._models.setVisible(bool(wanted))

    def _forget_model(self, model: str) -> None:
        self._preferences.set("models_calling_in_text", [one for one in self.models if one != model])
        self._show()

    def _choose_folder(self) -> None:
        choose_folder(self, tr("Folder that tools may read"), self._add_folder)

    def _add_folder(self, folder: Path) -> None:
        self._set_folders([*self.folders, folder])

    def _new_row(self, state: ServerState) -> ServerRow:
        row = ServerRow(state.name, self._service, self)
        row.log_requested.connect(partial(self._show_log, state.name))
        row.change_requested.connect(partial(self._change, state.name))
        row.removed.connect(partial(self._remove, state.name))
        self._server_column.addWidget(row)
        return row

    # What is done

    def _add(self) -> None:
        dialog = ServerDialog(self, None, tuple(self.servers), self._service.drafts)
        dialog.given.connect(lambda config: self._add_config(config, trusted=_is_as_typed(config)))
        dialog.open()

    def _change(self, name: str) -> None:
        """What was confirmed stays so when the user changes it."""
        others, state = [other for other in self.servers if other != name], self._state(name)
        dialog = ServerDialog(self, state.config, others, self._service.drafts)
        dialog.given.connect(
            lambda config: self._service.change(
                name, config, trusted=state.is_trusted and _is_as_typed(config)
            )
        )
        dialog.open()

    def _paste(self) -> None:
        dialog = PasteDialog(self._service.import_text, self, self._service.drafts)
        dialog.given.connect(self._take)
        dialog.open()

    def _choose_file(self) -> None:
        choose_file(self, tr("Import MCP servers"), self.import_file, tr("MCP servers (*.json)"))

    def import_file(self, path: Path) -> None:
        """The file is small; a larger one is none of these."""
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                raise InvalidRequestError(tr("{name} is too large.", name=one_line(path.name)))
            configs = self._service.import_text(path.read_text(encoding="utf-8-sig", errors="replace"))
        except OSError as error:
            self._say(tr("{name} cannot be read: {reason}.", name=one_line(path.name), reason=error.strerror))
        except InvalidRequestError as error:
            self._say(tr_said(str(error)))
        else:
            self._take(configs)

    def _take(self, configs: Sequence[ServerConfig]) -> None:
        """None starts before the user has seen its command line. Values that are missing are asked for."""
        self._say("")
        unfilled = [config for config in configs if config.inputs]
        for config in configs:
            if not config.inputs:
                self._add_config(config)
        if unfilled:
            dialog = InputsDialog(unfilled, self)
            dialog.given.connect(self._take)
            dialog.open()

    def _add_config(self, config: ServerConfig, *, trusted: bool = False) -> None:
        try:
            name = self._service.add(config, trusted=trusted)
        except InvalidRequestError as error:
            self._say(tr_said(str(error)))
            return
        self._show()
        if name in self.servers:
            self.servers[name].focus_question()

    def _remove(self, name: str) -> None:
        """Can be undone for ten seconds."""
        state = self._state(name)
        self._service.remove(name)
        self._show()
        put_back = partial(self._add_config, state.config, trusted=state.is_trusted)
        text = tr("Removed “{name}”.", name=one_line(name))
        self.undo.say(text, Offer(tr("Undo"), put_back), lasts_ms=UNDO_FOR_MS)
        self.undo.buttons[0].setFocus()

    def _show_log(self, name: str) -> None:
        ServerLog(name, partial(self._state, name), self._service, self).open()

    def _state(self, name: str) -> ServerState:
        return next(state for state in self._service.servers if state.name == name)

    def _say(self, problem: str) -> None:
        self.problem.say(problem)

    def _connect(self) -> None:
        self._service.changed.connect(self._show)
        self._service.failed.connect(lambda sentence: self._say(tr_said(sentence)))

    def _lay_out(self) -> None:
        self._built_in_column, self._folder_column = vbox(spacing=0), vbox(spacing=0)
        self._server_column = vbox(spacing=0)
        buttons = QWidget(self)
        FlowLayout(buttons, 8, self.add, self.paste, self.import_)
        self._models, self._model_column = QWidget(self), vbox(spacing=0)
        vbox(
            heading(tr("Models that write calls as text"), self._models),
            _note(tr("What they write as a call of a tool is treated as one."), self._models),
            self._model_column,
            on=self._models,
            margins=(0, 16, 0, 0),
            spacing=8,
        )
        add_folder = dialog_button(tr("Add folder…"), self._choose_folder, self)
        vbox(
            heading(tr("MCP servers"), self),
            _note(tr("Programs and services that provide tools. Each chat chooses which it uses."), self),
            self._server_column,
            self._nothing,
            self.problem,
            self.undo,
            buttons,
            16,
            heading(tr("Built-in tools"), self),
            self._built_in_column,
            8,
            heading(tr("Folders for the file tools"), self),
            _note(tr("Tools may read files below these folders, and nothing else."), self),
            self._folder_column,
            hbox(add_folder, STRETCH),
            self._models,
            16,
            heading(tr("Limits"), self),
            STRETCH,
            on=self,
            margins=(0, 12, 0, 0),
            spacing=8,
        )
        self.problem.hide()


def _note(text: str, parent: QWidget) -> PlainLabel:
    note = PlainLabel(text, parent, tone="muted", wraps=True)
    note.setFont(small_font())
    return note


def _is_as_typed(config: ServerConfig) -> bool:
    """The user has seen all of the command line in the form: it hides no characters."""
    return not num_hidden(config.command_line)
