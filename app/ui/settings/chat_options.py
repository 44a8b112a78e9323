"""Opens the settings of a chat, and applies the choices made there.

One panel for all tabs. GUI thread.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.bridge.chat_session import ChatSession
from app.bridge.engines import Engines
from app.bridge.parameters import inherited_sampling
from app.bridge.token_counter import TokenCounter
from app.chats.options import ChatOptions
from app.look.plain_text import one_line
from app.protocol.load import is_elsewhere
from app.services.form_check import FormCheck
from app.services.preferences import Preferences
from app.services.presets import Presets
from app.ui.base.notices import Notices, UndoToast
from app.ui.settings.panel_of_chat import PanelOfChat
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from app.ui.settings.chat_settings import ChatSettings
    from app.ui.tabs.chat_view import ChatView


class ChatOptionsPanel(PanelOfChat["ChatSettings"]):
    def __init__(
        self,
        tabs: ChatTabs,
        presets: Presets,
        counter: TokenCounter,
        engine: Engines,
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

        panel = ChatSettings(self._check, self._presets, self._undo, self._window)
        panel.changed.connect(self._on_changed)
        panel.tools_requested.connect(self._on_tools_requested)
        return panel

    @property
    def _session(self) -> ChatSession | None:
        return self._view.session if self._view else None

    def _fill(self) -> None:
        self._presets.load()
        if session := self._session:
            self.panel.form.begin(session.drafts, session.chat.id)
        self._show()

    # What the panel shows

    def _show(self) -> None:
        view, session = self._view, self._session
        if view is None or session is None:
            return
        from app.ui.settings.chat_settings import Inherited

        options = ChatOptions.of(session.chat)
        model = self._engine.model
        is_foreign = model.is_foreign if model else is_elsewhere(session.address)
        inherited = Inherited(
            inherited_sampling(self._settings, model, is_foreign=is_foreign),
            one_line(model.name) if model else "",
            self._settings.max_tokens,
            view.composer.settings.limit,
        )
        self.panel.apply(options, inherited)
        self.panel.presets.apply(session.chat.id, options)
        self._counter.count([options.system_prompt])
        self._show_tokens()

    def _show_tokens(self) -> None:
        if session := self._session:
            self.panel.show_prompt_tokens(self._counter.num_tokens(session.chat.system_prompt))

    # What is chosen in it

    def _on_changed(self, options: ChatOptions) -> None:
        if session := self._session:
            options.apply_to(session.chat)
            session.emit_settings_changed()
            self._show()

    def _on_view_made(self, view: ChatView) -> None:
        view.composer.settings.requested.connect(partial(self.open_for, view))

    def _on_tools_requested(self) -> None:
        if view := self._view:
            self.panel.close_up()
            view.composer.tools.open_tools()
