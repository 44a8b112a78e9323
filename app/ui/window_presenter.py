"""Shows changes of engine, workspace and settings in the parts of the window. GUI thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QMainWindow

from app.bridge.chat_session import ChatSession
from app.inspector.sequences import SequencesPanel
from app.look.strip import Offer
from app.look.words import sentences, tr, tr_said
from app.protocol.commands import Abort, Command, SetSpeed
from app.protocol.load import Speed
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport
from app.services.local_api import LocalApi
from app.ui.base.notices import (
    Notices,
    closed_text,
    engine_error_text,
    load_error_text,
    recovering_text,
)
from app.ui.commands.menus import Menus, Parts
from app.ui.engine.status_bar import StatusBar, work_text
from app.ui.transcript.answer_inspection import AnswerInspection

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView

REPORT_PERIOD_MS = 100


class WindowPresenter(QObject):
    """Connects signals to the window's parts, as long as the window exists."""

    def __init__(
        self,
        window: QMainWindow,
        parts: Parts,
        menus: Menus,
        api: LocalApi,
        status: StatusBar,
        notices: Notices,
        answers: AnswerInspection,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._workspace, self._engine, self._preferences = parts.workspace, parts.engine, parts.preferences
        self._tabs, self._inspector, self._undo = parts.tabs, parts.inspector, parts.undo
        self._models, self._pausing = parts.models, parts.pausing
        self._api = api
        self._status = status
        self._menus = menus
        self._notices = notices
        self._answers = answers
        self._has_report = False
        self._not_saved = ""  # the last message of a failed save
        self._recovering = ""  # the message of an engine that is being started again
        self._no_model = ""  # the message after a cancelled load
        self._failed: dict[Path, str] = {}  # what was told of the last load of each
        self._shown = self._engine.front_address
        self._stay_loaded: list[str] = []  # messages after failed loads: which model goes on answering
        self._tab_titles: dict[str, str] = {}
        self._api_titles: dict[str, str] = {}
        self._shelf_titles: dict[str, str] = {}
        self._report_timer = QTimer(self, singleShot=True, interval=REPORT_PERIOD_MS)
        self._connect()
        self._on_context_changed(self._engine.front_address)
        self._show_front()
        self._on_num_busy_changed(0)
        self._show_models()
        self._show_current_state()

    def _connect(self) -> None:
        self._workspace.opened.connect(self._on_opened)
        self._workspace.came_back.connect(self._on_opened)
        self._workspace.closed.connect(self._on_closed)
        self._workspace.save_failed.connect(self._on_chats_not_saved)
        self._workspace.save_recovered.connect(self._on_chats_saved)
        self._engine.loading.connect(self._on_loading)
        self._engine.load_progressed.connect(self._notices.set_load_fraction)
        self._engine.opened.connect(self._on_model_opened)
        self._engine.loaded.connect(self._show_front)
        self._engine.load_failed.connect(self._on_load_failed)
        self._engine.load_cancelled.connect(self._on_load_cancelled)
        self._engine.slept.connect(self._show_front)
        self._notices.load_cancelled.connect(self._engine.cancel_load)
        self._notices.left.connect(self._tabs.focus_current)
        self._models.loading_changed.connect(self._menus.show_chat_state)
        self._models.loading_changed.connect(self._show_models)
        self._engine.engine_failed.connect(self._on_engine_failed)
        self._engine.recovering.connect(self._on_recovering)
        self._engine.reports_of.connect(self._on_reports_of)
        self._engine.context_changed.connect(self._on_context_changed)
        self._engine.changed.connect(self._show_engines)
        self._report_timer.timeout.connect(self._show_new_report)
        self._api.failed.connect(self._notices.show_error)
        self._api.titles_changed.connect(self._on_api_titles_changed)
        self._inspector.chat_activated.connect(self._tabs.show_chat)
        self._inspector.commanded.connect(self._on_commanded)
        self._inspector.stop_requested.connect(lambda request_id: self._engine.post(Abort(request_id)))
        self._inspector.fork_requested.connect(self._tabs.fork_chat)
        self._inspector.files.failed.connect(self._notices.show_error)
        self._inspector.files.saved.connect(self._status.say)
        self._tabs.titles_changed.connect(self._on_tab_titles_changed)
        self._tabs.view_made.connect(self._on_view_made)
        self._tabs.current_state_changed.connect(self._show_current_state)
        self._tabs.num_busy_changed.connect(self._on_num_busy_changed)
        self._status.stop_all.clicked.connect(self._menus.stop_all.trigger)
        self._status.model.clicked.connect(lambda: self._inspector.show_panel(SequencesPanel.NAME))
        self._models.changed.connect(self._show_models)
        self._preferences.changed.connect(self._on_setting_changed)
        self._preferences.save_failed.connect(self._on_save_failed)

    @Slot(object)
    def _on_loading(self, path: Path) -> None:
        self._withdraw_stay_loaded()
        self._notices.show_load(path)
        self._inspector.set_loading(True)

    def _withdraw_stay_loaded(self) -> None:
        for told in self._stay_loaded:
            self._notices.withdraw(told)
        self._stay_loaded.clear()

    @Slot()
    def _on_model_opened(self) -> None:
        self._notices.dismiss_offers()
        self._notices.withdraw(self._no_model)
        self._notices.withdraw(self._recovering)
        self._withdraw_stay_loaded()

    @Slot()
    def _show_front(self) -> None:
        """Another engine is in front, or it has another context, or none."""
        if self._engine.front_address != self._shown:  # an offer to load a model is about the chat in front
            self._shown = self._engine.front_address
            self._notices.dismiss_offers()
        self._inspector.show_engine(self._engine.front_address)
        self._show_model(None if self._engine.is_asleep else self._engine.model)
        self._show_models()
        self._draw_reports()

    @Slot(str)
    def _on_context_changed(self, address: str) -> None:
        """The inspector shows an engine that is asleep without cells."""
        engine = self._engine.known(address)
        self._inspector.begin(address, engine.model if engine and not engine.is_asleep else None)
        self._tabs.show_contexts()

    @Slot()
    def _show_engines(self) -> None:
        awake = [(one.model, one.newest) for one in self._engine if one.model and not one.is_asleep]
        self._inspector.set_engines(
            {
                model.address: (" · ".join(filter(None, (model.name, model.host))), work_text(newest))
                for model, newest in awake
            }
        )

    @Slot(object)
    def _on_commanded(self, command: Command) -> None:
        """For the engine that the inspector shows."""
        self._engine.post(command, self._inspector.address)

    def _show_model(self, model: ModelInfo | None) -> None:
        self._notices.progress.clear()
        self._status.apply(None)
        self._pausing.set_model(model)
        self._answers.set_model(model)

    @Slot(object, object)
    def _on_load_failed(self, path: Path, message: str) -> None:
        self._notices.progress.clear()
        self._inspector.set_loading(False)
        if self._engine.model is None:  # also one that was asleep and failed to load again
            self._show_model(None)
        told = load_error_text(path, message, self._engine.model)
        self._notices.withdraw(self._failed.get(path, ""))
        self._failed[path] = told
        if self._engine.model:
            self._notices.show_error(told)
            self._stay_loaded.append(told)
        elif self._models.path in (None, path):
            self._notices.show_error(told, *self._models.remedies(path))
        else:  # there was another before: its engine has crashed, for example
            self._notices.show_error(told, Offer(tr("Reload model"), self._models.reload))

    @Slot(object)
    def _on_load_cancelled(self, path: Path) -> None:
        self._notices.progress.clear()
        self._inspector.set_loading(False)
        if self._engine.model:
            self._status.say(tr("Loading {name} was cancelled.", name=path.name))
        else:
            self._no_model = tr("Loading {name} was cancelled, so no model is loaded.", name=path.name)
            self._notices.show_offer(self._no_model, tr("Load it"), partial(self._models.load, path))

    @Slot(object)
    def _on_engine_failed(self, message: str) -> None:
        """The inspector keeps the last steps, which show why."""
        self._show_model(None)
        self._inspector.note_engine_gone()
        self._notices.show_error(engine_error_text(message), Offer(tr("Reload model"), self._models.reload))

    @Slot(object)
    def _on_recovering(self, message: str) -> None:
        """The inspector keeps the last steps until the model is back."""
        self._inspector.note_engine_gone()
        self._recovering = recovering_text(message)
        self._notices.show_error(self._recovering)

    @Slot(str, object)
    def _on_reports_of(self, address: str, reports: tuple[StepReport, ...]) -> None:
        self._inspector.append(address, reports)
        self._has_report = True
        if not self._report_timer.isActive():
            self._show_new_report()

    @Slot(object)
    def _on_tab_titles_changed(self, titles: dict[str, str]) -> None:
        if titles != self._tab_titles:
            self._tab_titles = titles
            self._inspector.set_tabs(titles.keys())
            self._show_titles()

    @Slot(object)
    def on_shelf_titles_changed(self, titles: dict[str, str]) -> None:
        if titles != self._shelf_titles:
            self._shelf_titles = titles
            self._show_titles()

    def _show_titles(self) -> None:
        self._inspector.set_titles(self._tab_titles | self._api_titles | self._shelf_titles)

    @Slot(object)
    def _on_api_titles_changed(self, titles: dict[str, str]) -> None:
        if titles != self._api_titles:
            self._api_titles = titles
            self._show_titles()

    @Slot()
    def _show_new_report(self) -> None:
        if self._has_report:
            self.show_report()

    @Slot()
    def show_report(self) -> None:
        """The newest of each engine, unless the window is hidden."""
        if self._tabs.windows or not self._window.isMinimized():
            self._has_report = False
            self._report_timer.start()
            self._draw_reports()

    def _draw_reports(self) -> None:
        if report := self._engine.front.newest:
            self._status.apply(report)
        if shown := self._engine.newest_reports.get(self._inspector.address):
            self._pausing.apply(shown)
        self._tabs.apply(self._engine.newest_reports)
        self._menus.sleep.setEnabled(self._engine.front.can_sleep)
        self._show_engines()

    @Slot(object, int)
    def _on_opened(self, session: ChatSession, _index: int) -> None:
        self._undo.withdraw(closed_text(session.chat.display_title))

    @Slot(object)
    def _on_view_made(self, view: ChatView) -> None:
        from app.ui.transcript.token_lights import TokenLights  # with all that draws answers, as the view has

        view.turn_actions.tokens_requested.connect(self._answers.show_answer)
        view.turn_actions.lens_requested.connect(self._answers.look_into)
        TokenLights(self._answers.panel, view.transcript, view)
        view.turn_actions.undo_offered.connect(self._undo.offer)

    @Slot(object)
    def _on_closed(self, session: ChatSession) -> None:
        if self._workspace.is_closed_last(session):
            goes_on = tr("Its answer goes on.") if session.is_busy else ""
            told = sentences(closed_text(session.chat.display_title), goes_on)
            self._undo.offer(told, self._workspace.reopen)
        self._show_current_state()

    @Slot()
    def _show_current_state(self) -> None:
        current = self._tabs.current_tab
        self._menus.show_chat_state()
        title = current.title if current else ""
        self._window.setWindowTitle(f"{title} — Skein" if title else "Skein")

    @Slot(int)
    def _on_num_busy_changed(self, num_busy: int) -> None:
        self._menus.stop_all.setEnabled(num_busy > 0)
        self._show_models()
        self._status.set_num_busy(num_busy)

    @Slot()
    def _show_models(self) -> None:
        self._menus.reload.setEnabled(self._models.can_reload)
        self._menus.load_settings.setEnabled(self._models.can_reload)
        self._menus.sleep.setEnabled(self._engine.front.can_sleep)
        self._menus.for_all.setEnabled(self._models.can_load_for_all)
        self._menus.pin.setEnabled(self._models.can_reload)
        self._menus.pin.setChecked(self._models.is_pinned)

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == "speed":
            self._engine.post(SetSpeed(Speed(self._preferences.settings.speed)))
        elif name == "max_chat_tokens":
            self._tabs.show_limits()
        elif name.startswith("api_") and name != "api_key":  # which the API sets itself
            self._api.apply()

    @Slot(str)
    def _on_save_failed(self, reason: str) -> None:
        self._notices.show_error(tr("The settings could not be saved: {reason}.", reason=reason))

    @Slot(object)
    def _on_chats_not_saved(self, message: str) -> None:
        self._not_saved = tr_said(message)
        self._notices.show_error(self._not_saved)

    @Slot()
    def _on_chats_saved(self) -> None:
        self._notices.withdraw(self._not_saved)
        self._status.say(tr("All chats are saved again."))
