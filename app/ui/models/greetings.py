"""Shows in every empty chat who answers, and what can be done about it. GUI thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.services.model_state import ModelWatch
from app.services.services import Services
from app.ui.engine.model_loading import ModelLoading
from app.ui.models.model_commands import ModelCommands
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.transcript.empty_chat import EmptyChat, Greeting, Primary, greeting

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView


class Greetings(QObject):
    def __init__(
        self,
        services: Services,
        watch: ModelWatch,
        models: ModelLoading,
        commands: ModelCommands,
        tabs: ChatTabs,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._watch = watch
        self._library = services.model_library
        self._hub = services.hub
        self._models = models
        self._commands = commands
        self._tabs = tabs
        self._shown = self._now()
        watch.changed.connect(self._on_changed)
        self._library.changed.connect(self._show)
        self._hub.measured.connect(self._show)
        tabs.view_made.connect(self._on_view_made)

    @Slot()
    def _on_changed(self) -> None:
        greeting, _ = self._now()
        if self._watch.state.model and greeting.primary is Primary.GET_MODEL and not self._hub.free_bytes:
            self._hub.measure()
        self._show()

    @Slot(object)
    def _on_view_made(self, view: ChatView) -> None:
        view.composer.models_requested.connect(self._commands.show_hub)
        view.empty_made.connect(self._on_empty_made)
        if view.made_empty:
            self._on_empty_made(view.made_empty)

    @Slot(object)
    def _on_empty_made(self, empty: EmptyChat) -> None:
        empty.model_requested.connect(self._commands.show_hub)
        empty.offers.open_requested.connect(self._models.choose)
        empty.offers.library_requested.connect(self._commands.show_library)
        self._greet_in(empty)

    @Slot()
    def _show(self) -> None:
        """In all views, if anything is new: the progress of a load is not."""
        before, self._shown = self._shown, self._now()
        if self._shown != before:
            for view in self._tabs.views:
                if view.made_empty:
                    self._greet_in(view.made_empty)

    def _greet_in(self, empty: EmptyChat) -> None:
        empty.apply(*self._shown)

    def _now(self) -> tuple[Greeting, int]:
        return greeting(self._watch.state, self._hub.free_bytes), self._library.num_of_others
