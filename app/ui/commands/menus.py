"""All commands of the window and their menus. A new command is a line here.

Only creates the actions; the window's parts implement them. GUI thread.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.bridge.active_engine import ActiveEngine
from app.bridge.workspace import Workspace
from app.inspector.docks import InspectorDocks
from app.inspector.sequences import SequencesPanel
from app.look.words import tr
from app.protocol.commands import AbortAll
from app.services.preferences import Preferences
from app.ui.base.actions import Shortcut, add_menu, make_action, radio_menu, submenu, tick
from app.ui.base.choices import SPEEDS, THEMES
from app.ui.base.help_commands import HelpCommands
from app.ui.base.panes import Panes
from app.ui.commands import menu_titles
from app.ui.commands.edit_actions import edit_actions
from app.ui.engine.model_loading import ModelLoading
from app.ui.engine.pausing import Pausing
from app.ui.settings.appearance import Appearance
from app.ui.settings.languages import Languages
from app.ui.tabs.chat_commands import ChatCommands
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.tabs.message_menu import MessageMenu
from app.ui.tabs.tabs_menu import tabs_menu

Key = QKeySequence.StandardKey


@dataclass(frozen=True, slots=True)
class Parts:
    """What the commands act on."""

    workspace: Workspace
    engine: ActiveEngine
    preferences: Preferences
    tabs: ChatTabs
    chats: ChatCommands
    models: ModelLoading
    appearance: Appearance
    languages: Languages
    inspector: InspectorDocks
    pausing: Pausing
    panes: Panes
    help: HelpCommands
    quit: Callable[[], object]
    show_settings: Callable[..., object]  # takes the name of a page, or nothing
    show_load_settings: Callable[[], object]  # of the model that is open
    show_palette: Callable[[], object]


class Menus(QObject):
    """Its attributes are menus that others extend, and actions whose state changes."""

    def __init__(self, window: QMainWindow, parts: Parts) -> None:
        super().__init__(window)
        self._window = window
        self._parts = parts
        self._bar = window.menuBar()
        self._bar.clear()  # of the titles that stood there alone
        self._make_file_menu()
        self._make_edit_menu()
        self._make_view_menu()
        self._make_chat_menu()
        self._make_model_menu()
        self._make_tools_menu()
        self._make_help_menu()
        parts.preferences.changed.connect(self._on_setting_changed)

    def _add(self, title: str, *actions: QAction | QMenu | None) -> QMenu:
        return add_menu(self._bar, title, *actions)

    def _action(
        self,
        name: str,
        text: str,
        tip: str,
        on_triggered: Callable[[], object],
        *keys: Shortcut,
        needs: str = "",
    ) -> QAction:
        return make_action(self._window, name, text, tip, on_triggered, *keys, needs=needs)

    # File

    def _make_file_menu(self) -> None:
        parts, new = self._parts, self._action
        self.reopen = new(
            "chat.reopen",
            tr("&Reopen closed chat"),
            tr("Bring back the tab closed last"),
            parts.workspace.reopen,
            "Ctrl+Shift+T",
            needs=tr("No chat was closed."),
        )
        quit_skein = new("app.quit", tr("&Quit"), tr("Save everything and quit"), parts.quit, "Ctrl+Q")
        quit_skein.setMenuRole(QAction.MenuRole.QuitRole)
        self.file = self._add(
            tr(menu_titles.FILE),
            new(
                "chat.new",
                tr("&New chat"),
                tr("Open a new chat in a new tab"),
                parts.workspace.new_chat,
                "Ctrl+T",
                "Ctrl+N",
            ),
            self.reopen,
            None,
            new(
                "chat.close",
                tr("&Close chat"),
                tr("Close this tab; it can be reopened"),
                parts.tabs.close_current,
                "Ctrl+W",
            ),
            quit_skein,
        )

    # Edit

    def _make_edit_menu(self) -> None:
        chats, new = self._parts.chats, self._action
        needs = tr("This chat is empty.")
        self.find = new(
            "chat.find",
            tr("&Find in chat…"),
            tr("Find words in this chat"),
            chats.find,
            Key.Find,
            needs=needs,
        )
        self.find_again = (
            new(
                "chat.find-next",
                tr("Find &next"),
                tr("Go to the next place with these words"),
                partial(chats.find_next, 1),
                Key.FindNext,
                needs=needs,
            ),
            new(
                "chat.find-previous",
                tr("Find pre&vious"),
                tr("Go to the place before with these words"),
                partial(chats.find_next, -1),
                Key.FindPrevious,
                needs=needs,
            ),
        )
        self.edit = self._add(
            tr(menu_titles.EDIT),
            *edit_actions(self._window),
            None,
            self.find,
            *self.find_again,
            None,
            self._settings(),
        )

    def _settings(self) -> QAction:
        settings = self._action(
            "app.settings",
            tr("&Settings…"),
            tr("Everything that can be chosen, with a search"),
            self._parts.show_settings,
            "Ctrl+,",
        )
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        return settings

    # View

    def _make_view_menu(self) -> None:
        parts, new = self._parts, self._action
        self.inspector = parts.inspector.menu(self._window)
        self._add_sequence_menu()
        self.themes = radio_menu(
            self._window,
            "theme",
            tr("&Theme"),
            THEMES,
            parts.preferences.settings.theme,
            parts.appearance.choose_theme,
        )
        self.full_screen = new(
            "view.full-screen",
            tr("F&ull screen"),
            tr("Use the whole screen, or go back"),
            self._toggle_full_screen,
            Key.FullScreen if QKeySequence.keyBindings(Key.FullScreen) else "F11",
        )
        self.full_screen.setCheckable(True)
        self.view = self._add(
            tr(menu_titles.VIEW),
            new(
                "view.palette",
                tr("&Command palette…"),
                tr("Find a command, a chat or a setting by its name"),
                parts.show_palette,
                "Ctrl+Shift+P",
            ),
            None,
            self.inspector,
            None,
            self.themes,
            self._text_size_menu(),
            parts.languages.menu,
            self.full_screen,
            None,
            new(
                "view.next-pane",
                tr("Next &pane"),
                tr("Move the focus to the next pane"),
                partial(parts.panes.cycle, 1),
                "F6",
            ),
            new(
                "view.previous-pane",
                tr("Previous p&ane"),
                tr("Move the focus to the pane before"),
                partial(parts.panes.cycle, -1),
                "Shift+F6",
            ),
        )

    def _add_sequence_menu(self) -> None:
        """The actions of the table of sequences on its selected row."""
        panel = self._parts.inspector.panel(SequencesPanel.NAME)
        assert isinstance(panel, SequencesPanel)
        for action in panel.row_actions:
            action.setProperty("needs", tr("Choose a sequence in the inspector that this can be done with."))
        self.inspector.addSeparator()
        self.inspector.addMenu(submenu(self._window, tr("Chosen &sequence"), *panel.row_actions))

    def _text_size_menu(self) -> QMenu:
        look, new = self._parts.appearance, self._action
        return submenu(
            self._window,
            tr("Text si&ze"),
            new(
                "view.zoom-in",
                tr("&Larger"),
                tr("Larger text"),
                partial(look.zoom_by, 1),
                Key.ZoomIn,
                "Ctrl+=",
            ),
            new("view.zoom-out", tr("&Smaller"), tr("Smaller text"), partial(look.zoom_by, -1), Key.ZoomOut),
            new(
                "view.zoom-reset",
                tr("&Usual size"),
                tr("Text at its usual size"),
                partial(look.set_zoom, 0),
                "Ctrl+0",
            ),
        )

    def _toggle_full_screen(self) -> None:
        """A maximised window is maximised again afterwards."""
        self._window.setWindowState(self._window.windowState() ^ Qt.WindowState.WindowFullScreen)
        self.full_screen.setChecked(self._window.isFullScreen())

    # Chat

    def _make_chat_menu(self) -> None:
        parts, new = self._parts, self._action
        self.message = MessageMenu(parts.chats, self._window)
        self.stop = new(
            "chat.stop",
            tr("&Stop answer"),
            tr("Stop the answer in this tab, else the loading of a model"),
            self._stop,
            "Esc",
            needs=tr("No answer is being written in this tab."),
        )
        self.copy_answer = new(
            "chat.copy-answer",
            tr("&Copy last answer"),
            tr("Copy the last answer as Markdown"),
            parts.chats.copy_last_answer,
            "Ctrl+Shift+C",
            needs=tr("There is no answer yet."),
        )
        self.tokens = new(
            "chat.tokens",
            tr("Token &probabilities"),
            tr("Show what else the last answer could have said"),
            parts.chats.show_tokens,
            "Ctrl+Alt+P",
            needs=tr("There is no answer yet."),
        )
        self.chat = self._add(
            tr(menu_titles.CHAT),
            self.stop,
            self.copy_answer,
            self.tokens,
            self.message.menu,
            None,
            new(
                "chat.attach",
                tr("&Attach files…"),
                tr("Put the text of files into the next message"),
                parts.chats.attach,
                "Ctrl+Shift+A",
            ),
            new(
                "chat.fork",
                tr("&Fork chat"),
                tr("Go on in a copy of this chat"),
                parts.tabs.fork_current,
                "Ctrl+Shift+K",
            ),
            new(
                "chat.settings",
                tr("Chat s&ettings…"),
                tr("How long this chat may get, and what becomes of it then"),
                parts.tabs.open_chat_settings,
                "Ctrl+Shift+L",
            ),
            None,
            tabs_menu(parts.tabs, self._window),
        )

    def _stop(self) -> None:
        """Stops the shown answer first."""
        if self._parts.chats.is_busy:
            self._parts.chats.stop()
        else:
            self._parts.models.cancel()

    def show_chat_state(self) -> None:
        """Another chat is shown, or something in it has changed."""
        is_loading = self._parts.models.is_loading
        self.stop.setEnabled(self._parts.chats.is_busy or is_loading)
        self.cancel_load.setEnabled(is_loading)
        for action in (self.copy_answer, self.tokens, self.find, *self.find_again):
            action.setEnabled(self._parts.chats.has_turns)
        self.reopen.setEnabled(self._parts.workspace.can_reopen)
        self.message.show_states()

    # Model

    def _make_model_menu(self) -> None:
        parts, new = self._parts, self._action
        self.reload = new(
            "model.reload",
            tr("Re&load model"),
            tr("Load the same file again, with empty memory"),
            parts.models.reload,
            needs=tr("No model was opened."),
        )
        self.cancel_load = new(
            "model.cancel-load",
            tr("&Cancel loading"),
            tr("Stop loading a model; the one that answers now stays"),
            parts.models.cancel,
            needs=tr("No model is being loaded."),
        )
        self.sleep = new(
            "model.sleep",
            tr("Put to &sleep"),
            tr("The model gives its memory back, and comes back with the next message"),
            parts.engine.sleep,
            needs=tr("No model is loaded, or it is answering."),
        )
        self.load_settings = new(
            "model.load-settings",
            tr("&How this model is loaded…"),
            tr("Context, speed and memory of the model that is open"),
            parts.show_load_settings,
            needs=tr("No model was opened."),
        )
        self.stop_all = new(
            "engine.stop-all",
            tr("Stop &all answers"),
            tr("Stop the answers of all chats"),
            partial(parts.engine.post, AbortAll()),
            "Shift+Esc",
            needs=tr("No answer is being written."),
        )
        self.speeds = radio_menu(
            self._window,
            "speed",
            tr("Spee&d"),
            SPEEDS,
            parts.preferences.settings.speed,
            partial(parts.preferences.set, "speed"),
        )
        steps = parts.pausing.actions
        steps.pause.setProperty("needs", tr("No model is loaded, or all chats are paused already."))
        for action in (steps.resume, steps.step):
            action.setProperty("needs", tr("Pause all chats first."))
        self.model = self._add(
            tr(menu_titles.MODEL),
            new(
                "model.open",
                tr("&Open model…"),
                tr("Open a model from a GGUF file"),
                parts.models.choose,
                "Ctrl+O",
            ),
            self.load_settings,
            self.reload,
            self.cancel_load,
            self.sleep,
            None,
            self.speeds,
            self.stop_all,
            None,
            *steps.all,
            None,
            new(
                "engine.settings",
                tr("&Engine settings…"),
                tr("Threads, and what goes first"),
                partial(parts.show_settings, "engine"),
            ),
            new(
                "context.settings",
                tr("Conte&xt settings…"),
                tr("Tokens for all chats together, slots, and the longest chat"),
                partial(parts.show_settings, "context"),
            ),
        )

    # Tools and Help

    def _make_tools_menu(self) -> None:
        """The local API and the self-test add their own entries."""
        self.tools = self._add(tr(menu_titles.TOOLS))

    def _make_help_menu(self) -> None:
        parts, new = self._parts, self._action
        about = new(
            "app.about", tr("&About Skein"), tr("Version, diagnostics and licences"), parts.help.show_about
        )
        about.setMenuRole(QAction.MenuRole.AboutRole)
        self.help = self._add(
            tr(menu_titles.HELP),
            new(
                "help.shortcuts",
                tr("&Keyboard shortcuts"),
                tr("All keys on one page"),
                partial(parts.show_settings, "shortcuts"),
                Key.HelpContents,
                "Ctrl+/",
            ),
            None,
            new(
                "help.log",
                tr("L&og…"),
                tr("Show what Skein has done since it was started"),
                parts.help.show_log,
            ),
            new(
                "help.data-folder",
                tr("Open &data folder"),
                tr("Show the folder with the chats in the file browser"),
                parts.help.open_data_folder,
            ),
            new(
                "help.log-folder",
                tr("Open &log folder"),
                tr("Show the folder with the logs in the file browser"),
                parts.help.open_log_folder,
            ),
            None,
            about,
        )

    def _on_setting_changed(self, name: str) -> None:
        settings = self._parts.preferences.settings
        if name == "theme":
            tick(self.themes, settings.theme)
        elif name == "speed":
            tick(self.speeds, settings.speed)
