"""The main window: menus, tabs, inspector docks, status bar, and their connections. GUI thread.

Features have their own files. The window is shown before its parts exist, so nothing is imported here that
the first paint does not need.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QMainWindow

from app.look.words import tr, tr_said
from app.settings.appearance import USUAL_APPEARANCE, AppearanceSettings
from app.ui.base.dropped_model import dropped_model
from app.ui.commands.menu_titles import TITLES
from app.ui.tabs.first_view import LINE, USUAL_LAYOUT, FirstLayout, FirstView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import (
        QCloseEvent,
        QContextMenuEvent,
        QDragEnterEvent,
        QDropEvent,
        QShowEvent,
        QWheelEvent,
    )
    from PySide6.QtWidgets import QWidget

    from app.bridge.active_engine import ActiveEngine
    from app.bridge.token_counter import TokenCounter
    from app.bridge.workspace import Workspace
    from app.services.cell_keeping import CellKeeping
    from app.services.chat_backups import ChatBackups
    from app.services.chat_library import ChatLibrary
    from app.services.chat_search import ChatSearch
    from app.services.chat_transfer import ChatTransfer
    from app.services.downloads import Downloads
    from app.services.local_api import LocalApi
    from app.services.model_fits import ModelFits
    from app.services.model_hub import ModelHub
    from app.services.model_library import ModelLibrary
    from app.services.presets import Presets
    from app.services.self_test import SelfTest
    from app.settings.settings import Settings
    from app.ui.base.setting_list import Facts
    from app.ui.chats.navigation import Navigation
    from app.ui.commands.menus import Parts
    from app.ui.commands.palette_entry import Entry
    from app.ui.models.load_settings import LoadSettings
    from app.ui.settings.settings_window import SettingsWindow

WINDOW_SIZE = QSize(1280, 800)
FRAME_SIZE = QSize(8, 40)  # what a window manager may add around it


class MainWindow(QMainWindow):
    quit_requested = Signal()  # File > Quit or the window's close button

    def __init__(
        self, appearance: AppearanceSettings = USUAL_APPEARANCE, layout: FirstLayout = USUAL_LAYOUT
    ) -> None:
        super().__init__()
        self.is_filled = False
        self.was_closed = False  # the user closed it, even before it was connected
        self.setWindowTitle("Skein")
        self.setAcceptDrops(True)
        self.setMinimumSize(560, 400)
        self.resize(WINDOW_SIZE.boundedTo(self.screen().availableSize() - FRAME_SIZE))
        for title in TITLES:
            self.menuBar().addAction(tr(title))
        self.first_view = FirstView(appearance, layout, self)
        self.setCentralWidget(self.first_view)
        self.first_view.page.setFocus()

    @contextmanager
    def held_still(self) -> Iterator[None]:
        """Suspends painting while parts are moved."""
        self.setUpdatesEnabled(False)
        try:
            yield
        finally:
            self.setUpdatesEnabled(True)

    def fill(self, workspace: Workspace, engine: ActiveEngine, settings: Settings) -> None:
        """Replaces the placeholders by the parts."""
        from PySide6.QtWidgets import QSplitter

        from app.inspector.arrangement import ROWS
        from app.inspector.docks import InspectorDocks
        from app.look.icons import app_icon
        from app.services.model_state import ModelWatch
        from app.services.preferences import Preferences
        from app.ui.base.notices import Notices, UndoToast
        from app.ui.commands.menus import Menus
        from app.ui.commands.palette import CommandPalette
        from app.ui.engine.chat_models import ChatModels
        from app.ui.engine.model_loading import ModelLoading
        from app.ui.engine.pausing import Pausing
        from app.ui.engine.status_bar import StatusBar
        from app.ui.settings.appearance import Appearance
        from app.ui.settings.key_hints import KeyHints
        from app.ui.settings.languages import Languages
        from app.ui.settings.shortcuts import Shortcuts
        from app.ui.tabs.chat_tabs import ChatTabs
        from app.ui.transcript.answer_inspection import AnswerInspection
        from app.ui.window_presenter import WindowPresenter

        self._workspace = workspace
        self._engine = engine
        self.setWindowIcon(app_icon())
        self.preferences = Preferences(settings, self)
        self.appearance = Appearance(self.preferences, self)
        self.navigation: Navigation | None = None
        self.notices = Notices(self)
        self.languages = Languages(self.preferences, self.notices, self)
        self.middle = QSplitter(self)
        self.middle.setHandleWidth(LINE)
        page = self.first_view.page
        self.tabs = ChatTabs(workspace, self.notices, self.middle, page)
        self.middle.addWidget(self.tabs)
        self.setCentralWidget(self.middle)  # replaces the first view
        self.undo = UndoToast(self.tabs)
        self.status = StatusBar(self)
        self.setStatusBar(self.status)
        self.inspector = InspectorDocks(self, ROWS)
        self.tabs.set_zoom(self.appearance.zoom)
        self.models = ModelLoading(engine, self.preferences, self)
        self.chat_models = ChatModels(engine, self.models, self.tabs, self)
        self.pausing = Pausing(self.inspector, self.notices.paused, engine, self)
        self.answers = AnswerInspection(self.inspector, workspace, engine, self)
        self.command_palette = CommandPalette(self)
        self.menus = Menus(self, self._parts())
        self.shortcuts = Shortcuts(self.menuBar(), self.preferences, self)
        self.tabs.view_made.connect(KeyHints(self.shortcuts, self).correct)
        self._settings_window: SettingsWindow | None = None
        self._load_settings: LoadSettings | None = None
        self._model_library: ModelLibrary | None = None
        self._cells: CellKeeping | None = None
        self._fill_palette()
        self.presenter = WindowPresenter(
            self,
            workspace,
            engine,
            self.preferences,
            self.tabs,
            self.inspector,
            self.status,
            self.menus,
            self.notices,
            self.undo,
            self.models,
            self.pausing,
            self.answers,
        )
        self.model_watch = ModelWatch(engine, self)
        self.model_watch.changed.connect(self.status.show_state)
        self.status.show_state(self.model_watch.state)
        self.appearance.text_changed.connect(self.tabs.set_zoom)
        self.is_filled = True
        self.middle.show()  # Qt would do so later, and paint something else meanwhile
        self.status.show()
        page.setFocus()

    # Building

    def _parts(self) -> Parts:
        from app.ui.base.help_commands import HelpCommands
        from app.ui.base.panes import Panes
        from app.ui.commands.menus import Parts
        from app.ui.tabs.chat_commands import ChatCommands

        return Parts(
            workspace=self._workspace,
            engine=self._engine,
            preferences=self.preferences,
            tabs=self.tabs,
            chats=ChatCommands(self.tabs, self.answers, self),
            models=self.models,
            appearance=self.appearance,
            languages=self.languages,
            inspector=self.inspector,
            pausing=self.pausing,
            panes=Panes(self._panes),
            help=HelpCommands(self._diagnose, self),
            quit=self.quit_requested.emit,
            show_settings=self.show_settings,
            show_load_settings=self.show_load_settings,
            show_palette=self.command_palette.open_up,
        )

    def _diagnose(self) -> str:
        from app.services import diagnostics

        return diagnostics.report(self.preferences.settings, self._engine.model)

    def _fill_palette(self) -> None:
        from app.ui.commands.palette_sources import open_chat_entries, setting_entries

        palette = self.command_palette
        palette.add_source(self._command_entries)
        palette.add_source(partial(open_chat_entries, self.tabs))
        palette.add_source(partial(setting_entries, self.show_setting))

    def _command_entries(self) -> list[Entry]:
        """Updated first: the text in the composer decides which are enabled."""
        from app.ui.commands.palette_sources import command_entries

        self.menus.show_chat_state()
        return command_entries(self.menuBar())

    def show_api(self, api: LocalApi) -> None:
        """The local API gets its menu, its part of the status bar, and its callers' chats names."""
        from app.ui.engine.api_menu import ApiMenu

        self.api_menu = ApiMenu(api, self.preferences.settings, self)
        self.api_menu.add_to(self.menus.tools)
        self.api_menu.state_changed.connect(self.status.set_api)
        self.status.api_clicked.connect(self.api_menu.show_panel)
        api.settings_changed.connect(self.preferences.note_changes)
        self.presenter.follow_api(api)

    def show_library(self, library: ChatLibrary, search: ChatSearch) -> None:
        """The list of all chats, and the search in them."""
        from app.ui.chats.navigation import Navigation, chat_titles
        from app.ui.commands.palette_sources import saved_chat_entries

        self.navigation = Navigation(
            library, search, self._workspace, self.tabs, self.middle, self.notices, self.undo, self
        )
        self.navigation.add_to(self.menus)
        titles = partial(chat_titles, library)
        self.command_palette.add_source(partial(saved_chat_entries, titles, self.tabs, library.open))

    def show_chat_files(self, transfer: ChatTransfer) -> None:
        """Export and import get their place in the File menu."""
        from app.ui.data.chat_files import ChatFiles

        self.chat_files = ChatFiles(transfer, self._workspace, self.notices, self.undo, self.status.say, self)
        close = next(action for action in self.menus.file.actions() if action.objectName() == "chat.close")
        self.chat_files.add_to(self.menus.file, close)
        if self.navigation:
            self.navigation.export_requested.connect(self.chat_files.export_chats)

    def show_presets(self, presets: Presets, counter: TokenCounter) -> None:
        """The settings of each chat, and the presets for them. `counter` is for system prompts."""
        from app.ui.settings.chat_options import ChatOptionsPanel

        self.chat_options = ChatOptionsPanel(
            self.tabs, presets, counter, self._engine, self.preferences, self.notices, self.undo, self
        )

    def show_backups(self, backups: ChatBackups) -> None:
        """Backups get their place in the Tools menu."""
        from app.ui.data.backups_menu import BackupsMenu

        self.backups_menu = BackupsMenu(backups, self.notices, self)
        self.backups_menu.add_to(self.menus.tools)

    def show_cell_keeping(self, keeping: CellKeeping) -> None:
        """Reports at once, and in the settings, why cells cannot be kept."""
        self._cells = keeping
        keeping.refused.connect(lambda: self.notices.show_error(tr_said(keeping.why_not)))

    def show_self_test(self, test: SelfTest) -> None:
        """The self-test gets its place in the Tools menu."""
        from app.ui.engine.self_test_menu import SelfTestMenu

        self.self_test_menu = SelfTestMenu(test, self._engine, self.preferences.settings, self)
        self.menus.tools.addSeparator()
        self.menus.tools.addAction(self.self_test_menu.open)
        self.tabs.num_busy_changed.connect(self.self_test_menu.dialog.set_num_busy)
        self.self_test_menu.ended_unseen.connect(self.status.say)

    def show_model_library(self, library: ModelLibrary, fits: ModelFits) -> None:
        """The models on this machine get their window and menu entries."""
        from app.ui.models.model_commands import ModelCommands

        self._model_library = library
        self.model_commands = ModelCommands(
            library,
            fits,
            self.preferences,
            self.models,
            lambda path: self.load_settings.show_for(path),
            self.tabs,
            self,
        )
        self.model_commands.add_to(self.menus.model, before=self.menus.load_settings)
        self._show_picker(library)

    def _show_picker(self, library: ModelLibrary) -> None:
        from app.ui.engine.model_picker import ModelPicker

        menus, models = self.menus, self.model_commands
        commands = (menus.open_model, models.show, models.get_more, None, menus.load_settings, menus.sleep)
        self.picker = ModelPicker(self.model_watch, library, self.preferences, self.models, commands, self)
        menus.model.insertAction(menus.open_model, self.picker.switch)
        self.tabs.show_above(self.picker)

    def show_model_hub(self, hub: ModelHub, downloads: Downloads) -> None:
        """Models to download get their page beside the local ones."""
        from app.ui.models.hub_commands import HubCommands

        self.hub_commands = HubCommands(
            hub, downloads, self.preferences, self.models, self.model_commands, self.notices, self
        )

    # Commands

    @property
    def settings_window(self) -> SettingsWindow:
        """Made when it is first asked for."""
        if self._settings_window is None:
            from app.ui.settings.settings_window import SettingsWindow

            self._settings_window = SettingsWindow(
                self.preferences, self.models, self.shortcuts, self._facts, self
            )
        return self._settings_window

    def show_settings(self, page: str = "") -> None:
        if page:
            self.settings_window.show_page(page)
        self.settings_window.come_up()

    @property
    def load_settings(self) -> LoadSettings:
        """Created on first use: it reads headers of models."""
        if self._load_settings is None:
            from app.ui.models.load_settings import LoadSettings

            self._load_settings = LoadSettings(
                self.preferences, self.models, self._engine, self, self._model_library
            )
        return self._load_settings

    def show_load_settings(self) -> None:
        """The settings of the open model, or those of the engine without one."""
        if self.models.path:
            self.load_settings.show_for(self.models.path)
        else:
            self.show_settings("engine")

    def show_setting(self, name: str) -> None:
        self.settings_window.come_up()
        self.settings_window.show_setting(name)

    def _facts(self) -> Facts:
        from app.system.cores import num_physical_cores
        from app.ui.base.setting_list import Facts

        why_not_kept = self._cells.why_not if self._cells else ""
        return Facts(self.preferences.settings, self._engine.model, num_physical_cores(), why_not_kept)

    def _panes(self) -> list[QWidget]:
        """In reading order: of two chats side by side both."""
        sides = [self.navigation.sidebar.list] if self.navigation else []
        chats = [pane for view in self.tabs.shown_views for pane in (view.transcript, view.composer.editor)]
        return [*sides, self.tabs.strip.bar, *chats, *self.inspector.panels]

    # Qt's events, which may come before the parts exist

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Not Qt's own menu of docks."""
        if self.is_filled:
            self.inspector.popup_menu(event.globalPos())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.is_filled and dropped_model(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if path := dropped_model(event.mimeData()):
            event.acceptProposedAction()
            self.models.load(path)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Wheel events that a chat did not take."""
        if self.is_filled and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.appearance.turn_wheel(event.angleDelta().y())
            event.accept()

    def showEvent(self, event: QShowEvent) -> None:
        if self.is_filled:
            self.shortcuts.apply()  # all menus are there now
        super().showEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self.is_filled and event.type() == QEvent.Type.WindowStateChange:
            self.menus.full_screen.setChecked(self.isFullScreen())
            self.presenter.show_report()
            for view in self.tabs.shown_views:  # minimised, they were not drawn
                view.transcript.mark_growing()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emits `quit_requested`: the program shuts down in order, and closes the window then."""
        event.ignore()
        self.was_closed = True
        self.quit_requested.emit()
