"""The frame: menus, tabs, inspector docks, status bar, and what connects them. GUI thread.

Features live in their own files.
"""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QContextMenuEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeySequence,
)
from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow, QMessageBox, QWidget

from app import __version__
from app.bridge.active_engine import ActiveEngine
from app.bridge.chat_session import ChatSession
from app.bridge.local_api import LocalApi
from app.bridge.parameters import load_params
from app.bridge.self_test import SelfTest
from app.bridge.workspace import Workspace
from app.engine.types import ModelInfo, Role, StepReport
from app.inspector.arrangement import ROWS
from app.inspector.batch_timeline import TimelinePanel
from app.inspector.docks import InspectorDocks
from app.inspector.kv_map import KvMapPanel
from app.inspector.sequences import SequencesPanel
from app.look.fonts import MAX_ZOOM, MIN_ZOOM
from app.look.icons import app_icon
from app.look.theme import apply_theme
from app.settings import Settings
from app.ui.actions import add_menu, make_action, radio_menu
from app.ui.answer_inspection import AnswerInspection
from app.ui.api_menu import ApiMenu
from app.ui.chat_tabs import ChatTabs
from app.ui.choices import THEMES
from app.ui.dropped_model import dropped_model
from app.ui.edit_actions import edit_actions
from app.ui.engine_menu import EngineMenu
from app.ui.notices import Notices, UndoToast, closed_text, engine_error_text, load_error_text
from app.ui.pausing import Pausing
from app.ui.self_test_menu import SelfTestMenu
from app.ui.status_bar import StatusBar

REPORT_PERIOD_MS = 100
SAID_FOR_MS = 8_000  # in the status bar
WINDOW_SIZE = QSize(1280, 800)
FRAME_SIZE = QSize(8, 40)  # what a window manager may add around it
Key = QKeySequence.StandardKey


class MainWindow(QMainWindow):
    quit_requested = Signal()  # File > Quit or the window's close button

    def __init__(self, workspace: Workspace, engine: ActiveEngine, settings: Settings) -> None:
        super().__init__()
        self._workspace = workspace
        self._engine = engine
        self._settings = settings
        self._model_path: Path | None = None  # what "Reload model" loads
        self._report: StepReport | None = None
        self._zoom = 0
        self._tab_titles: dict[str, str] = {}
        self._api_titles: dict[str, str] = {}
        self.setWindowTitle("Skein")
        self.setWindowIcon(app_icon())
        self.setAcceptDrops(True)
        self.setMinimumSize(560, 400)
        self.resize(WINDOW_SIZE.boundedTo(self.screen().availableSize() - FRAME_SIZE))
        self.notices = Notices(self)
        self.tabs = ChatTabs(workspace, self.notices, self)
        self.setCentralWidget(self.tabs)
        self.undo = UndoToast(self.tabs)
        self.status = StatusBar(self)
        self.setStatusBar(self.status)
        self.inspector = InspectorDocks(self, ROWS)
        self.engine_menu = EngineMenu(engine, settings, self)
        self.pausing = Pausing(self.inspector, self.notices.paused, engine, self)
        self.answers = AnswerInspection(self.inspector, workspace, engine, self)
        self._report_timer = QTimer(self, singleShot=True, interval=REPORT_PERIOD_MS)
        self._make_menus()
        self._make_tab_shortcuts()
        self._connect()
        self._on_loaded(engine.model)
        self._on_num_busy_changed(0)
        self._show_current_state()

    # Building

    def _make_menus(self) -> None:
        self._make_actions()
        bar = self.menuBar()
        add_menu(bar, "&File", self._new, self._reopen, None, self._open, None, self._close, self._quit)
        add_menu(bar, "&Edit", *edit_actions(self))
        theme = radio_menu(bar, "&Theme", THEMES, self._settings.theme, self._choose_theme)
        zoom = self._zoom_actions()
        self._inspector_menu = self.inspector.menu(self)
        add_menu(bar, "&View", self._inspector_menu, self._next_pane, None, theme, None, *zoom)
        chat = (self._stop, self._copy_answer, self._show_tokens, None, self._fork, self._chat_settings)
        add_menu(bar, "&Chat", *chat, None, self._next_tab, self._previous_tab)
        add_menu(bar, "&Model", self._open, self._reload)
        self.engine_menu.add_to(bar, *self.pausing.actions.all)
        about = make_action(self, "&About Skein", "Version and licences", self._show_about)
        self._help = add_menu(bar, "&Help", about)

    def show_api(self, api: LocalApi) -> None:
        """The local API gets its menu, its part of the status bar, and its callers' chats names."""
        self.api_menu = ApiMenu(api, self._settings, self)
        menu = self.api_menu.add_to(self.menuBar())
        self.menuBar().insertMenu(self._help.menuAction(), menu)
        self.api_menu.state_changed.connect(self.status.set_api)
        self.status.api_clicked.connect(self.api_menu.show_panel)
        api.settings_changed.connect(self._on_engine_settings_changed)
        api.failed.connect(self.notices.show_error)
        api.titles_changed.connect(self._on_api_titles_changed)

    def show_self_test(self, test: SelfTest) -> None:
        """The self-test gets its place in the inspector's menu."""
        self.self_test_menu = SelfTestMenu(test, self._engine, self._settings, self)
        self._inspector_menu.addSeparator()
        self._inspector_menu.addAction(self.self_test_menu.open)
        self.tabs.num_busy_changed.connect(self.self_test_menu.dialog.set_num_busy)
        self.self_test_menu.ended_unseen.connect(lambda text: self.status.showMessage(text, SAID_FOR_MS))

    def _make_actions(self) -> None:
        self._new = make_action(
            self, "&New chat", "Open a new chat in a new tab", self._workspace.new_chat, "Ctrl+T", "Ctrl+N"
        )
        self._reopen = make_action(
            self,
            "&Reopen closed chat",
            "Bring back the tab closed last",
            self._workspace.reopen,
            "Ctrl+Shift+T",
        )
        self._open = make_action(
            self, "&Open model…", "Open a model from a GGUF file", self._choose_model, "Ctrl+O"
        )
        self._close = make_action(
            self, "&Close chat", "Close this tab; it can be reopened", self.tabs.close_current, "Ctrl+W"
        )
        self._quit = make_action(
            self, "&Quit", "Save everything and quit", self.quit_requested.emit, "Ctrl+Q"
        )
        self._stop = make_action(
            self, "&Stop answer", "Stop the answer in this tab", self._stop_answer, "Esc"
        )
        self._copy_answer = make_action(
            self,
            "&Copy last answer",
            "Copy the last answer as Markdown",
            self._copy_last_answer,
            "Ctrl+Shift+C",
        )
        self._show_tokens = make_action(
            self,
            "Token &probabilities",
            "Show what else the last answer could have said",
            self._show_tokens_of_answer,
            "Ctrl+Alt+P",
        )
        self._fork = make_action(
            self, "&Fork chat", "Go on in a copy of this chat", self.tabs.fork_current, "Ctrl+Shift+K"
        )
        self._chat_settings = make_action(
            self,
            "Chat s&ettings…",
            "How long this chat may get, and what becomes of it then",
            self.tabs.open_chat_settings,
            "Ctrl+Shift+L",
        )
        self._next_tab = make_action(
            self, "&Next tab", "Show the next tab", lambda: self.tabs.show_next(1), "Ctrl+Tab", "Ctrl+PgDown"
        )
        self._previous_tab = make_action(
            self,
            "&Previous tab",
            "Show the previous tab",
            lambda: self.tabs.show_next(-1),
            "Ctrl+Shift+Tab",
            "Ctrl+PgUp",
        )
        self._reload = make_action(
            self, "&Reload model", "Load the same file again, with empty memory", self._reload_model
        )
        self._next_pane = make_action(
            self, "Next &pane", "Move the focus to the next pane", self._cycle_panes, "F6"
        )

    def _zoom_actions(self) -> tuple[QAction, ...]:
        return (
            make_action(
                self, "Zoom &in", "Larger text", lambda: self._set_zoom(self._zoom + 1), Key.ZoomIn, "Ctrl+="
            ),
            make_action(
                self, "Zoom &out", "Smaller text", lambda: self._set_zoom(self._zoom - 1), Key.ZoomOut
            ),
            make_action(self, "&Usual size", "Text at its usual size", lambda: self._set_zoom(0), "Ctrl+0"),
        )

    def _make_tab_shortcuts(self) -> None:
        for number in range(1, 10):
            tip = f"Show tab {number}"
            show = partial(self.tabs.show_index, number - 1)
            self.addAction(make_action(self, tip, tip, show, f"Alt+{number}"))

    def _connect(self) -> None:
        self._workspace.closed.connect(self._on_closed)
        self._workspace.save_failed.connect(self.notices.show_error)
        self._engine.loading.connect(self.notices.progress.start)
        self._engine.load_progressed.connect(self.notices.progress.set_fraction)
        self._engine.loaded.connect(self._on_loaded)
        self._engine.load_failed.connect(self._on_load_failed)
        self._engine.engine_failed.connect(self._on_engine_failed)
        self._engine.reported.connect(self._on_reported)
        self._report_timer.timeout.connect(self._show_report)
        self.inspector.chat_activated.connect(self.tabs.show_chat)
        self.inspector.commanded.connect(self._engine.post)
        self.inspector.stop_requested.connect(self._engine.abort)
        self.inspector.fork_requested.connect(self.tabs.fork_chat)
        self.inspector.files.failed.connect(self.notices.show_error)
        self.inspector.files.saved.connect(lambda text: self.status.showMessage(text, SAID_FOR_MS))
        self.tabs.titles_changed.connect(self._on_tab_titles_changed)
        self.tabs.tokens_requested.connect(self.answers.show_answer)
        self.tabs.current_state_changed.connect(self._show_current_state)
        self.tabs.num_busy_changed.connect(self._on_num_busy_changed)
        self.status.stop_all_requested.connect(self.engine_menu.stop_all.trigger)
        self.status.model_clicked.connect(self.engine_menu.show_dialog)
        self.status.cells_clicked.connect(partial(self.inspector.show_panel, KvMapPanel.NAME))
        self.status.queue_clicked.connect(partial(self.inspector.show_panel, SequencesPanel.NAME))
        self.status.speed_clicked.connect(partial(self.inspector.show_panel, TimelinePanel.NAME))
        self.engine_menu.settings_changed.connect(self._on_engine_settings_changed)
        self.engine_menu.reload_requested.connect(self._reload_model)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_colour_scheme_changed)

    # What the engine and the workspace tell

    @Slot(object)
    def _on_loaded(self, model: ModelInfo | None) -> None:
        if model:
            self._model_path = model.path
            self.notices.dismiss_offers()
        self._reload.setEnabled(self._model_path is not None)
        self.inspector.set_model(model)
        self._show_model(model)

    def _show_model(self, model: ModelInfo | None) -> None:
        self.notices.progress.hide()
        self._report = None
        self.status.set_model(model)
        self.pausing.set_model(model)
        self.answers.set_model(model)
        self.tabs.set_n_ctx(model.max_sequence_tokens if model else 0)

    @Slot(object, str)
    def _on_load_failed(self, path: Path, message: str) -> None:
        self.notices.progress.hide()
        self.notices.show_error(load_error_text(path, message, self._engine.model))

    @Slot(str)
    def _on_engine_failed(self, message: str) -> None:
        """The inspector keeps the last steps: they tell why."""
        self._show_model(None)
        self.inspector.note_engine_gone()
        self.notices.show_error(engine_error_text(message), "Reload model", self._reload_model)

    @Slot(object)
    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        self.inspector.append(reports)
        self._report = reports[-1]
        if not self._report_timer.isActive():
            self._show_report()
            self._report_timer.start()

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
        if self._report:
            self.status.apply(self._report)
            self.pausing.apply(self._report)
            self.tabs.apply(self._report)
            self._report = None

    @Slot(object)
    def _on_closed(self, session: ChatSession) -> None:
        if not session.is_blank:
            self.undo.offer(closed_text(session.chat.display_title), self._workspace.reopen)
        self._show_current_state()

    @Slot()
    def _show_current_state(self) -> None:
        current = self.tabs.current
        self._stop.setEnabled(current is not None and current.session.is_busy)
        self._reopen.setEnabled(self._workspace.can_reopen)
        title = current.title if current else ""
        self.setWindowTitle(f"{title} – Skein" if title else "Skein")

    @Slot(int)
    def _on_num_busy_changed(self, num_busy: int) -> None:
        self.engine_menu.stop_all.setEnabled(num_busy > 0)
        self.status.set_num_busy(num_busy)

    @Slot()
    def _on_engine_settings_changed(self) -> None:
        self.tabs.show_limits()
        self._save_settings()

    @Slot()
    def _on_colour_scheme_changed(self) -> None:
        self._apply_theme()

    # Commands

    def _stop_answer(self) -> None:
        if self.tabs.current:
            self.tabs.current.session.stop()

    def _copy_last_answer(self) -> None:
        turns = self.tabs.current.session.chat.turns if self.tabs.current else []
        answer = next(
            (turn.text for turn in reversed(turns) if turn.role is Role.ASSISTANT and turn.text), ""
        )
        if answer:
            QGuiApplication.clipboard().setText(answer)

    def _show_tokens_of_answer(self) -> None:
        if self.tabs.current:
            self.answers.show_newest(self.tabs.current.session)

    def _choose_model(self) -> None:
        dialog = QFileDialog(self, "Open model")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["GGUF models (*.gguf)", "All files (*)"])
        if self._model_path:
            dialog.setDirectory(str(self._model_path.parent))
        dialog.fileSelected.connect(lambda name: self._load(Path(name)))
        dialog.open()  # never exec: a nested loop would stop every coroutine

    @Slot()
    def _reload_model(self) -> None:
        if self._model_path:
            self._load(self._model_path)

    def _load(self, path: Path) -> None:
        self._engine.load(load_params(self._settings, path))

    def _choose_theme(self, name: str) -> None:
        self._settings.theme = name  # type: ignore[assignment]
        self._apply_theme()
        self._save_settings()

    def _save_settings(self) -> None:
        try:
            self._settings.save()
        except OSError as error:
            self.notices.show_error(f"The settings could not be saved: {error.strerror}.")

    def _apply_theme(self) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication):
            apply_theme(application, self._settings.theme)

    def _set_zoom(self, zoom: int) -> None:
        self._zoom = max(MIN_ZOOM, min(MAX_ZOOM, zoom))
        self.tabs.set_zoom(self._zoom)

    def _cycle_panes(self) -> None:
        """Message, transcript, the inspector's panels, tabs, and round again."""
        if not self.tabs.current:
            return
        view = self.tabs.current
        panes: list[QWidget] = [view.composer.editor, view.transcript, *self.inspector.panels]
        reachable = [pane for pane in [*panes, self.tabs.strip.bar] if pane.isVisible()]
        focused = next((i for i, pane in enumerate(reachable) if _has_focus(pane)), -1)
        pane = reachable[(focused + 1) % len(reachable)]
        pane.window().activateWindow()  # a panel that is torn off
        pane.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_about(self) -> None:
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle("About Skein")
        box.setIconPixmap(app_icon().pixmap(64, 64))
        box.setText(f"Skein {__version__}")
        box.setInformativeText(
            "Many chats with a local language model through one shared context.\n\n"
            "Uses llama.cpp (MIT), Qt and PySide6 (LGPLv3), and Lucide icons (ISC)."
        )
        box.open()

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
            self._load(path)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Whoever owns the program closes it in order; the window goes then."""
        event.ignore()
        self.quit_requested.emit()


def _has_focus(pane: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and (focused is pane or pane.isAncestorOf(focused))
