"""The frame: menus, tabs, inspector docks, status bar, and what connects them. GUI thread.

Features live in their own files.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QContextMenuEvent, QDragEnterEvent, QDropEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget

from app.bridge import diagnostics
from app.bridge.active_engine import ActiveEngine
from app.bridge.cell_keeping import CellKeeping
from app.bridge.chat_backups import ChatBackups
from app.bridge.chat_search import ChatSearch
from app.bridge.chat_session import ChatSession
from app.bridge.chat_transfer import ChatTransfer
from app.bridge.downloads import Downloads
from app.bridge.library import Library
from app.bridge.local_api import LocalApi
from app.bridge.model_fits import ModelFits
from app.bridge.model_hub import ModelHub
from app.bridge.model_library import ModelLibrary
from app.bridge.parameters import num_physical_cores
from app.bridge.preferences import Preferences
from app.bridge.presets import Presets
from app.bridge.self_test import SelfTest
from app.bridge.token_counter import TokenCounter
from app.bridge.workspace import Workspace
from app.engine.types import ModelInfo, Speed, StepReport
from app.inspector.arrangement import KV_MAP, ROWS, TIMELINE
from app.inspector.docks import InspectorDocks
from app.inspector.sequences import SequencesPanel
from app.look.icons import app_icon
from app.look.words import tr, tr_n, tr_said
from app.settings import Settings
from app.ui.chats.navigation import Navigation, chat_titles
from app.ui.commands.help_commands import HelpCommands
from app.ui.commands.menus import Menus, Parts
from app.ui.commands.palette import CommandPalette
from app.ui.commands.palette_entry import Entry
from app.ui.commands.palette_sources import (
    command_entries,
    open_chat_entries,
    saved_chat_entries,
    setting_entries,
)
from app.ui.commands.panes import Panes
from app.ui.data.backups_menu import BackupsMenu
from app.ui.data.chat_files import ChatFiles
from app.ui.engine.api_menu import ApiMenu
from app.ui.engine.chat_models import ChatModels
from app.ui.engine.dropped_model import dropped_model
from app.ui.engine.model_loading import ModelLoading
from app.ui.engine.pausing import Pausing
from app.ui.engine.self_test_menu import SelfTestMenu
from app.ui.engine.status_bar import StatusBar
from app.ui.models.hub_commands import HubCommands
from app.ui.models.model_commands import ModelCommands
from app.ui.notices import (
    Notices,
    UndoToast,
    closed_text,
    engine_error_text,
    load_error_text,
    recovering_text,
)
from app.ui.settings.appearance import Appearance
from app.ui.settings.chat_options import ChatOptionsPanel
from app.ui.settings.key_hints import KeyHints
from app.ui.settings.languages import Languages
from app.ui.settings.shortcuts import Shortcuts
from app.ui.tabs.chat_commands import ChatCommands
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.transcript.answer_inspection import AnswerInspection

if TYPE_CHECKING:
    from app.ui.models.load_settings import LoadSettings
    from app.ui.settings.setting_list import Facts
    from app.ui.settings.settings_window import SettingsWindow

REPORT_PERIOD_MS = 100
SAID_FOR_MS = 8_000  # in the status bar
WINDOW_SIZE = QSize(1280, 800)
FRAME_SIZE = QSize(8, 40)  # what a window manager may add around it


class MainWindow(QMainWindow):
    quit_requested = Signal()  # File > Quit or the window's close button

    def __init__(self, workspace: Workspace, engine: ActiveEngine, settings: Settings) -> None:
        super().__init__()
        self._workspace = workspace
        self._engine = engine
        self.preferences = Preferences(settings, self)
        self.appearance = Appearance(self.preferences, self)  # before there is anything to be seen
        self._api: LocalApi | None = None
        self.navigation: Navigation | None = None
        self._report: StepReport | None = None
        self._not_saved = ""  # why, as it was told last
        self._no_model = ""  # likewise, after a load was cancelled
        self._tab_titles: dict[str, str] = {}
        self._api_titles: dict[str, str] = {}
        self.setWindowTitle("Skein")
        self.setWindowIcon(app_icon())
        self.setAcceptDrops(True)
        self.setMinimumSize(560, 400)
        self.resize(WINDOW_SIZE.boundedTo(self.screen().availableSize() - FRAME_SIZE))
        self.notices = Notices(self)
        self.languages = Languages(self.preferences, self.notices, self)
        self.tabs = ChatTabs(workspace, self.notices, self)
        self.middle = QSplitter(self)
        self.middle.setHandleWidth(1)
        self.middle.addWidget(self.tabs)
        self.setCentralWidget(self.middle)
        self.undo = UndoToast(self.tabs)
        self.status = StatusBar(self)
        self.setStatusBar(self.status)
        self.inspector = InspectorDocks(self, ROWS)
        self.tabs.set_zoom(self.appearance.zoom)
        self.models = ModelLoading(engine, self.preferences, self)
        self.chat_models = ChatModels(engine, self.models, self.tabs, self)
        self.pausing = Pausing(self.inspector, self.notices.paused, engine, self)
        self.answers = AnswerInspection(self.inspector, workspace, engine, self)
        self._report_timer = QTimer(self, singleShot=True, interval=REPORT_PERIOD_MS)
        self.command_palette = CommandPalette(self)
        self.menus = Menus(self, self._parts())
        self.shortcuts = Shortcuts(self.menuBar(), self.preferences, self)
        self.tabs.view_made.connect(KeyHints(self.shortcuts, self).correct)
        self._settings_window: SettingsWindow | None = None
        self._load_settings: LoadSettings | None = None
        self._cells: CellKeeping | None = None
        self._fill_palette()
        self._connect()
        self._on_loaded(engine.model)
        self._on_num_busy_changed(0)
        self._show_models()
        self._show_current_state()

    # Building

    def _parts(self) -> Parts:
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
        return diagnostics.report(self.preferences.settings, self._engine.model)

    def _fill_palette(self) -> None:
        palette = self.command_palette
        palette.add_source(self._command_entries)
        palette.add_source(partial(open_chat_entries, self.tabs))
        palette.add_source(partial(setting_entries, self.show_setting))

    def _command_entries(self) -> list[Entry]:
        """As they are now: what has been written in the composer changes what can be done."""
        self.menus.show_chat_state()
        return command_entries(self.menuBar())

    def show_api(self, api: LocalApi) -> None:
        """The local API gets its menu, its part of the status bar, and its callers' chats names."""
        self.api_menu = ApiMenu(api, self.preferences.settings, self)
        self.api_menu.add_to(self.menus.tools)
        self.api_menu.state_changed.connect(self.status.set_api)
        self.status.api_clicked.connect(self.api_menu.show_panel)
        api.settings_changed.connect(self.preferences.note_changes)
        self._api = api
        api.failed.connect(self.notices.show_error)
        api.titles_changed.connect(self._on_api_titles_changed)

    def show_library(self, library: Library, search: ChatSearch) -> None:
        """The list of all chats, and the search in them."""
        self.navigation = Navigation(
            library, search, self._workspace, self.tabs, self.middle, self.notices, self.undo, self
        )
        self.navigation.add_to(self.menus)
        titles = partial(chat_titles, library)
        self.command_palette.add_source(partial(saved_chat_entries, titles, self.tabs, library.open))

    def show_chat_files(self, transfer: ChatTransfer) -> None:
        """Export and import get their place in the File menu."""
        self.chat_files = ChatFiles(transfer, self._workspace, self.notices, self.undo, self._say, self)
        close = next(action for action in self.menus.file.actions() if action.objectName() == "chat.close")
        self.chat_files.add_to(self.menus.file, close)
        if self.navigation:
            self.navigation.export_requested.connect(self.chat_files.export_chats)

    def show_presets(self, presets: Presets, counter: TokenCounter) -> None:
        """The settings of each chat, and the presets for them. `counter` is for system prompts."""
        self.chat_options = ChatOptionsPanel(
            self.tabs, presets, counter, self._engine, self.preferences, self.notices, self.undo, self
        )

    def show_backups(self, backups: ChatBackups) -> None:
        """Backups get their place in the Tools menu."""
        self.backups_menu = BackupsMenu(backups, self.notices, self)
        self.backups_menu.add_to(self.menus.tools)

    def show_cell_keeping(self, keeping: CellKeeping) -> None:
        """Why nothing can be kept is told at once, and in the settings."""
        self._cells = keeping
        keeping.refused.connect(lambda: self.notices.show_error(tr_said(keeping.why_not)))

    def show_self_test(self, test: SelfTest) -> None:
        """The self-test gets its place in the Tools menu."""
        self.self_test_menu = SelfTestMenu(test, self._engine, self.preferences.settings, self)
        self.menus.tools.addSeparator()
        self.menus.tools.addAction(self.self_test_menu.open)
        self.tabs.num_busy_changed.connect(self.self_test_menu.dialog.set_num_busy)
        self.self_test_menu.ended_unseen.connect(lambda text: self.status.showMessage(text, SAID_FOR_MS))

    def show_model_library(self, library: ModelLibrary, fits: ModelFits) -> None:
        """The models on this machine get their window, and their place in the Model menu."""
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

    def show_model_hub(self, hub: ModelHub, downloads: Downloads) -> None:
        """Models that can be downloaded get their page beside those that are here."""
        self.hub_commands = HubCommands(
            hub, downloads, self.preferences, self.models, self.model_commands, self.notices, self
        )

    def _connect(self) -> None:
        self._workspace.closed.connect(self._on_closed)
        self._workspace.save_failed.connect(self._on_chats_not_saved)
        self._workspace.save_recovered.connect(self._on_chats_saved)
        self._engine.loading.connect(self.notices.progress.start)
        self._engine.load_progressed.connect(self.notices.progress.set_fraction)
        self._engine.loaded.connect(self._on_loaded)
        self._engine.load_failed.connect(self._on_load_failed)
        self._engine.load_cancelled.connect(self._on_load_cancelled)
        self._engine.slept.connect(self._on_slept)
        self.notices.progress.cancel_requested.connect(self.models.cancel)
        self.models.loading_changed.connect(self.menus.show_chat_state)
        self.models.loading_changed.connect(self._show_models)
        self._engine.engine_failed.connect(self._on_engine_failed)
        self._engine.recovering.connect(self._on_recovering)
        self._engine.reported.connect(self._on_reported)
        self._report_timer.timeout.connect(self._show_report)
        self.inspector.chat_activated.connect(self.tabs.show_chat)
        self.inspector.commanded.connect(self._engine.post)
        self.inspector.stop_requested.connect(self._engine.abort)
        self.inspector.fork_requested.connect(self.tabs.fork_chat)
        self.inspector.files.failed.connect(self.notices.show_error)
        self.inspector.files.saved.connect(lambda text: self.status.showMessage(text, SAID_FOR_MS))
        self.tabs.titles_changed.connect(self._on_tab_titles_changed)
        self.tabs.said.connect(self._say)
        self.tabs.closed_many.connect(self._on_closed_many)
        self.tabs.tokens_requested.connect(self.answers.show_answer)
        self.tabs.undo_offered.connect(self.undo.offer)
        self.tabs.current_state_changed.connect(self._show_current_state)
        self.tabs.num_busy_changed.connect(self._on_num_busy_changed)
        self.status.stop_all_requested.connect(self.menus.stop_all.trigger)
        self.status.model_clicked.connect(self.show_load_settings)
        self.status.cells_clicked.connect(partial(self.inspector.show_panel, KV_MAP.NAME))
        self.status.queue_clicked.connect(partial(self.inspector.show_panel, SequencesPanel.NAME))
        self.status.speed_clicked.connect(partial(self.inspector.show_panel, TIMELINE.NAME))
        self.models.changed.connect(self._show_models)
        self.preferences.changed.connect(self._on_setting_changed)
        self.preferences.save_failed.connect(self._on_save_failed)
        self.appearance.text_changed.connect(self.tabs.set_zoom)

    def _say(self, text: str) -> None:
        """Goes by itself."""
        self.status.showMessage(text, SAID_FOR_MS)

    # What the engine and the workspace tell

    @Slot(object)
    def _on_loaded(self, model: ModelInfo | None) -> None:
        if model:
            self.notices.dismiss_offers()
            self.notices.withdraw(self._no_model)
        self.inspector.set_model(model)
        self._show_model(model)

    def _show_model(self, model: ModelInfo | None) -> None:
        self.notices.progress.hide()
        self._report = None
        self.status.set_model(model)
        self.pausing.set_model(model)
        self.answers.set_model(model)
        self.tabs.set_n_ctx(model.max_sequence_tokens if model else 0)

    @Slot(object, object)
    def _on_load_failed(self, path: Path, message: str) -> None:
        self.notices.progress.hide()
        if self._engine.model is None:  # also one that was asleep, and did not come back
            self._show_model(None)
        told = load_error_text(path, message, self._engine.model)
        if self._engine.model or not self.models.can_reload:
            self.notices.show_error(told)
        else:  # it was there before: its engine has crashed, say
            self.notices.show_error(told, tr("Reload model"), self.models.reload)

    @Slot(object)
    def _on_load_cancelled(self, path: Path) -> None:
        self.notices.progress.hide()
        if self._engine.model:
            self._say(tr("Loading {name} was cancelled.", name=path.name))
        else:
            self._no_model = tr("Loading {name} was cancelled, so no model is open.", name=path.name)
            self.notices.show_offer(self._no_model, tr("Load it"), partial(self.models.load, path))

    @Slot()
    def _on_slept(self) -> None:
        """The inspector shows an engine that holds nothing."""
        model = self._engine.model
        self.inspector.set_model(None)
        self._show_model(None)
        self.status.set_model(model, is_asleep=True)
        self._show_models()
        self.tabs.set_n_ctx(model.max_sequence_tokens if model else 0)

    @Slot(object)
    def _on_engine_failed(self, message: str) -> None:
        """The inspector keeps the last steps: they tell why."""
        self._show_model(None)
        self.inspector.note_engine_gone()
        self.notices.show_error(engine_error_text(message), tr("Reload model"), self.models.reload)

    @Slot(object)
    def _on_recovering(self, message: str) -> None:
        """The inspector keeps the last steps until the model is back."""
        self.inspector.note_engine_gone()
        self.notices.show_error(recovering_text(message))

    @Slot(object)
    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        self.inspector.append(reports)
        self._report = reports[-1]
        if not self._report_timer.isActive():
            self._show_report()

    @Slot(object)
    def _on_tab_titles_changed(self, titles: dict[str, str]) -> None:
        if titles != self._tab_titles:
            self._tab_titles = titles
            self.inspector.set_tabs(titles.keys())
            self.inspector.set_titles(self._tab_titles | self._api_titles)

    @Slot(object)
    def _on_api_titles_changed(self, titles: dict[str, str]) -> None:
        if titles != self._api_titles:
            self._api_titles = titles
            self.inspector.set_titles(self._tab_titles | self._api_titles)

    @Slot()
    def _show_report(self) -> None:
        if self._report and not self.isMinimized():
            self._report_timer.start()
            self.status.apply(self._report)
            self.pausing.apply(self._report)
            self.tabs.apply(self._report)
            self._report = None

    @Slot(object)
    def _on_closed(self, session: ChatSession) -> None:
        if not session.is_blank:
            self.undo.offer(closed_text(session.chat.display_title), self._workspace.reopen)
        self._show_current_state()

    @Slot(int)
    def _on_closed_many(self, num_chats: int) -> None:
        def reopen() -> None:
            shown = self._workspace.current
            for _ in range(num_chats):
                self._workspace.reopen()
            if shown:
                self._workspace.set_current(shown)

        self.undo.offer(tr_n("Closed {n} chat.", "Closed {n} chats.", num_chats), reopen)

    @Slot()
    def _show_current_state(self) -> None:
        current = self.tabs.current
        self.menus.show_chat_state()
        title = current.title if current else ""
        self.setWindowTitle(f"{title} – Skein" if title else "Skein")

    @Slot(int)
    def _on_num_busy_changed(self, num_busy: int) -> None:
        self.menus.stop_all.setEnabled(num_busy > 0)
        self._show_models()
        self.status.set_num_busy(num_busy)

    @Slot()
    def _show_models(self) -> None:
        self.menus.reload.setEnabled(self.models.can_reload)
        self.menus.load_settings.setEnabled(self.models.can_reload)
        self.menus.sleep.setEnabled(self._engine.can_sleep)

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == "speed":
            self._engine.set_speed(Speed(self.preferences.settings.speed))
        elif name == "max_chat_tokens":
            self.tabs.show_limits()
        elif name in ("api_enabled", "api_port") and self._api:
            self._api.apply()

    @Slot(str)
    def _on_save_failed(self, reason: str) -> None:
        self.notices.show_error(tr("The settings could not be saved: {reason}.", reason=reason))

    @Slot(object)
    def _on_chats_not_saved(self, message: str) -> None:
        self._not_saved = tr_said(message)
        self.notices.show_error(self._not_saved)

    @Slot()
    def _on_chats_saved(self) -> None:
        self.notices.withdraw(self._not_saved)
        self._say(tr("All chats are saved again."))

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
        """Made when it is first asked for: it reads headers of models, which the first window does not."""
        if self._load_settings is None:
            from app.ui.models.load_settings import LoadSettings

            self._load_settings = LoadSettings(self.preferences, self.models, self._engine, self)
        return self._load_settings

    def show_load_settings(self) -> None:
        """Of the model that is open; without one there are those of the engine."""
        if self.models.path:
            self.load_settings.show_for(self.models.path)
        else:
            self.show_settings("engine")

    def show_setting(self, name: str) -> None:
        self.settings_window.come_up()
        self.settings_window.show_setting(name)

    def _facts(self) -> Facts:
        from app.ui.settings.setting_list import Facts

        why_not_kept = self._cells.why_not if self._cells else ""
        return Facts(self.preferences.settings, self._engine.model, num_physical_cores(), why_not_kept)

    def _panes(self) -> list[QWidget]:
        """In reading order: of two chats side by side both."""
        sides = [self.navigation.sidebar.list] if self.navigation else []
        chats = [pane for view in self.tabs.shown_views for pane in (view.transcript, view.composer.editor)]
        return [*sides, self.tabs.strip.bar, *chats, *self.inspector.panels]

    # Qt's events

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Not Qt's own menu of docks."""
        self.inspector.popup_menu(event.globalPos())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_model(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if path := dropped_model(event.mimeData()):
            event.acceptProposedAction()
            self.models.load(path)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """What a chat has left of it."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.appearance.turn_wheel(event.angleDelta().y())
            event.accept()

    def showEvent(self, event: QShowEvent) -> None:
        """All menus are there now."""
        self.shortcuts.apply()
        super().showEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self.menus.full_screen.setChecked(self.isFullScreen())
            self._show_report()
            for view in self.tabs.shown_views:  # minimised, they were not drawn
                view.transcript.mark_growing()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Whoever owns the program closes it in order; the window goes then."""
        event.ignore()
        self.quit_requested.emit()
