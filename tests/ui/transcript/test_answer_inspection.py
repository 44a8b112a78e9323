"""From an answer in a tab to the panel of token probabilities, and from there to a fork in a new tab."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.inspector.lens_panel import LensPanel
from app.inspector.probabilities import ProbabilitiesPanel
from app.protocol.commands import TokensOf
from app.protocol.report import ChatTokens
from app.ui.main_window import MainWindow
from tests.inspector.reports import decoding, report
from tests.ui.fakes import FakeEngine, FakeSession, FakeWorkspace


@pytest.fixture
def panel(window: MainWindow) -> ProbabilitiesPanel:
    panel = window.inspector.panel("probabilities")
    assert isinstance(panel, ProbabilitiesPanel)
    return panel


@pytest.fixture
def session(workspace: FakeWorkspace, window: MainWindow) -> FakeSession:
    """Two answers."""
    session = workspace.sessions[0]
    for question, answer in (("2+2=", "It is 4."), ("and 1?", "5")):
        session.send(question)
        session.say(answer)
        session.finish()
    return session


def test_the_key_brings_the_newest_answer_to_the_panel(
    window: MainWindow, engine: FakeEngine, session: FakeSession, panel: ProbabilitiesPanel, qtbot: QtBot
) -> None:
    qtbot.keyClick(
        window.frame, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    )
    qtbot.waitUntil(panel.isVisible)
    assert engine.posted[-1] == TokensOf(session.chat.id)
    assert panel.finder.source is not None
    assert panel.finder.source.text == "5"


def test_the_panel_opens_on_the_open_chat(
    window: MainWindow, session: FakeSession, panel: ProbabilitiesPanel
) -> None:
    window.inspector.show_panel("probabilities")
    assert panel.finder.source is not None
    assert panel.finder.source.turn is session.chat.turns[3]


def test_the_panel_follows_where_the_open_chat_comes_from_the_disk_later(
    window: MainWindow, session: FakeSession, workspace: FakeWorkspace, panel: ProbabilitiesPanel
) -> None:
    opened = workspace.new_chat()
    window.inspector.show_panel("probabilities")
    assert panel.finder.source is None
    opened.chat.turns[:] = session.chat.turns[2:]
    opened.loaded.emit()
    assert panel.finder.source is not None
    assert panel.finder.source.turn is session.chat.turns[3]


def test_of_an_earlier_answer_only_the_text_is_known(
    window: MainWindow, engine: FakeEngine, session: FakeSession, panel: ProbabilitiesPanel
) -> None:
    window.tabs.views[0].turn_actions.tokens_requested.emit(session, session.chat.turns[1])
    assert panel.again.isVisible()
    panel.again.click()
    (reading,) = engine.submitted
    assert [message.content for message in reading.messages] == ["2+2="]
    assert (reading.answer_start, reading.max_tokens) == ("It is 4.", 0)
    assert reading.chat_id != session.chat.id


def test_a_chosen_sequence_brings_its_newest_answer(
    window: MainWindow, engine: FakeEngine, session: FakeSession, panel: ProbabilitiesPanel
) -> None:
    window.inspector.show_panel("probabilities")
    engine.reported.emit((report(1, decoding(2, session.chat.id), decoding(3, "of a client")),))
    panel.select_sequence(2)
    assert panel.finder.source is not None
    assert panel.finder.source.turn is session.chat.turns[3]
    panel.select_sequence(3)
    assert engine.posted[-1] == TokensOf("of a client")
    assert panel.finder.source.turn is None


def test_when_the_engine_is_gone_nobody_is_asked(
    window: MainWindow, engine: FakeEngine, session: FakeSession, panel: ProbabilitiesPanel
) -> None:
    window.tabs.views[0].turn_actions.tokens_requested.emit(session, session.chat.turns[3])
    engine.engine_failed.emit("It is gone.")
    num_posted = len(engine.posted)
    window.tabs.views[0].turn_actions.tokens_requested.emit(session, session.chat.turns[3])
    assert len(engine.posted) == num_posted
    assert panel.message.text() == ProbabilitiesPanel.NO_MODEL


def test_a_fork_opens_in_a_new_tab_unless_the_chat_is_closed(
    window: MainWindow,
    engine: FakeEngine,
    session: FakeSession,
    panel: ProbabilitiesPanel,
    workspace: FakeWorkspace,
) -> None:
    window.tabs.views[0].turn_actions.tokens_requested.emit(session, session.chat.turns[3])
    tokens = ChatTokens(session.chat.id, (1, 2, 53), 2, (b"5",))
    engine.reported.emit((replace(report(1), answers=(tokens,)),))
    panel.fork_at_requested.emit(panel.finder.source, "6", (54,))
    assert workspace.forks_at == [(session, session.chat.turns[3], "6", (54,), "")]
    workspace.close(session)
    panel.fork_at_requested.emit(panel.finder.source, "6", (54,))
    assert len(workspace.forks_at) == 1


def test_the_lens_comes_with_the_sentence_that_was_pointed_at(
    window: MainWindow, engine: FakeEngine, session: FakeSession
) -> None:
    window.tabs.views[0].turn_actions.lens_requested.emit(session, session.chat.turns[3], "5")
    lens = window.inspector.panel("lens")
    assert isinstance(lens, LensPanel)
    assert lens.isVisible()
    assert engine.posted[-1] == TokensOf(session.chat.id)
    assert lens.finder.source is not None
    assert lens.finder.source.turn is session.chat.turns[3]
