"""Every command of the window, and the menu it stands in. A new command is a line here.

Makes the actions and nothing else: what they do is done by the parts of the window. GUI thread.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.bridge.active_engine import ActiveEngine
from app.bridge.preferences import Preferences
from app.bridge.workspace import Workspace
from app.inspector.docks import InspectorDocks
from app.look.words import tr
from app.ui.actions import Shortcut, add_menu, make_action, radio_menu, submenu, tick
from app.ui.appearance import Appearance
from app.ui.chat_commands import ChatCommands
from app.ui.chat_tabs import ChatTabs
from app.ui.choices import SPEEDS, THEMES
from app.ui.edit_actions import edit_actions
from app.ui.help_commands import HelpCommands
from app.ui.model_loading import ModelLoading
from app.ui.panes import Panes
from app.ui.pausing import Pausing

Key = QKeySequence.StandardKey
NUM_NUMBERED_TABS = 9


@dataclass(frozen=True, slots=True)
class Parts:
    """What the commands are about."""

    workspace: Workspace
    engine: ActiveEngine
    preferences: Preferences
    tabs: ChatTabs
    chats: ChatCommands
    models: ModelLoading
    appearance: Appearance
    inspector: InspectorDocks
    pausing: Pausing
    panes: Panes
    help: HelpCommands
    quit: Callable[[], object]
    show_settings: Callable[[], object]
    show_engine_settings: Callable[[], object]
    show_shortcuts: Callable[[], object]
    show_palette: Callable[[], object]


class Menus(QObject):
    """Its attributes are the menus that others add to, and the actions whose state changes."""

    def __init__(self, window: QMainWindow, parts: Parts) -> None:
        super().__init__(window)
        self._window = window
        self._parts = parts
        self._bar = window.menuBar()
        self._make_file_menu()
        add_menu(self._bar, tr("&Edit"), *edit_actions(window), None, self._settings())
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
            tr("&File"),
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

    def _settings(self) -> QAction:
        settings = self._action(
            "app.settings",
            tr("Se&ttings…"),
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
            Key.FullScreen,
        )
        self.full_screen.setCheckable(True)
        self.view = self._add(
            tr("&View"),
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

    def _text_size_menu(self) -> QMenu:
        look, new = self._parts.appearance, self._action
        return submenu(
            self._window,
            tr("Text &size"),
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
        if self._window.isFullScreen():
            self._window.showNormal()
        else:
            self._window.showFullScreen()
        self.full_screen.setChecked(self._window.isFullScreen())

    # Chat

    def _make_chat_menu(self) -> None:
        parts, new = self._parts, self._action
        self.stop = new(
            "chat.stop",
            tr("&Stop answer"),
            tr("Stop the answer in this tab"),
            parts.chats.stop,
            "Esc",
            needs=tr("No answer is being written in this tab."),
        )
        self.chat = self._add(
            tr("&Chat"),
            self.stop,
            new(
                "chat.copy-answer",
                tr("&Copy last answer"),
                tr("Copy the last answer as Markdown"),
                parts.chats.copy_last_answer,
                "Ctrl+Shift+C",
            ),
            new(
                "chat.tokens",
                tr("Token &probabilities"),
                tr("Show what else the last answer could have said"),
                parts.chats.show_tokens,
                "Ctrl+Alt+P",
            ),
            None,
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
            self._tabs_menu(),
        )

    def _tabs_menu(self) -> QMenu:
        tabs, new = self._parts.tabs, self._action
        self.tabs = submenu(
            self._window,
            tr("&Tabs"),
            new(
                "tab.next",
                tr("&Next tab"),
                tr("Show the next tab"),
                partial(tabs.show_next, 1),
                "Ctrl+Tab",
                "Ctrl+PgDown",
            ),
            new(
                "tab.previous",
                tr("&Previous tab"),
                tr("Show the previous tab"),
                partial(tabs.show_next, -1),
                "Ctrl+Shift+Tab",
                "Ctrl+PgUp",
            ),
            None,
            *(self._numbered_tab(number) for number in range(1, NUM_NUMBERED_TABS + 1)),
        )
        return self.tabs

    def _numbered_tab(self, number: int) -> QAction:
        return self._action(
            f"tab.{number}",
            tr("Tab &{number}", number=number),
            tr("Show tab {number}", number=number),
            partial(self._parts.tabs.show_index, number - 1),
            f"Alt+{number}",
        )

    # Model

    def _make_model_menu(self) -> None:
        parts, new = self._parts, self._action
        self.reload = new(
            "model.reload",
            tr("&Reload model"),
            tr("Load the same file again, with empty memory"),
            parts.models.reload,
            needs=tr("No model was opened."),
        )
        self.stop_all = new(
            "engine.stop-all",
            tr("Stop &all answers"),
            tr("Stop the answers of all chats"),
            parts.engine.abort_all,
            "Shift+Esc",
            needs=tr("No answer is being written."),
        )
        self.speeds = radio_menu(
            self._window,
            "speed",
            tr("S&peed"),
            SPEEDS,
            parts.preferences.settings.speed,
            partial(parts.preferences.set, "speed"),
        )
        self.model = self._add(
            tr("&Model"),
            new(
                "model.open",
                tr("&Open model…"),
                tr("Open a model from a GGUF file"),
                parts.models.choose,
                "Ctrl+O",
            ),
            self.reload,
            None,
            self.speeds,
            self.stop_all,
            None,
            *parts.pausing.actions.all,
            None,
            new(
                "engine.settings",
                tr("&Engine settings…"),
                tr("Context, chats, threads and speed"),
                parts.show_engine_settings,
            ),
        )

    # Tools and Help

    def _make_tools_menu(self) -> None:
        """The local API and the self-test add themselves."""
        self.tools = self._add(tr("&Tools"))

    def _make_help_menu(self) -> None:
        parts, new = self._parts, self._action
        about = new("app.about", tr("&About Skein"), tr("Version and licences"), parts.help.show_about)
        about.setMenuRole(QAction.MenuRole.AboutRole)
        self.help = self._add(
            tr("&Help"),
            new(
                "help.shortcuts",
                tr("&Keyboard shortcuts"),
                tr("All keys on one page"),
                parts.show_shortcuts,
                Key.HelpContents,
                "Ctrl+/",
            ),
            None,
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
