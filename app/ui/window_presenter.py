"""Shows changes of engine, workspace and settings in the parts of the window. GUI thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.active_engine import ActiveEngine
from app.bridge.chat_session import ChatSession
from app.bridge.workspace import Workspace
from app.inspector.arrangement import KV_MAP, TIMELINE
from app.inspector.sequences import SequencesPanel
from app.look.words import tr, tr_n, tr_said
from app.protocol.commands import Abort, SetSpeed
from app.protocol.load import Speed
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport
from app.services.local_api import LocalApi
from app.ui.base.notices import closed_text, engine_error_text, load_error_text, recovering_text

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow

REPORT_PERIOD_MS = 100


class WindowPresenter(QObject):
    """Connects signals to the window's parts, as long as it exists."""

    def __init__(self, window: MainWindow, workspace: Workspace, engine: ActiveEngine) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._engine = engine
        self._api: LocalApi | None = None
        self._report: StepReport | None = None
        self._not_saved = ""  # the last message of a failed save
        self._no_model = ""  # the message after a cancelled load
        self._tab_titles: dict[str, str] = {}
        self._api_titles: dict[str, str] = {}
        self._report_timer = QTimer(self, singleShot=True, interval=REPORT_PERIOD_MS)
        self._connect()
        self._on_loaded(engine.model)
        self._on_num_busy_changed(0)
        self._show_models()
        self._show_current_state()

    def follow_api(self, api: LocalApi) -> None:
        self._api = api
        api.failed.connect(self._window.notices.show_error)
        api.titles_changed.connect(self._on_api_titles_changed)

    def _connect(self) -> None:
        self._workspace.closed.connect(self._on_closed)
        self._workspace.save_failed.connect(self._on_chats_not_saved)
        self._workspace.save_recovered.connect(self._on_chats_saved)
        self._engine.loading.connect(self._window.notices.progress.start)
        self._engine.load_progressed.connect(self._window.notices.progress.set_fraction)
        self._engine.loaded.connect(self._on_loaded)
        self._engine.load_failed.connect(self._on_load_failed)
        self._engine.load_cancelled.connect(self._on_load_cancelled)
        self._engine.slept.connect(self._on_slept)
        self._window.notices.progress.cancel_requested.connect(self._window.models.cancel)
        self._window.models.loading_changed.connect(self._window.menus.show_chat_state)
        self._window.models.loading_changed.connect(self._show_models)
        self._engine.engine_failed.connect(self._on_engine_failed)
        self._engine.recovering.connect(self._on_recovering)
        self._engine.reported.connect(self._on_reported)
        self._report_timer.timeout.connect(self.show_report)
        self._window.inspector.chat_activated.connect(self._window.tabs.show_chat)
        self._window.inspector.commanded.connect(self._engine.post)
        self._window.inspector.stop_requested.connect(lambda request_id: self._engine.post(Abort(request_id)))
        self._window.inspector.fork_requested.connect(self._window.tabs.fork_chat)
        self._window.inspector.files.failed.connect(self._window.notices.show_error)
        self._window.inspector.files.saved.connect(self._window.say)
        self._window.tabs.titles_changed.connect(self._on_tab_titles_changed)
        self._window.tabs.said.connect(self._window.say)
        self._window.tabs.closed_many.connect(self._on_closed_many)
        self._window.tabs.tokens_requested.connect(self._window.answers.show_answer)
        self._window.tabs.undo_offered.connect(self._window.undo.offer)
        self._window.tabs.current_state_changed.connect(self._show_current_state)
        self._window.tabs.num_busy_changed.connect(self._on_num_busy_changed)
        self._window.status.stop_all_requested.connect(self._window.menus.stop_all.trigger)
        self._window.status.model_clicked.connect(self._window.show_load_settings)
        self._window.status.cells_clicked.connect(partial(self._window.inspector.show_panel, KV_MAP.NAME))
        self._window.status.queue_clicked.connect(
            partial(self._window.inspector.show_panel, SequencesPanel.NAME)
        )
        self._window.status.speed_clicked.connect(partial(self._window.inspector.show_panel, TIMELINE.NAME))
        self._window.models.changed.connect(self._show_models)
        self._window.preferences.changed.connect(self._on_setting_changed)
        self._window.preferences.save_failed.connect(self._on_save_failed)
        self._window.appearance.text_changed.connect(self._window.tabs.set_zoom)

    @Slot(object)
    def _on_loaded(self, model: ModelInfo | None) -> None:
        if model:
            self._window.notices.dismiss_offers()
            self._window.notices.withdraw(self._no_model)
        self._window.inspector.set_model(model)
        self._show_model(model)

    def _show_model(self, model: ModelInfo | None) -> None:
        self._window.notices.progress.end()
        self._report = None
        self._window.status.set_model(model)
        self._window.pausing.set_model(model)
        self._window.answers.set_model(model)
        self._window.tabs.set_n_ctx(model.max_sequence_tokens if model else 0)

    @Slot(object, object)
    def _on_load_failed(self, path: Path, message: str) -> None:
        self._window.notices.progress.end()
        if self._engine.model is None:  # also one that was asleep and failed to load again
            self._show_model(None)
        told = load_error_text(path, message, self._engine.model)
        if self._engine.model or not self._window.models.can_reload:
            self._window.notices.show_error(told)
        else:  # there was one before: its engine has crashed, for example
            self._window.notices.show_error(told, tr("Reload model"), self._window.models.reload)

    @Slot(object)
    def _on_load_cancelled(self, path: Path) -> None:
        self._window.notices.progress.end()
        if self._engine.model:
            self._window.say(tr("Loading {name} was cancelled.", name=path.name))
        else:
            self._no_model = tr("Loading {name} was cancelled, so no model is open.", name=path.name)
            self._window.notices.show_offer(
                self._no_model, tr("Load it"), partial(self._window.models.load, path)
            )

    @Slot()
    def _on_slept(self) -> None:
        """The inspector shows an engine without cells."""
        model = self._engine.model
        self._window.inspector.set_model(None)
        self._show_model(None)
        self._window.status.set_model(model, is_asleep=True)
        self._show_models()
        self._window.tabs.set_n_ctx(model.max_sequence_tokens if model else 0)

    @Slot(object)
    def _on_engine_failed(self, message: str) -> None:
        """The inspector keeps the last steps, which show why."""
        self._show_model(None)
        self._window.inspector.note_engine_gone()
        self._window.notices.show_error(
            engine_error_text(message), tr("Reload model"), self._window.models.reload
        )

    @Slot(object)
    def _on_recovering(self, message: str) -> None:
        """The inspector keeps the last steps until the model is back."""
        self._window.inspector.note_engine_gone()
        self._window.notices.show_error(recovering_text(message))

    @Slot(object)
    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        self._window.inspector.append(reports)
        self._report = reports[-1]
        if not self._report_timer.isActive():
            self.show_report()

    @Slot(object)
    def _on_tab_titles_changed(self, titles: dict[str, str]) -> None:
        if titles != self._tab_titles:
            self._tab_titles = titles
            self._window.inspector.set_tabs(titles.keys())
            self._window.inspector.set_titles(self._tab_titles | self._api_titles)

    @Slot(object)
    def _on_api_titles_changed(self, titles: dict[str, str]) -> None:
        if titles != self._api_titles:
            self._api_titles = titles
            self._window.inspector.set_titles(self._tab_titles | self._api_titles)

    @Slot()
    def show_report(self) -> None:
        """The newest report, unless the window is hidden."""
        if self._report and not self._window.isMinimized():
            self._report_timer.start()
            self._window.status.apply(self._report)
            self._window.pausing.apply(self._report)
            self._window.tabs.apply(self._report)
            self._report = None

    @Slot(object)
    def _on_closed(self, session: ChatSession) -> None:
        if not session.is_blank:
            self._window.undo.offer(closed_text(session.chat.display_title), self._workspace.reopen)
        self._show_current_state()

    @Slot(int)
    def _on_closed_many(self, num_chats: int) -> None:
        def reopen() -> None:
            shown = self._workspace.current
            for _ in range(num_chats):
                self._workspace.reopen()
            if shown:
                self._workspace.set_current(shown)

        self._window.undo.offer(tr_n("Closed {n} chat.", "Closed {n} chats.", num_chats), reopen)

    @Slot()
    def _show_current_state(self) -> None:
        current = self._window.tabs.current
        self._window.menus.show_chat_state()
        title = current.title if current else ""
        self._window.setWindowTitle(f"{title} — Skein" if title else "Skein")

    @Slot(int)
    def _on_num_busy_changed(self, num_busy: int) -> None:
        self._window.menus.stop_all.setEnabled(num_busy > 0)
        self._show_models()
        self._window.status.set_num_busy(num_busy)

    @Slot()
    def _show_models(self) -> None:
        self._window.menus.reload.setEnabled(self._window.models.can_reload)
        self._window.menus.load_settings.setEnabled(self._window.models.can_reload)
        self._window.menus.sleep.setEnabled(self._engine.can_sleep)

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == "speed":
            self._engine.post(SetSpeed(Speed(self._window.preferences.settings.speed)))
        elif name == "max_chat_tokens":
            self._window.tabs.show_limits()
        elif name in ("api_enabled", "api_port") and self._api:
            self._api.apply()

    @Slot(str)
    def _on_save_failed(self, reason: str) -> None:
        self._window.notices.show_error(tr("The settings could not be saved: {reason}.", reason=reason))

    @Slot(object)
    def _on_chats_not_saved(self, message: str) -> None:
        self._not_saved = tr_said(message)
        self._window.notices.show_error(self._not_saved)

    @Slot()
    def _on_chats_saved(self) -> None:
        self._window.notices.withdraw(self._not_saved)
        self._window.say(tr("All chats are saved again."))
