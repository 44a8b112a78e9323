"""Pausing as the window has it: keys, menu, strip, tabs."""

from dataclasses import replace

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.look import marks
from app.protocol.commands import Pause, Resume, StepOnce
from app.protocol.report import PauseState, StepReport
from app.ui.main_window import MainWindow
from tests.fakes import model_info
from tests.inspector.reports import report
from tests.ui.fakes import FakeEngine, FakeWorkspace

PAUSED = replace(report(1), pause=PauseState(""))


def show(window: MainWindow, engine: FakeEngine, newest: StepReport, qtbot: QtBot) -> None:
    engine.reported.emit((newest,))
    qtbot.waitUntil(lambda: not window.presenter._has_report)


def test_the_keys_ask_for_what_makes_sense(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    qtbot.keyClick(window.frame, Qt.Key.Key_F5)
    qtbot.keyClick(window.frame, Qt.Key.Key_F10)
    assert engine.posted[-1:] != [StepOnce()]
    qtbot.keyClick(window.frame, Qt.Key.Key_F8)
    assert engine.posted[-1] == Pause()
    show(window, engine, PAUSED, qtbot)
    qtbot.keyClick(window.frame, Qt.Key.Key_F10)
    qtbot.keyClick(window.frame, Qt.Key.Key_F5)
    assert engine.posted[-2:] == [StepOnce(), Resume()]


def test_they_work_with_the_inspector_hidden_and_the_strip_tells_of_the_pause(
    window: MainWindow, engine: FakeEngine, workspace: FakeWorkspace, qtbot: QtBot
) -> None:
    window.inspector.set_shown(False)
    workspace.sessions[0].send("2+2=")
    show(window, engine, PAUSED, qtbot)
    strip = window.notices.paused
    assert strip.isVisible()
    assert window.tabs.tabs[0].mark is marks.PAUSED
    strip.buttons[1].click()
    assert engine.posted[-1] == Resume()
    show(window, engine, report(2), qtbot)
    assert window.tabs.tabs[0].mark is marks.COMPUTING
    qtbot.waitUntil(lambda: not strip.isVisible())


def test_an_answer_can_be_stopped_in_a_pause(
    window: MainWindow, engine: FakeEngine, workspace: FakeWorkspace, qtbot: QtBot
) -> None:
    workspace.sessions[0].send("2+2=")
    show(window, engine, PAUSED, qtbot)
    qtbot.keyClick(window.frame, Qt.Key.Key_Escape)
    assert workspace.sessions[0].num_stops == 1


def test_a_new_model_runs(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    show(window, engine, PAUSED, qtbot)
    engine.finish_load(model_info(name="other"))
    qtbot.waitUntil(lambda: not window.notices.paused.isVisible())
    assert window.pausing.actions.pause.isEnabled()
    assert not window.pausing.actions.resume.isEnabled()


def test_without_an_engine_there_is_nothing_to_pause(window: MainWindow, engine: FakeEngine) -> None:
    engine.engine_failed.emit("It is gone.")
    assert not any(action.isEnabled() for action in window.pausing.actions.all)
