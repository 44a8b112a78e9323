"""The menus of the window. A new command is a line here, and one in app/ui/base/command_list.py.

Only creates the actions; the window's parts implement them. GUI thread.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QMetaObject, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QPlainTextEdit

from app.bridge.engines import Engines
from app.bridge.workspace import Workspace
from app.chats.tool_use import Decision
from app.inspector.docks import InspectorDocks
from app.inspector.sequences import SequencesPanel
from app.look.words import tr
from app.protocol.commands import AbortAll
from app.services.preferences import Preferences
from app.ui import frame
from app.ui.base.actions import add_menu, command, radio_menu, submenu, tick
from app.ui.base.command_list import Key, Shortcut
from app.ui.base.help_commands import HelpCommands
from app.ui.base.keyboard import Panes
from app.ui.base.notices import UndoToast
from app.ui.base.setting import SPEEDS, THEMES
from app.ui.chats.navigation import Navigation
from app.ui.data.backups import BackupsMenu
from app.ui.data.chat_files import ChatFiles
from app.ui.engine.api_menu import ApiMenu
from app.ui.engine.model_loading import ModelLoading
from app.ui.engine.model_picker import ModelPicker
from app.ui.engine.pausing import Pausing
from app.ui.engine.self_test import SelfTestMenu
from app.ui.models.model_commands import ModelCommands
from app.ui.projects.chat_projects import ChatProjects
from app.ui.settings.appearance import Appearance, Languages
from app.ui.shelves.chat_shelves import ChatShelves
from app.ui.tabs.chat_commands import ChatCommands
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.tabs.message_menu import MessageMenu
from app.ui.tabs.tab_commands import TabCommands
from app.ui.tabs.tabs_menu import tabs_menu

# Commands that call a slot of the widget with the focus. An empty one is a separator.
_EDITING = (
    ("edit.undo", "undo"),
    ("edit.redo", "redo"),
    ("", ""),
    ("edit.cut", "cut"),
    ("edit.copy", "copy"),
    ("edit.paste", "paste"),
    ("", ""),
    ("edit.select-all", "selectAll"),
)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the commands act on."""

    workspace: Workspace
    engine: Engines
    preferences: Preferences
    tabs: ChatTabs
    tab_commands: TabCommands
    chats: ChatCommands
    models: ModelLoading
    model_commands: ModelCommands
    picker: ModelPicker
    navigation: Navigation
    files: ChatFiles
    appearance: Appearance
    languages: Languages
    inspector: InspectorDocks
    pausing: Pausing
    api: ApiMenu
    backups: BackupsMenu
    self_test: SelfTestMenu
    shelves: ChatShelves
    projects: ChatProjects
    panes: Panes
    help: HelpCommands
    quit: Callable[[], object]
    show_settings: Callable[..., object]  # takes the name of a page, or nothing
    show_load_settings: Callable[[], object]  # of the model that is open
    show_rows: Callable[[], object]
    show_palette: Callable[[], object]
    undo: UndoToast


class Menus(QObject):
    """Its attributes are actions whose state changes, and their menus."""

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

    def _new(self, name: str, on_triggered: Callable[[], object], *keys: Shortcut) -> QAction:
        return command(self._window, name, on_triggered, *keys)

    # File and Edit

    def _make_file_menu(self) -> None:
        parts, new, tabs = self._parts, self._new, self._parts.tab_commands
        self.reopen = new("chat.reopen", parts.workspace.reopen)
        quit_skein = new("app.quit", parts.quit)
        quit_skein.setMenuRole(QAction.MenuRole.QuitRole)
        self._add(
            tr(frame.FILE),
            new("chat.new", parts.workspace.new_chat),
            new("chat.new-notebook", parts.workspace.new_notebook),
            new("chat.new-folder", parts.navigation.new_folder),
            self.reopen,
            None,
            new("chat.export", parts.files.export_current),
            new("chat.export-all", parts.files.export_all),
            new("chat.import", parts.files.import_files),
            new("chat.import-folder", parts.files.import_folder),
            None,
            new("chat.close", partial(tabs.on_current, tabs.close)),
            quit_skein,
        )

    def _make_edit_menu(self) -> None:
        chats, new = self._parts.chats, self._new
        self.find = new("chat.find", chats.find)
        self.find_again = (
            new("chat.find-next", partial(chats.find_next, 1)),
            new("chat.find-previous", partial(chats.find_next, -1)),
        )
        settings = new("app.settings", self._parts.show_settings)
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        slots = [new(name, partial(self._edit, slot)) if name else None for name, slot in _EDITING]
        found = (self.find, *self.find_again)
        self._add(tr(frame.EDIT), *slots, None, *found, None, settings)

    def _edit(self, slot: str) -> None:
        """Calls a slot of the widget with the focus. Undo may also bring back what was deleted or closed."""
        selection = self._parts.chats.selection if slot in ("copy", "selectAll") else None
        if selection is not None:
            selection.copy() if slot == "copy" else selection.select_all()
        elif not _call(slot) and slot == "undo":
            self._parts.undo.undo()

    # View

    def _make_view_menu(self) -> None:
        parts, new = self._parts, self._new
        self.inspector = parts.inspector.menu(self._window)
        self._add_sequence_menu()
        theme, choose_theme = parts.preferences.settings.theme, parts.appearance.choose_theme
        self.themes = radio_menu(self._window, "theme", tr("&Theme"), THEMES, theme, choose_theme)
        keys = Key.FullScreen if QKeySequence.keyBindings(Key.FullScreen) else "F11"
        self.full_screen = new("view.full-screen", self._toggle_full_screen, keys)
        self.full_screen.setCheckable(True)
        text_size = submenu(
            self._window,
            tr("Text si&ze"),
            new("view.zoom-in", partial(parts.appearance.zoom_by, 1)),
            new("view.zoom-out", partial(parts.appearance.zoom_by, -1)),
            new("view.zoom-reset", partial(parts.appearance.set_zoom, 0)),
        )
        self._add(
            tr(frame.VIEW),
            parts.navigation.show_sidebar,
            new("view.filter-chats", parts.navigation.focus_filter),
            new("chat.search", parts.navigation.open_search),
            None,
            new("view.palette", parts.show_palette),
            None,
            self.inspector,
            new("tab.split", parts.tab_commands.toggle_split),
            new("tab.other-side", parts.tab_commands.show_other_side),
            None,
            self.themes,
            text_size,
            parts.languages.menu,
            self.full_screen,
            None,
            new("view.next-pane", partial(parts.panes.cycle, 1)),
            new("view.previous-pane", partial(parts.panes.cycle, -1)),
        )

    def _add_sequence_menu(self) -> None:
        """The actions of the table of sequences on its selected row."""
        panel = self._parts.inspector.panel(SequencesPanel.NAME)
        assert isinstance(panel, SequencesPanel)
        for action in panel.row_actions:
            action.setProperty("needs", tr("Select a sequence in the inspector first."))
        self.inspector.addSeparator()
        self.inspector.addMenu(submenu(self._window, tr("Selected &sequence"), *panel.row_actions))

    def _toggle_full_screen(self) -> None:
        """A maximised window is maximised again afterwards."""
        self._window.setWindowState(self._window.windowState() ^ Qt.WindowState.WindowFullScreen)
        self.full_screen.setChecked(self._window.isFullScreen())

    # Chat

    def _make_chat_menu(self) -> None:
        parts, new, tabs = self._parts, self._new, self._parts.tab_commands
        self.message = MessageMenu(parts.chats, self._window)
        self.stop = new("chat.stop", self._stop)
        self.copy_answer = new("chat.copy-answer", parts.chats.copy_last_answer)
        self.tokens = new("chat.tokens", parts.chats.show_tokens)
        self.decide_tool = (
            new("chat.allow-tool", partial(parts.chats.decide_tool, Decision.ONCE)),
            new("chat.refuse-tool", partial(parts.chats.decide_tool, Decision.REFUSE)),
        )
        self.screenshot = new("chat.screenshot", parts.chats.take_screenshot)
        self.sum_up = new("chat.sum-up", parts.chats.sum_up)
        self.hand_out = new("chat.tasks", parts.chats.hand_out)
        self._add(
            tr(frame.CHAT),
            self.stop,
            self.copy_answer,
            self.tokens,
            self.message.menu,
            None,
            new("chat.attach", parts.chats.attach),
            self.screenshot,
            self.sum_up,
            self.hand_out,
            new("chat.fork", partial(tabs.on_current, tabs.fork)),
            new("tab.window", tabs.toggle_window),
            new("chat.settings", partial(tabs.on_current, tabs.open_settings)),
            new("chat.tools", partial(tabs.on_current, tabs.open_tools)),
            parts.shelves.choose,
            parts.projects.told,
            *self.decide_tool,
            None,
            tabs_menu(tabs, self._window),
            None,
            new("chat.delete", parts.navigation.delete_current),
            new("chat.trash", parts.navigation.show_trash),
        )

    def _stop(self) -> None:
        """Stops the shown answer first."""
        if self._parts.chats.is_busy:
            self._parts.chats.stop()
        else:
            self._parts.engine.cancel_load()

    def show_chat_state(self) -> None:
        """Another chat is shown, or something in it has changed."""
        is_loading = self._parts.engine.is_loading
        self.stop.setEnabled(self._parts.chats.is_busy or is_loading)
        self.cancel_load.setEnabled(is_loading)
        for action in self.decide_tool:
            action.setEnabled(self._parts.chats.asking_tool is not None)
        for action in (self.copy_answer, self.tokens):
            action.setEnabled(self._parts.chats.has_turns)
        self.screenshot.setEnabled(self._parts.chats.sees)
        self.sum_up.setEnabled(self._parts.chats.can_sum_up)
        self.hand_out.setEnabled(self._parts.chats.can_hand_out)
        for action in (self.find, *self.find_again):
            action.setEnabled(self._parts.chats.can_find)
        self.reopen.setEnabled(self._parts.workspace.can_reopen)
        self.message.show_keys()

    # Model

    def _make_model_menu(self) -> None:
        parts, new = self._parts, self._new
        self.open_model = new("model.open", parts.models.choose)
        self.reload = new("model.reload", parts.models.reload)
        self.cancel_load = new("model.cancel-load", parts.engine.cancel_load)
        self.sleep = new("model.sleep", lambda: parts.engine.front.sleep())
        self.for_all = new("model.for-all", parts.models.load_for_all)
        self.pin = new("model.pin", lambda: parts.models.pin(self.pin.isChecked()))
        self.pin.setCheckable(True)
        self.load_settings = new("model.load-settings", parts.show_load_settings)
        self.stop_all = new("engine.stop-all", partial(parts.engine.post, AbortAll()))
        speed, set_speed = parts.preferences.settings.speed, partial(parts.preferences.set, "speed")
        self.speeds = radio_menu(self._window, "speed", tr("Spee&d"), SPEEDS, speed, set_speed)
        steps = parts.pausing.actions
        steps.pause.setProperty("needs", tr("No model is loaded, or all chats are already paused."))
        for action in (steps.resume, steps.step):
            action.setProperty("needs", tr("Pause all chats first."))
        self.model = self._add(
            tr(frame.MODEL),
            parts.picker.switch,
            self.open_model,
            parts.model_commands.show,
            parts.model_commands.get_more,
            parts.model_commands.add_engine,
            self.load_settings,
            self.reload,
            self.cancel_load,
            self.for_all,
            self.pin,
            self.sleep,
            None,
            self.speeds,
            self.stop_all,
            None,
            *steps.all,
            None,
            new("engine.settings", partial(parts.show_settings, "engine")),
            new("context.settings", partial(parts.show_settings, "context")),
        )

    # Tools and Help

    def _make_tools_menu(self) -> None:
        parts = self._parts
        self.tools = self._add(
            tr(frame.TOOLS),
            self._new("tools.settings", partial(parts.show_settings, "tools")),
            parts.shelves.show,
            self._new("tools.rows", parts.show_rows),
            None,
            *parts.api.actions,
            parts.backups.open,
            None,
            parts.self_test.open,
        )

    def _make_help_menu(self) -> None:
        parts, new = self._parts, self._new
        about = new("app.about", parts.help.show_about)
        about.setMenuRole(QAction.MenuRole.AboutRole)
        self._add(
            tr(frame.HELP),
            new("help.guide", parts.help.show_guide),
            new("help.shortcuts", partial(parts.show_settings, "shortcuts")),
            None,
            new("help.log", parts.help.show_log),
            new("help.data-folder", parts.help.open_data_folder),
            new("help.log-folder", parts.help.open_log_folder),
            None,
            about,
        )

    def _on_setting_changed(self, name: str) -> None:
        settings = self._parts.preferences.settings
        if name == "theme":
            tick(self.themes, settings.theme)
        elif name == "speed":
            tick(self.speeds, settings.speed)


def _call(slot: str) -> bool:
    """Calls a slot of the widget with the focus. Returns whether it has one: texts and tables do."""
    widget = QApplication.focusWidget()
    if widget is None or widget.metaObject().indexOfMethod(f"{slot}()") < 0:
        return False
    if slot == "undo" and isinstance(widget, QPlainTextEdit) and not widget.document().isUndoAvailable():
        return False
    QMetaObject.invokeMethod(widget, slot)
    return True
