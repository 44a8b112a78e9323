"""Opens the settings of a chat, applies the choices made there, and handles presets.

One panel for all tabs. GUI thread.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.bridge.active_engine import ActiveEngine
from app.bridge.chat_session import ChatSession
from app.bridge.parameters import inherited_sampling
from app.bridge.token_counter import TokenCounter
from app.chats.exports.files import ExportForm, file_name
from app.chats.options import ChatOptions
from app.chats.presets import Preset
from app.look.file_dialog import SAVED, choose_files, file_dialog
from app.look.plain_text import one_line
from app.look.words import mark, tr
from app.services.form_check import FormCheck
from app.services.preferences import Preferences
from app.services.presets import Presets
from app.ui.base.notices import Notices, UndoToast
from app.ui.settings.panel_of_chat import PanelOfChat
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from app.ui.settings.chat_settings import ChatSettings
    from app.ui.settings.preset_bar import PresetBar
    from app.ui.tabs.chat_view import ChatView

FILTER = mark("Presets (*.json)")


class ChatOptionsPanel(PanelOfChat["ChatSettings"]):
    def __init__(
        self,
        tabs: ChatTabs,
        presets: Presets,
        counter: TokenCounter,
        engine: ActiveEngine,
        preferences: Preferences,
        check: FormCheck,
        notices: Notices,
        undo: UndoToast,
        parent: QWidget,
    ) -> None:
        super().__init__(tabs, parent)
        self._presets = presets
        self._engine = engine
        self._settings = preferences.settings
        self._undo = undo
        self._followed: dict[str, str] = {}  # by chat id: the preset applied last
        self._folder = Path.home()
        self._counter = counter
        self._check = check
        self._connect(preferences, notices)

    def _connect(self, preferences: Preferences, notices: Notices) -> None:
        preferences.changed.connect(lambda _name: self._show())
        self._tabs.view_made.connect(self._on_view_made)
        self._engine.loaded.connect(lambda _model: self._show())
        self._counter.counted.connect(self._show_tokens)
        self._presets.changed.connect(self._show)
        self._presets.failed.connect(notices.show_error)

    def _new_panel(self) -> ChatSettings:
        from app.ui.settings.chat_settings import ChatSettings

        panel = ChatSettings(self._check, self._window)
        panel.changed.connect(self._on_changed)
        panel.tools_requested.connect(self._on_tools_requested)
        self._connect_presets(panel.presets)
        return panel

    def _connect_presets(self, bar: PresetBar) -> None:
        bar.chosen.connect(self._on_preset_chosen)
        bar.save_requested.connect(self._on_save_requested)
        bar.update_requested.connect(self._on_update_requested)
        bar.rename_requested.connect(self._presets.rename)
        bar.delete_requested.connect(self._on_delete_requested)
        bar.default_chosen.connect(self._presets.set_default)
        bar.import_requested.connect(self._choose_import)
        bar.export_requested.connect(self._choose_export)

    @property
    def _session(self) -> ChatSession | None:
        return self._view.session if self._view else None

    def _fill(self) -> None:
        self._presets.load()
        self._show()

    # What the panel shows

    def _show(self) -> None:
        view, session = self._view, self._session
        if view is None or session is None:
            return
        from app.ui.settings.chat_settings import Inherited

        options = ChatOptions.of(session.chat)
        model = self._engine.model
        inherited = Inherited(
            inherited_sampling(self._settings, model),
            one_line(model.name) if model else "",
            self._settings.max_tokens,
            view.composer.settings.limit,
        )
        self.panel.apply(options, inherited)
        self._show_presets(session, options)
        self._counter.count([options.system_prompt])
        self._show_tokens()

    def _show_presets(self, session: ChatSession, options: ChatOptions) -> None:
        presets = self._presets.all
        same = self._presets.file_of(options)
        followed = same or self._followed.get(session.chat.id, "")
        names = {file: preset.name for file, preset in presets.items()}
        self.panel.presets.apply(names, followed, not same, self._presets.default_file)

    def _show_tokens(self) -> None:
        if session := self._session:
            self.panel.show_prompt_tokens(self._counter.num_tokens(session.chat.system_prompt))

    # What is chosen in it

    def _on_changed(self, options: ChatOptions) -> None:
        if session := self._session:
            options.apply_to(session.chat)
            session.emit_settings_changed()
            self._show()

    def _on_preset_chosen(self, file: str) -> None:
        session, preset = self._session, self._presets.get(file)
        if session and preset:
            self._followed[session.chat.id] = file
            self._on_changed(preset.applied_to(ChatOptions.of(session.chat)))

    def _on_save_requested(self, name: str) -> None:
        if session := self._session:
            self._presets.save(_preset(name, session))

    def _on_update_requested(self, file: str) -> None:
        session, preset = self._session, self._presets.get(file)
        if session and preset:
            self._presets.save(_preset(preset.name, session), file)

    def _on_delete_requested(self, file: str) -> None:
        if preset := self._presets.delete(file):
            text = tr("Deleted the preset “{name}”.", name=one_line(preset.name))
            self._undo.offer(text, partial(self._presets.save, preset, file))

    def _choose_import(self) -> None:
        title = tr("Import a preset")
        choose_files(self._window, title, self._on_import_chosen, tr(FILTER), folder=self._folder)

    def _on_import_chosen(self, files: list[Path]) -> None:
        for file in files:
            self._folder = file.parent
            self._presets.import_file(file)

    def _choose_export(self, file: str) -> None:
        preset = self._presets.get(file)
        if preset is None:
            return
        dialog = file_dialog(self._window, tr("Export a preset"), SAVED, tr(FILTER), folder=self._folder)
        dialog.setDefaultSuffix(ExportForm.JSON)
        dialog.selectFile(file_name(preset.name, ExportForm.JSON))
        dialog.fileSelected.connect(lambda name: self._presets.export_file(file, Path(name)))
        dialog.open()

    def _on_view_made(self, view: ChatView) -> None:
        view.composer.settings.requested.connect(partial(self.open_for, view))

    def _on_tools_requested(self) -> None:
        if view := self._view:
            self.panel.close_up()
            view.composer.tools.open_tools()


def _preset(name: str, session: ChatSession) -> Preset:
    options = ChatOptions.of(session.chat)
    return Preset(name, replace(options, max_context_tokens=0))
