import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, TurnState
from app.inspector.events import EventsPanel
from app.inspector.sequence_rows import TAB
from app.inspector.sequences import SequencesPanel
from app.look.strip import Strip
from app.look.tokens import DARK, LIGHT, current
from app.protocol.commands import Pin
from app.protocol.events import EventKind, Told
from app.protocol.load import LoadParams, Speed
from app.protocol.request import Overflow
from app.settings.settings import Settings
from app.shelves.shelf import Shelf, ShelfFile
from app.system import paths
from app.system.files import Stamp
from app.ui.base.proportions import MIN_CHATS
from app.ui.main_window import MainWindow
from app.ui.transcript.turn_actions import TurnAction
from tests.fakes import model_info
from tests.inspector.reports import decoding, report
from tests.ui.fakes import FakeEngine, FakeWorkspace
from tests.ui.windows import scripted_window

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
NONE = Qt.KeyboardModifier.NoModifier


def press(qtbot: QtBot, window: MainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    window.frame.activateWindow()
    qtbot.keyClick(QApplication.focusWidget() or window.frame, key, modifiers)


def sequences(window: MainWindow) -> SequencesPanel:
    panel = window.inspector.panel("sequences")
    assert isinstance(panel, SequencesPanel)
    return panel


def all_actions(window: MainWindow) -> list[QAction]:
    return [
        action for action in window.frame.findChildren(QAction) if action.text() and not action.isSeparator()
    ]


def offer(banner: Strip, label: str) -> QPushButton:
    return next(button for button in banner.findChildren(QPushButton) if button.text() == label)


class TestTabs:
    def test_keys_open_close_and_reopen_tabs(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        press(qtbot, window, Qt.Key.Key_T, CTRL)
        press(qtbot, window, Qt.Key.Key_T, CTRL)
        assert len(workspace.sessions) == 3
        second = workspace.sessions[1]
        second.send("Sums")
        second.finish()
        press(qtbot, window, Qt.Key.Key_2, ALT)
        assert workspace.current is second
        press(qtbot, window, Qt.Key.Key_W, CTRL)
        assert len(workspace.sessions) == 2
        press(qtbot, window, Qt.Key.Key_T, CTRL | SHIFT)
        assert workspace.sessions[1].chat.display_title == "Sums"

    def test_keys_walk_through_the_tabs_and_round_the_end(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        for _ in range(2):
            workspace.new_chat()
        first, second, third = workspace.sessions
        press(qtbot, window, Qt.Key.Key_Tab, CTRL)
        assert workspace.current is first
        press(qtbot, window, Qt.Key.Key_PageDown, CTRL)
        assert workspace.current is second
        press(qtbot, window, Qt.Key.Key_PageUp, CTRL)
        press(qtbot, window, Qt.Key.Key_Tab, CTRL | SHIFT)
        assert workspace.current is third

    def test_the_shown_tabs_composer_has_the_focus(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        window.frame.activateWindow()
        workspace.new_chat()
        current_view = window.tabs.current
        assert current_view
        qtbot.waitUntil(lambda: current_view.composer.editor.hasFocus())

    def test_a_tab_follows_its_chats_title(self, window: MainWindow, workspace: FakeWorkspace) -> None:
        workspace.sessions[0].send("Count from 7 to 30")
        assert window.tabs.strip.bar.tabText(0) == "Count from 7 to 30"
        assert window.frame.windowTitle() == "Count from 7 to 30 — Skein"

    def test_moving_a_tab_moves_its_chat(self, window: MainWindow, workspace: FakeWorkspace) -> None:
        workspace.new_chat()
        first, second = workspace.sessions
        window.tabs.strip.bar.moveTab(0, 1)
        assert workspace.sessions == (second, first)
        assert [tab.session for tab in window.tabs.tabs] == [second, first]

    def test_closing_a_tab_that_computes_asks_nothing_and_offers_undo(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.sessions[0].send("Sums")
        press(qtbot, window, Qt.Key.Key_W, CTRL)
        assert QApplication.activeModalWidget() is None
        assert window.undo.text == "Closed “Sums”."
        window.undo.button.click()
        assert workspace.sessions[0].chat.display_title == "Sums"

    def test_ctrl_z_in_an_empty_composer_brings_back_what_was_closed(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.sessions[0].send("Sums")
        press(qtbot, window, Qt.Key.Key_W, CTRL)
        editor = window.tabs.current.composer.editor
        editor.setFocus()
        qtbot.waitUntil(editor.hasFocus)
        qtbot.keyClick(editor, Qt.Key.Key_Z, CTRL)
        assert workspace.sessions[0].chat.display_title == "Sums"

    def test_a_chat_that_is_reopened_otherwise_is_offered_no_more(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.sessions[0].send("Sums")
        press(qtbot, window, Qt.Key.Key_W, CTRL)
        assert window.undo.isVisible()
        press(qtbot, window, Qt.Key.Key_T, CTRL | SHIFT)
        assert workspace.sessions[0].chat.display_title == "Sums"
        assert not window.undo.isVisible()

    def test_all_that_was_closed_at_once_comes_back_at_once(
        self, window: MainWindow, workspace: FakeWorkspace
    ) -> None:
        for title in "abc":
            workspace.open(Chat(title=title), 9)
        window.tab_commands.close_others(window.tabs.tabs[2])
        assert window.undo.text == "Closed 2 chats."
        window.undo.button.click()
        assert [session.chat.title for session in workspace.sessions] == ["a", "b", "c"]
        assert workspace.current is workspace.sessions[1]

    def test_closing_an_empty_chat_offers_nothing(self, window: MainWindow, qtbot: QtBot) -> None:
        press(qtbot, window, Qt.Key.Key_W, CTRL)
        assert not window.undo.isVisible()

    def test_several_tabs_stream_and_only_the_shown_one_draws(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        for _ in range(2):
            workspace.new_chat()
        for session in workspace.sessions:
            session.send("Count")
            session.say("1, 2, 3")
        qtbot.waitUntil(lambda: window.tabs.views[2].transcript.plain_text() == "Count\n1, 2, 3")
        assert [view.transcript.plain_text() for view in window.tabs.views[:2]] == ["", ""]
        workspace.set_current(workspace.sessions[0])
        assert window.tabs.views[0].transcript.plain_text() == "Count\n1, 2, 3"


class TestForks:
    def test_a_key_forks_the_current_chat(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.sessions[0].send("Sums")
        workspace.sessions[0].finish()
        workspace.new_chat()
        workspace.set_current(workspace.sessions[0])
        press(qtbot, window, Qt.Key.Key_K, CTRL | SHIFT)
        assert [session.chat.display_title for session in workspace.sessions] == [
            "Sums",
            "Sums (2)",
            "New chat",
        ]
        assert workspace.current is workspace.sessions[1]

    def test_an_answer_is_forked_from_where_it_stands(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        session = workspace.sessions[0]
        for question in ("one", "two"):
            session.send(question)
            session.finish()
        view = window.tabs.current
        assert view
        view.transcript.acted.emit(TurnAction.FORK, session.chat.turns[1])
        assert workspace.forks == [(session, 2)]

    def test_the_menu_of_a_tab_is_about_that_tab(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        first = workspace.sessions[0]
        second = workspace.new_chat()
        window.tabs.strip.bar.menu_requested.emit(0, window.frame.pos())
        menu = next(menu for menu in window.tabs.findChildren(QMenu) if menu.isVisible())
        assert not menu.isModal()
        actions = {action.text().replace("&", ""): action for action in menu.actions()}
        actions["Chat settings…"].trigger()
        assert workspace.current is first
        assert window.chat_options.panel.isVisible()
        window.chat_options.panel.close_up()
        actions["Fork chat"].trigger()
        assert workspace.forks == [(first, None)]
        actions["Close chat"].trigger()
        assert first not in workspace.sessions
        assert second in workspace.sessions
        menu.close()


class TestEngine:
    def test_while_several_chats_are_answered_all_can_be_stopped_at_once(
        self, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, qtbot: QtBot
    ) -> None:
        workspace.new_chat()
        button = window.status.stop_all
        for session, is_visible in zip(workspace.sessions, (False, True), strict=True):
            session.send("Count")
            assert button.isVisible() is is_visible
        assert button.text() == "Stop all 2"
        button.click()
        press(qtbot, window, Qt.Key.Key_Escape, SHIFT)
        assert engine.num_abort_alls == 2
        assert [session.num_stops for session in workspace.sessions] == [0, 0]

        workspace.sessions[0].finish(TurnState.STOPPED)
        assert not button.isVisible()
        workspace.close(workspace.sessions[1])
        assert not window.menus.stop_all.isEnabled()

    def test_a_key_opens_the_settings_and_nothing_waits_for_them(
        self, window: MainWindow, qtbot: QtBot
    ) -> None:
        press(qtbot, window, Qt.Key.Key_Comma, CTRL)
        assert window.settings_window.isVisible()
        assert QApplication.activeModalWidget() is None
        window.settings_window.close()

    def test_what_is_set_reaches_the_engine_and_is_remembered(
        self, window: MainWindow, engine: FakeEngine, tmp_path: Path
    ) -> None:
        window.preferences.set("speed", "balanced")
        window.preferences.set("n_ctx", 2048)
        assert engine.speeds == [Speed.BALANCED]
        window.settings_window.reload.buttons[0].click()
        path = engine.model.path if engine.model else Path()
        assert engine.loads == [LoadParams(path, n_ctx=2048)]
        window.preferences.flush()
        kept = Settings.load(tmp_path / "settings.json")
        assert (kept.n_ctx, kept.speed) == (2048, "balanced")

    def test_a_new_cap_for_all_chats_reaches_every_tab(
        self, window: MainWindow, workspace: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(type(workspace.sessions[0]), "context_limit", lambda _session, _n_ctx: 777)
        window.preferences.set("max_chat_tokens", 777)
        assert window.tabs.views[0].composer.meter.text == "0 / 777"

    def test_the_settings_of_a_chat_open_by_key_and_escape_only_closes_them(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        session = workspace.sessions[0]
        session.send("Count")
        press(qtbot, window, Qt.Key.Key_L, CTRL | SHIFT)
        view = window.tabs.current
        assert view
        panel = window.chat_options.panel
        assert panel.isVisible()
        panel.overflow.chosen.emit("rolling_window")
        assert session.chat.overflow is Overflow.ROLLING_WINDOW
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        assert not panel.isVisible()
        assert session.num_stops == 0


class TestModel:
    def test_a_load_is_shown_under_the_tabs_and_never_modal(
        self, window: MainWindow, engine: FakeEngine, qtbot: QtBot
    ) -> None:
        engine.loading.emit(Path("/m/big.gguf"))
        engine.load_progressed.emit(0.5)
        qtbot.waitUntil(window.notices.progress.isVisible)
        assert window.notices.progress.text == "Loading big.gguf  50%"
        assert window.status.model.text() == "starter · loading big"
        engine.finish_load(model_info(name="big", n_ctx=8192))
        assert not window.notices.progress.isVisible()
        assert window.status.model.text() == "big · idle"

    def test_escape_and_a_button_call_a_load_off(
        self, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, qtbot: QtBot
    ) -> None:
        press(qtbot, window, Qt.Key.Key_Escape)
        assert engine.num_cancels == 0
        engine.load(LoadParams(Path("/m/big.gguf")))
        workspace.sessions[0].send("hello")
        press(qtbot, window, Qt.Key.Key_Escape)
        assert (workspace.sessions[0].num_stops, engine.num_cancels) == (1, 0), "the answer comes first"
        press(qtbot, window, Qt.Key.Key_Escape)
        assert engine.num_cancels == 1
        assert not window.notices.progress.isVisible()
        assert window.notices.banners() == []

        engine.model = None
        engine.load(LoadParams(Path("/m/big.gguf")))
        window.notices.progress.buttons[0].click()
        (banner,) = window.notices.banners()
        assert banner.text == "Loading big.gguf was cancelled, so no model is loaded."
        banner.findChildren(QPushButton)[0].click()
        assert [params.path for params in engine.loads[2:]] == [Path("/m/big.gguf")]
        window.notices.progress.buttons[0].click()
        engine.finish_load(model_info(name="other"))
        assert window.notices.banners() == []

    def test_a_model_that_sleeps_says_so_until_it_is_back(
        self, window: MainWindow, engine: FakeEngine
    ) -> None:
        window.menus.sleep.trigger()
        assert window.status.model.text() == "starter · asleep"
        assert not window.menus.sleep.isEnabled()
        assert "next message" in window.status.model.toolTip()
        assert "cells" not in window.status.model.toolTip()
        engine.finish_load(model_info(name="starter"))
        assert window.status.model.text() == "starter · idle"
        assert "cells" in window.status.model.toolTip()
        assert window.menus.sleep.isEnabled()

        engine.sleep()
        engine.model = None
        engine.load_failed.emit(Path("/m/starter.gguf"), "It is gone.")
        assert window.status.model.text() == "No model"

    def test_a_failed_load_leaves_a_banner_and_the_model(
        self, window: MainWindow, engine: FakeEngine
    ) -> None:
        engine.loading.emit(Path("/m/notes.gguf"))
        engine.load_failed.emit(Path("/m/notes.gguf"), "It is not a GGUF file.")
        (banner,) = window.notices.banners()
        assert banner.text.endswith("It is not a GGUF file. starter stays loaded.")
        assert not window.notices.progress.isVisible()
        assert window.status.model.text() == "starter · idle"

    def test_what_stays_loaded_is_not_said_of_it_any_more_once_another_model_is(
        self, window: MainWindow, engine: FakeEngine
    ) -> None:
        for name in ("notes", "more"):
            engine.load_failed.emit(Path(f"/m/{name}.gguf"), "It is not a GGUF file.")
        assert len(window.notices.banners()) == 2
        engine.finish_load(model_info(name="other"))
        assert window.notices.banners() == []

    def test_another_attempt_withdraws_why_the_last_one_failed(
        self, window: MainWindow, engine: FakeEngine
    ) -> None:
        engine.load_failed.emit(Path("/m/notes.gguf"), "It is not a GGUF file.")
        engine.loading.emit(Path("/m/notes.gguf"))
        assert window.notices.banners() == []

    def test_an_offer_to_load_again_goes_with_the_chat_that_it_is_about(
        self, window: MainWindow, engine: FakeEngine
    ) -> None:
        engine.model, engine.default = None, "/m/one.gguf"
        engine.slept.emit()
        engine.load_failed.emit(Path("/m/one.gguf"), "It is gone.")
        engine.slept.emit()
        assert len(window.notices.banners()) == 1
        engine.default = "/m/other.gguf"  # another chat is in front
        engine.slept.emit()
        assert window.notices.banners() == []

    def test_a_dead_engine_offers_to_load_again(self, window: MainWindow, engine: FakeEngine) -> None:
        path = engine.model.path if engine.model else None
        engine.model = None
        engine.engine_failed.emit("llama_decode failed with code -3.")
        (banner,) = window.notices.banners()
        banner.findChildren(QPushButton)[0].click()
        assert [params.path for params in engine.loads] == [path]

    def test_an_engine_that_comes_back_by_itself_is_told_of_and_one_that_cannot_is_offered(
        self, window: MainWindow, engine: FakeEngine
    ) -> None:
        path = engine.model.path if engine.model else None
        engine.recovering.emit("The machine 10.0.0.2:50052 does not answer any more.")
        (banner,) = window.notices.banners()
        assert "10.0.0.2:50052" in banner.text
        assert "the answers continue" in banner.text
        assert not banner.offers
        engine.finish_load(engine.model)
        assert window.notices.banners() == []

        engine.recovering.emit("The machine 10.0.0.2:50052 does not answer any more.")
        engine.model = None
        engine.load_failed.emit(path, "It needs 1.1 GiB, but only 0.7 GiB are free.")
        engine.load_failed.emit(path, "It does not fit.")
        (_, banner) = window.notices.banners()
        offer(banner, "Try again").click()
        assert [params.path for params in engine.loads] == [path]

    def test_a_model_that_is_not_there_is_replaced_by_nothing_unasked(
        self, window: MainWindow, engine: FakeEngine
    ) -> None:
        engine.model = None
        engine.default = ""
        engine.load_failed.emit(Path("/away/big.gguf"), "There is no file /away/big.gguf.")
        assert engine.loads == []
        (banner,) = window.notices.banners()
        offer(banner, "Locate…").click()
        (dialog,) = window.frame.findChildren(QFileDialog)
        dialog.close()
        assert window.notices.banners() == [banner], "nothing was chosen yet"
        assert not window.models.stands_in
        offer(banner, "Use the starter model").setFocus()
        offer(banner, "Use the starter model").click()
        assert window.tabs.current
        assert window.tabs.current.composer.editor.hasFocus(), "not lost with the button"
        assert window.models.stands_in
        assert [params.path for params in engine.loads] == [paths.starter_model()]
        window.models.load(Path("/m/other.gguf"))
        assert not window.models.stands_in

    def test_a_dropped_gguf_is_loaded_and_other_files_are_not(
        self, window: MainWindow, engine: FakeEngine
    ) -> None:
        for name in ("notes.txt", "My model.gguf"):
            data = QMimeData()
            data.setUrls([QUrl.fromLocalFile(f"/m/{name}")])
            copied = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, NONE)
            entering = QDragEnterEvent(QPoint(5, 5), *copied)
            entering.ignore()
            window.eventFilter(window.frame, entering)
            assert entering.isAccepted() == name.endswith("gguf")
            assert window.overlay.isVisible() == name.endswith("gguf")
            window.eventFilter(window.frame, QDropEvent(QPointF(5, 5), *copied))
            assert not window.overlay.isVisible()
        assert window.overlay.text == "Open My model.gguf"
        assert [params.path for params in engine.loads] == [Path("/m/My model.gguf")]

    def test_opening_a_file_does_not_block(
        self, window: MainWindow, engine: FakeEngine, qtbot: QtBot
    ) -> None:
        press(qtbot, window, Qt.Key.Key_O, CTRL)
        dialog = window.frame.findChild(QFileDialog)
        assert dialog
        dialog.fileSelected.emit("/m/other.gguf")
        dialog.close()
        assert [params.path for params in engine.loads] == [Path("/m/other.gguf")]


class TestReports:
    def test_status_tabs_and_inspector_show_the_same_step(
        self, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine
    ) -> None:
        chat_id, workspace.sessions[0].n_ctx = workspace.sessions[0].chat.id, 4096
        engine.reported.emit((report(1, decoding(2, chat_id, 823)),))
        assert window.status.model.text() == "starter · answering 1 · 41 tok/s"
        assert "823 / 4,096 cells, 196 shared, 3,273 free" in window.status.model.toolTip()
        assert "1 running, 1 waiting" in window.status.model.toolTip()
        assert window.tabs.views[0].composer.meter.text == "823 / 4,096"
        assert "sequence 2" in window.tabs.strip.bar.tabToolTip(0)
        assert sequences(window).table.rows.index(2, TAB).data() == "New chat"

    def test_the_inspector_hears_of_titles_only_when_one_has_changed(
        self,
        window: MainWindow,
        workspace: FakeWorkspace,
        qtbot: QtBot,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        told: list[dict[str, str]] = []
        monkeypatch.setattr(window.inspector, "set_titles", told.append)
        session = workspace.sessions[0]
        session.changed.emit()
        assert told == []
        session.chat.title = "Sums"
        session.changed.emit()
        qtbot.waitUntil(lambda: [set(titles.values()) for titles in told] == [{"Sums"}])

    def test_a_burst_of_reports_ends_with_the_last(
        self, window: MainWindow, engine: FakeEngine, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        chat_id = workspace.sessions[0].chat.id
        for step in range(1, 200):
            engine.reported.emit((report(step, decoding(0, chat_id, step)),))
        assert window.status.model.toolTip().startswith("1 / ")
        qtbot.waitUntil(lambda: window.status.model.toolTip().startswith("199 / "))

    def test_minimised_it_draws_nothing_and_restored_all_that_has_come(
        self, window: MainWindow, engine: FakeEngine, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        session = workspace.sessions[0]
        session.send("2+2=")
        window.frame.showMinimized()
        session.say("4, as everybody knows")
        engine.reported.emit((report(1, decoding(0, session.chat.id, 823)),))
        QApplication.processEvents()
        assert "everybody" not in window.tabs.views[0].transcript.plain_text()
        assert window.status.model.toolTip().startswith("0 / ")
        window.frame.showNormal()
        qtbot.waitUntil(lambda: "everybody" in window.tabs.views[0].transcript.plain_text())
        assert window.status.model.toolTip().startswith("823 / ")

    def test_a_click_in_the_inspector_shows_the_chat(
        self, window: MainWindow, workspace: FakeWorkspace
    ) -> None:
        first = workspace.sessions[0]
        workspace.new_chat()
        window.inspector.chat_activated.emit(first.chat.id)
        assert workspace.current is first

    def test_a_row_of_the_inspector_stops_and_forks_its_chat_and_posts_the_rest(
        self, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine
    ) -> None:
        chat_id = workspace.sessions[0].chat.id
        engine.reported.emit((report(1, decoding(2, chat_id)),))
        sequences(window).table.choose("slot 2")
        for action in sequences(window).row_actions:
            if action.text() in ("Stop", "Fork", "Pin"):
                action.trigger()
        assert engine.aborted == [f"of {chat_id}"]
        assert workspace.forks == [(workspace.sessions[0], None)]
        assert engine.posted[-1] == Pin(chat_id)

    def test_edit_copy_reaches_the_table_that_has_the_focus(
        self, window: MainWindow, engine: FakeEngine, qtbot: QtBot
    ) -> None:
        forked = Told(EventKind.FORK, "forked sequence 0 into 1", 1)
        engine.reported.emit((report(7, events=(forked,)),))
        window.frame.activateWindow()
        window.inspector.show_panel(EventsPanel.NAME)
        events = window.inspector.panel(EventsPanel.NAME)
        assert isinstance(events, EventsPanel)
        qtbot.waitUntil(lambda: events.table.hasFocus() and events.table.model().rowCount() > 0)
        events.table.selectRow(0)
        next(one for one in all_actions(window) if one.text() == "&Copy" and one.shortcut()).trigger()
        assert QApplication.clipboard().text().endswith("fork\t1\t\tforked sequence 0 into 1\n")

    def test_what_led_to_the_end_of_the_engine_stays_to_be_read(
        self, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine
    ) -> None:
        engine.reported.emit((report(7, decoding(2, workspace.sessions[0].chat.id)),))
        engine.model = None
        engine.engine_failed.emit("The books do not agree.")
        newest = window.inspector.recording.newest
        assert newest
        assert newest.step == 7
        assert window.inspector.recording.is_over
        assert window.status.model.text() == "No model"
        engine.finish_load(model_info(name="big"))
        assert window.inspector.recording.newest is None


@pytest.mark.parametrize("zoom", [0, 8])
def test_a_wide_window_can_become_small_again(
    window: MainWindow, workspace: FakeWorkspace, zoom: int
) -> None:
    workspace.sessions[0].send("Count")
    window.appearance.set_zoom(zoom)
    window.frame.resize(2400, 1200)
    window.inspector.set_shown(False)
    QApplication.processEvents()
    window.frame.resize(900, 600)
    QApplication.processEvents()
    assert (window.frame.width(), window.frame.height()) == (900, 600)


class TestCommands:
    def test_escape_stops_the_answer_of_this_tab_only(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.new_chat()
        first, second = workspace.sessions
        first.send("Count")
        second.send("Count")
        press(qtbot, window, Qt.Key.Key_Escape)
        assert (first.num_stops, second.num_stops) == (0, 1)

    def test_the_inspector_comes_back_as_wide_as_it_went(self, window: MainWindow, qtbot: QtBot) -> None:
        dock = window.inspector.dock("sequences")
        window.frame.resizeDocks([dock], [300], Qt.Orientation.Horizontal)
        qtbot.waitUntil(lambda: dock.width() == 300)
        narrow = window.tabs.width()
        press(qtbot, window, Qt.Key.Key_F12)
        qtbot.waitUntil(lambda: window.tabs.width() > narrow)
        assert not window.inspector.is_shown
        press(qtbot, window, Qt.Key.Key_F12)
        qtbot.waitUntil(lambda: window.tabs.width() == narrow)
        assert dock.width() == 300
        assert sequences(window).isVisible()

    def test_the_inspector_leaves_the_chats_readable_in_a_narrow_window(
        self, window: MainWindow, qtbot: QtBot
    ) -> None:
        window.frame.resize(900, 600)
        window.inspector.reset_layout()
        qtbot.waitUntil(lambda: window.tabs.width() >= MIN_CHATS)
        window.inspector.set_shown(False)
        qtbot.waitUntil(lambda: window.tabs.minimumWidth() == 0)

    def test_why_the_api_is_off_is_told_in_the_settings_too(self, window: MainWindow) -> None:
        window.settings_window.come_up()
        window._services.api.failed.emit("Port 1337 is taken.")
        assert window.settings_window.problem.isVisible()
        assert window.settings_window.problem.text == "Port 1337 is taken."

    def test_f6_goes_round_the_panes(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.sessions[0].send("Count")
        seen = []
        view = window.tabs.current
        assert view
        visible = [panel for panel in window.inspector.panels if panel.isVisible()]
        panes = [*visible, window.tabs.strip.bar, view.transcript, view.composer.editor]
        view.composer.editor.setFocus()
        for _ in panes:
            press(qtbot, window, Qt.Key.Key_F6)
            seen.append(QApplication.focusWidget())
        assert len(visible) > 1
        assert all(
            pane is focused or pane.isAncestorOf(focused) for pane, focused in zip(panes, seen, strict=True)
        )

    def test_zoom_changes_the_text_and_comes_back(self, window: MainWindow, qtbot: QtBot) -> None:
        view = window.tabs.current
        assert view
        before = view.composer.editor.font().pointSizeF()
        press(qtbot, window, Qt.Key.Key_Equal, CTRL)
        assert view.composer.editor.font().pointSizeF() == before + 1
        press(qtbot, window, Qt.Key.Key_0, CTRL)
        assert view.composer.editor.font().pointSizeF() == before

    def test_the_size_of_the_text_is_there_again_at_the_next_start(
        self, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, qtbot: QtBot
    ) -> None:
        usual = window.tabs.views[0].composer.editor.font().pointSizeF()
        window.appearance.set_zoom(3)
        other = FakeWorkspace()
        again = scripted_window(engine, other, window.preferences.settings)
        qtbot.addWidget(again.frame, before_close_func=lambda widget: widget.hide())
        other.new_chat()
        assert again.tabs.views[0].composer.editor.font().pointSizeF() == usual + 3

    def test_ctrl_and_the_wheel_over_messages_change_the_size_of_the_text(
        self, window: MainWindow, workspace: FakeWorkspace
    ) -> None:
        workspace.sessions[0].send("Count")
        viewport = window.tabs.views[0].transcript.viewport()
        for modifiers, zoom in ((NONE, 0), (CTRL, 1)):
            place = viewport.mapTo(window.frame, viewport.rect().center())
            QTest.wheelEvent(window.frame.windowHandle(), QPointF(place), QPoint(0, 120), QPoint(), modifiers)
            assert window.preferences.settings.zoom == zoom

    def test_full_screen_and_back(self, window: MainWindow, qtbot: QtBot) -> None:
        press(qtbot, window, Qt.Key.Key_F11)
        assert window.frame.isFullScreen()
        assert window.menus.full_screen.isChecked()
        press(qtbot, window, Qt.Key.Key_F11)
        assert not window.frame.isFullScreen()
        assert not window.menus.full_screen.isChecked()

    def test_the_palette_runs_commands_and_finds_chats_and_settings(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.sessions[0].send("Sums")
        workspace.sessions[0].finish()
        workspace.new_chat()
        palette = window.command_palette
        for typed, seen in (
            ("new chat", lambda: len(workspace.sessions) == 3),
            ("sums", lambda: workspace.current is workspace.sessions[0]),
            ("dark", lambda: current() is DARK),
            ("min-p", lambda: window.settings_window.rows["min_p"].widget.hasFocus()),
        ):
            press(qtbot, window, Qt.Key.Key_P, CTRL | SHIFT)
            qtbot.waitUntil(palette.field.hasFocus)
            qtbot.keyClicks(palette.field, typed)
            qtbot.keyClick(palette.field, Qt.Key.Key_Return)
            qtbot.waitUntil(seen)
        window.settings_window.close()

    def test_a_key_chosen_in_the_settings_works_in_the_window(
        self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        window.shortcuts.choose("chat.new", [QKeySequence("Ctrl+Alt+N")])
        press(qtbot, window, Qt.Key.Key_T, CTRL)
        assert len(workspace.sessions) == 1
        press(qtbot, window, Qt.Key.Key_N, CTRL | ALT)
        assert len(workspace.sessions) == 2

    def test_a_chosen_theme_is_applied_and_remembered(self, window: MainWindow, tmp_path: Path) -> None:
        menu = next(menu for menu in window.frame.findChildren(QMenu) if menu.title() == "&Theme")
        next(action for action in menu.actions() if action.text() == "&Dark").trigger()
        assert current() is DARK
        window.preferences.flush()
        assert Settings.load(tmp_path / "settings.json").theme == "dark"
        next(action for action in menu.actions() if action.text() == "&Light").trigger()
        assert current() is LIGHT

    def test_closing_the_window_only_asks_to_quit(self, window: MainWindow, qtbot: QtBot) -> None:
        with qtbot.waitSignal(window.frame.quit_requested):
            window.frame.close()
        assert window.frame.isVisible()


class TestAccessibility:
    def test_labels_fed_from_outside_are_plain(self, window: MainWindow, engine: FakeEngine) -> None:
        engine.load_failed.emit(Path("/m/<img src=file:zero>.gguf"), "It is not a GGUF file.")
        rich = [label for label in window.frame.findChildren(QLabel) if "<" in label.text()]
        assert rich
        assert all(label.textFormat() is Qt.TextFormat.PlainText for label in rich)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_change_of_theme_reaches_text_that_is_already_there(
    window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot, theme: str
) -> None:
    session = workspace.sessions[0]
    session.send("Show")
    session.say("[link](https://example.org)\n\n```py\nx = 1\n```")
    session.finish()
    qtbot.waitUntil(lambda: "link" in window.tabs.views[0].transcript.plain_text())
    window.appearance.choose_theme(theme)
    answer = window.tabs.views[0].transcript.live_views[-1]
    prose = answer.body.parts[0]  # type: ignore[union-attr]
    accent = (DARK if theme == "dark" else LIGHT).accent
    qtbot.waitUntil(lambda: accent in prose.toHtml())  # type: ignore[union-attr]


def test_a_file_of_a_shelf_is_read_without_the_shelves_over_it(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def text_of(*_: object) -> tuple[str, str]:
        return "anchor.txt", "It weighs nine kilos."

    monkeypatch.setattr(window.shelves._shelves, "text_of", text_of)
    window.shelves.show_window()
    file = ShelfFile(1, "/docs/anchor.txt", "anchor.txt", Stamp(1, 2, 3))
    asyncio.run(window.shelves._open_file(Shelf("Docs", "/docs"), file))
    assert window.shelves.reader is not None
    assert window.shelves.reader.isVisible()
    assert not window.shelves.window.isVisible()


async def test_a_shelf_is_taken_for_the_current_chat_where_it_is_made(
    qloop, window: MainWindow, workspace: FakeWorkspace, tmp_path: Path
) -> None:
    session = workspace.sessions[0]
    window.shelves.show_window()
    shelves = window.shelves.window
    shelves.add_folder(tmp_path)
    assert shelves.use_button.isVisible()
    shelves.use_button.click()
    assert session.chat.shelf_id == shelves._shelves.states[0].shelf.id
    assert not shelves.isVisible()
    window.shelves.show_window()
    assert not shelves.use_button.isVisible(), "the chat has it"
