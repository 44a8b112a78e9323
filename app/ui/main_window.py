"""The main window: menus, tabs, inspector docks, status bar, and their connections. GUI thread.

Features have their own files.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QDragLeaveEvent,
    QDropEvent,
    QWheelEvent,
    QWindowStateChangeEvent,
)
from PySide6.QtWidgets import QSplitter, QWidget

from app.chats.chat import Chat
from app.inspector.docks import ROWS, InspectorDocks
from app.look.icons import app_icon
from app.look.words import tr, tr_said
from app.services import diagnostics
from app.services.model_state import ModelWatch
from app.services.services import Services
from app.system.machine import num_physical_cores
from app.ui.base.actions import commands_of
from app.ui.base.drop_overlay import DropOverlay
from app.ui.base.dropped import drop_text, dropped_model
from app.ui.base.help_commands import HelpCommands
from app.ui.base.keyboard import FocusHome, Panes
from app.ui.base.notices import Notices, UndoToast
from app.ui.base.proportions import MIN_CHATS
from app.ui.chats.cut_off import CutOffAnswers
from app.ui.chats.navigation import Navigation, chat_titles
from app.ui.commands.menus import Menus, Parts
from app.ui.commands.palette import CommandPalette, PaletteEntry
from app.ui.commands.palette_sources import (
    SHELF,
    TOOLS,
    command_entries,
    open_chat_entries,
    saved_chat_entries,
    setting_entries,
    switch_entries,
)
from app.ui.data.backups import BackupsMenu
from app.ui.data.chat_files import ChatFiles
from app.ui.engine.api_menu import ApiMenu
from app.ui.engine.build_notice import BuildNotice
from app.ui.engine.chat_models import ChatModels
from app.ui.engine.model_loading import ModelLoading
from app.ui.engine.model_picker import ModelPicker
from app.ui.engine.pausing import Pausing
from app.ui.engine.self_test import SelfTestMenu
from app.ui.engine.status_bar import StatusBar
from app.ui.frame import Frame
from app.ui.models.model_commands import DownloadNotices, DraftNotice, Greetings, ModelCommands
from app.ui.projects.chat_projects import ChatProjects
from app.ui.settings.appearance import Appearance, Languages
from app.ui.settings.chat_options import ChatOptionsPanel
from app.ui.settings.chat_tools import ToolsOfChat
from app.ui.settings.shortcuts import KeyHints, Shortcuts
from app.ui.settings.tool_extras import ToolExtras
from app.ui.shelves.chat_shelves import ChatShelves
from app.ui.tabs.chat_commands import ChatCommands
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.tabs.first_view import LINE
from app.ui.tabs.tab_commands import TabCommands
from app.ui.tabs.tree_commands import TreeCommands
from app.ui.transcript.answer_inspection import AnswerInspection
from app.ui.transcript.model_comparison import ModelComparison
from app.ui.window_presenter import WindowPresenter

if TYPE_CHECKING:
    from app.ui.base.setting import Facts
    from app.ui.models.load_settings import LoadSettings
    from app.ui.rows.rows_window import RowsWindow
    from app.ui.settings.settings_window import SettingsWindow
    from app.ui.tabs.chat_window import ChatWindow

# The commands that a chat in a window of its own has: the beginnings of their names.
IN_CHAT_WINDOW = (
    *("edit.", "message.", "view.zoom", "tab.window", "app.quit"),
    *("chat.find", "chat.stop", "chat.copy", "chat.attach", "chat.allow", "chat.refuse"),
)


class MainWindow(QObject):
    """Puts the parts into the frame in the place of its first view, and handles the frame's events."""

    def __init__(self, frame: Frame, services: Services) -> None:
        super().__init__(frame)
        self.frame = frame
        self._services = services
        self.preferences = preferences = services.preferences
        workspace, engine, page = services.workspace, services.engine, frame.first_view.page
        frame.setWindowIcon(app_icon())

        # 1. The places: chats, status bar, inspector.
        self.appearance = Appearance(preferences, frame)
        self.notices = Notices(frame)
        self.languages = Languages(preferences, self.notices, frame)
        self.build_notice = BuildNotice(self.notices, frame)
        self.middle = QSplitter(frame)
        self.middle.setHandleWidth(LINE)
        self.tabs = ChatTabs(workspace, self.notices, self.middle, page)
        self.tabs.set_zoom(self.appearance.zoom)
        self.middle.addWidget(self.tabs)
        frame.setCentralWidget(self.middle)  # replaces the first view
        self.overlay = DropOverlay(self.tabs)
        self.undo = UndoToast(self.tabs)
        self.status = StatusBar(frame)
        frame.setStatusBar(self.status)
        self.inspector = InspectorDocks(frame, ROWS, workspace.media)
        self.inspector.front = lambda: workspace.current.chat.id if workspace.current else ""

        # 2. What commands act on.
        self.tab_commands = TabCommands(self.tabs, workspace, self.undo, self.status.say, frame)
        self.models = ModelLoading(engine, preferences, frame)
        self.models.drafts_in_words = lambda: self.inspector.recording.drafts.in_words()
        self.chat_models = ChatModels(engine, services.model_library, self.tabs, frame)
        self.pausing = Pausing(self.inspector, self.notices.paused, frame)
        self.help = HelpCommands(self._diagnose, frame)
        self.inspector.explained.connect(self.help.explain_panel)
        self.answers = AnswerInspection(self.inspector, workspace, engine, frame)
        self.comparison = ModelComparison(
            self.inspector, services.comparisons, services.model_library, engine, self.answers, frame
        )
        self.tree = TreeCommands(self.inspector, workspace, self.tabs, services.presets, frame)

        # 3. What shows the services.
        self.api_menu = ApiMenu(services.api, preferences.settings, frame)
        self.backups_menu = BackupsMenu(services.backups, self.notices, frame)
        self.self_test_menu = SelfTestMenu(services.self_test, engine, preferences.settings, frame)
        self.navigation = Navigation(
            services.chat_library,
            services.search,
            services.projects,
            workspace,
            self.tabs,
            self.middle,
            self.notices,
            self.undo,
            frame,
        )
        self.cut_off = CutOffAnswers(services.chat_library, self.notices, frame)
        self.chat_files = ChatFiles(
            services.transfer, workspace, self.notices, self.undo, self.status.say, frame
        )
        self.chat_options = ChatOptionsPanel(
            self.tabs,
            services.presets,
            services.prompt_tokens,
            engine,
            preferences,
            services.form_check,
            self.notices,
            self.undo,
            frame,
        )
        self.chat_tools = ToolsOfChat(
            self.tabs, services.tools, services.schema_tokens, partial(self.show_settings, "tools"), frame
        )
        self.shelves = ChatShelves(self.tabs, services, frame)
        self.projects = ChatProjects(self.tabs, services, self.undo, frame)
        self.tool_extras = ToolExtras(self.tabs, services.tools, frame)
        self.model_commands = ModelCommands(
            services, self.models, lambda path: self.load_settings.show_for(path), frame
        )
        self.download_notices = DownloadNotices(
            services.downloads, self.models, self.model_commands, self.notices, frame
        )
        self.draft_notice = DraftNotice(services, self.models, self.notices, frame)
        self.model_watch = ModelWatch(engine, frame)
        self.picker = self._new_picker(frame)
        self.tree.other_models = self.picker.others
        self.tabs.show_above(self.picker)
        self.greetings = Greetings(
            services, self.model_watch, self.models, self.model_commands, self.tabs, frame
        )

        # 4. The commands.
        self.command_palette = CommandPalette(frame)
        self._fill_palette()
        self.menus = Menus(frame, parts := self._parts())
        self.shortcuts = Shortcuts(frame.menuBar(), preferences, frame)
        self.shortcuts.apply()
        self.key_hints = KeyHints(self.shortcuts, frame)

        # 5. The connections.
        self.presenter = WindowPresenter(
            frame, parts, self.menus, services.api, self.status, self.notices, self.answers
        )
        self._connect()
        FocusHome(frame, self.tabs.focus_current)
        frame.installEventFilter(self)
        self.middle.show()  # Qt would do so later, and paint something else meanwhile
        self.status.show()
        page.setFocus()

    # Building

    def _parts(self) -> Parts:
        return Parts(
            workspace=self._services.workspace,
            engine=self._services.engine,
            preferences=self.preferences,
            tabs=self.tabs,
            tab_commands=self.tab_commands,
            chats=ChatCommands(self.tabs, self.answers, self.frame),
            models=self.models,
            model_commands=self.model_commands,
            picker=self.picker,
            navigation=self.navigation,
            files=self.chat_files,
            appearance=self.appearance,
            languages=self.languages,
            inspector=self.inspector,
            pausing=self.pausing,
            api=self.api_menu,
            backups=self.backups_menu,
            self_test=self.self_test_menu,
            shelves=self.shelves,
            projects=self.projects,
            panes=Panes(self._panes),
            help=self.help,
            quit=self.frame.quit_requested.emit,
            show_settings=self.show_settings,
            show_load_settings=self.show_load_settings,
            show_rows=lambda: self.rows_window.come_up(),
            show_palette=self.command_palette.open_up,
            undo=self.undo,
        )

    def _diagnose(self) -> str:
        return diagnostics.report(self.preferences.settings, self._services.engine.model)

    def _model_actions(self) -> tuple[QAction | None, ...]:
        """What the menu of the model's name offers besides the models."""
        menus, models = self.menus, self.model_commands
        of_this = menus.for_all, menus.load_settings, menus.pin, menus.sleep
        get = menus.open_model, models.show, models.get_more, models.add_engine
        return *get, None, *of_this

    def _fill_palette(self) -> None:
        library, palette = self._services.chat_library, self.command_palette
        palette.add_source(self._command_entries)
        palette.add_source(partial(open_chat_entries, self.tabs))
        for kind, text_of, switches in (
            (TOOLS, lambda name: tr("Tools: {server}", server=name), self.chat_tools.palette_entries),
            (SHELF, lambda name: tr("Shelf: {name}", name=name), self.shelves.palette_entries),
        ):
            palette.add_source(partial(switch_entries, kind, text_of, switches))
        palette.add_source(partial(setting_entries, self.show_setting))
        titles = partial(chat_titles, library)
        palette.add_source(partial(saved_chat_entries, titles, self.tabs, library.look_at))

    def _command_entries(self) -> list[PaletteEntry]:
        """Updated first: the text in the composer decides which are enabled."""
        self.menus.show_chat_state()
        return command_entries(self.frame.menuBar())

    def _connect(self) -> None:
        self.appearance.text_changed.connect(self.tabs.set_zoom)
        self.tabs.view_made.connect(self.key_hints.correct)
        self.tabs.window_made.connect(self._on_window_made)
        self.inspector.toggle.toggled.connect(self._leave_room)
        self._services.api.failed.connect(self._on_api_failed)
        self.tabs.num_busy_changed.connect(self.self_test_menu.dialog.set_num_busy)
        self.self_test_menu.ended_unseen.connect(self.status.say)
        self.model_watch.changed.connect(self.status.show_state)
        self.status.show_state(self.model_watch.state)
        self.status.api.clicked.connect(self.api_menu.show_panel)
        self.api_menu.state_changed.connect(self.status.set_api)
        self.navigation.sidebar.export_requested.connect(self.chat_files.export_chats)
        self._services.api.settings_changed.connect(self.preferences.note_changes)
        self._services.cells.refused.connect(self.notices.show_error)
        self._services.shelves.failed.connect(self.notices.show_error)
        self._services.projects.failed.connect(self._on_project_failed)
        self._services.servers.key_lost.connect(self.notices.show_error)
        self.shelves.titles_changed.connect(self.presenter.on_shelf_titles_changed)
        self.navigation.sidebar.project_requested.connect(self.projects.show_project)
        self.projects.source_opened.connect(self.navigation.show_turn)
        self.projects.shelves_requested.connect(self.shelves.show_window)

    def _on_project_failed(self, message: str) -> None:
        """The page says it itself while it is seen."""
        if not self.projects.is_page_open:
            self.notices.show_error(message)

    # Commands

    @cached_property
    def settings_window(self) -> SettingsWindow:
        """Made when it is first asked for."""
        from app.ui.settings.settings_window import SettingsWindow

        hub, tools = self._services.hub, self._services.tools
        return SettingsWindow(
            self.preferences, self.models, self.shortcuts, self._facts, hub, tools, self.frame
        )

    def show_settings(self, page: str = "") -> None:
        if page:
            self.settings_window.show_page(page)
        self.settings_window.come_up()

    @cached_property
    def load_settings(self) -> LoadSettings:
        """Made when it is first asked for: it reads headers of models."""
        from app.ui.models.load_settings import LoadSettings

        return LoadSettings(self._services, self.models, self.frame)

    def show_load_settings(self) -> None:
        """The settings of the open model, or those of the engine without one."""
        if self.models.path:
            self.load_settings.show_for(self.models.path)
        else:
            self.show_settings("engine")

    @cached_property
    def rows_window(self) -> RowsWindow:
        """Made when it is first asked for."""
        from app.ui.rows.rows_window import RowsWindow

        services = self._services
        return RowsWindow(services.rows, services.workspace, services.engine, self.frame)

    def show_setting(self, name: str) -> None:
        self.settings_window.come_up()
        self.settings_window.show_setting(name)

    def _new_picker(self, window: QWidget, chat: Chat | None = None) -> ModelPicker:
        """For the chat in front, or for that of a window of its own."""
        engines = self._services.engine
        watch = ModelWatch(engines, window, chat) if chat else self.model_watch
        library, servers = self._services.model_library, self._services.servers
        rest = (library, servers, self.preferences, self.models, self._model_actions)
        return ModelPicker(watch, engines, *rest, window, chat)

    def _on_window_made(self, window: ChatWindow) -> None:
        """A chat has its own: some of the keys work there, too."""
        commands = commands_of(self.frame.menuBar())
        window.addActions([each.action for each in commands if each.name.startswith(IN_CHAT_WINDOW)])
        picker = self._new_picker(window, window.chat)
        window.show_above(picker)
        window.addAction(picker.switch)
        window.activated.connect(lambda: picker.switch.setShortcuts(self.picker.switch.shortcuts()))
        window.installEventFilter(self)

    def _leave_room(self, is_inspected: bool) -> None:
        """The inspector takes no more than leaves the chats readable."""
        self.tabs.setMinimumWidth(MIN_CHATS if is_inspected else 0)

    def _on_api_failed(self, reason: str) -> None:
        """The banner in this window is behind the settings, where the API was switched on."""
        if "settings_window" in self.__dict__ and self.settings_window.isVisible():
            self.settings_window.problem.say(tr_said(reason))

    def _facts(self) -> Facts:
        from app.ui.base.setting import Facts

        settings, model = self.preferences.settings, self._services.engine.model
        return Facts(settings, model, num_physical_cores(), self._services.cells.why_not)

    def _panes(self) -> list[QWidget]:
        """In reading order: of two chats side by side both."""
        chats = [pane for view in self.tabs.shown_views for pane in view.panes]
        return [self.navigation.sidebar.list, self.tabs.strip.bar, *chats, *self.inspector.panels]

    # Events of the frame

    def eventFilter(self, window: QObject, event: QEvent) -> bool:
        match event:
            case QContextMenuEvent() if window is self.frame:
                self.inspector.popup_menu(event.globalPos())
                return True  # not Qt's own menu of docks
            case QDropEvent() if path := dropped_model(event.mimeData()):
                event.acceptProposedAction()
                self.overlay.tell(drop_text(event.mimeData()))
                if event.type() == QEvent.Type.Drop:
                    self.overlay.hide()
                    self.models.load(path)
            case QDragLeaveEvent():
                self.overlay.hide()
            case QWheelEvent() if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.appearance.turn_wheel(event.angleDelta().y())  # which no chat took
                return True
            case QWindowStateChangeEvent():
                self._on_window_state_changed()
        return False

    def _on_window_state_changed(self) -> None:
        self.menus.full_screen.setChecked(self.frame.isFullScreen())
        self.presenter.show_report()
        for view in self.tabs.shown_views:  # minimised, they were not drawn
            view.transcript.mark_growing()
