"""From the chats to the panel of branches, and from there to a turn, or to several answers at it."""

import pytest
from pytestqt.qtbot import QtBot

from app.chats.chat import Turn
from app.inspector.tree_panel import TreePanel
from app.inspector.tree_table import MESSAGE
from app.protocol.request import Role
from app.ui.main_window import MainWindow
from app.ui.tabs.ways_dialog import WaysDialog
from tests.ui.fakes import FakeSession, FakeWorkspace


@pytest.fixture
def session(workspace: FakeWorkspace, window: MainWindow) -> FakeSession:
    """Its answer has two versions."""
    session = workspace.sessions[0]
    session.chat.add(Turn(Role.USER, "2+2="), Turn(Role.ASSISTANT, "3"))
    session.chat.put_aside(1)
    session.chat.add(Turn(Role.ASSISTANT, "4"))
    session.changed.emit()
    return session


@pytest.fixture
def panel(window: MainWindow, session: FakeSession, qtbot: QtBot) -> TreePanel:
    window.inspector.show_panel("tree")
    panel = window.inspector.panel("tree")
    assert isinstance(panel, TreePanel)
    qtbot.waitUntil(lambda: panel.rows.rowCount() == 3)
    return panel


def texts(panel: TreePanel) -> list[str]:
    return [panel.rows.text_at(row, MESSAGE) for row in range(panel.rows.rowCount())]


def test_the_tree_follows_the_chat(panel: TreePanel, session: FakeSession, qtbot: QtBot) -> None:
    assert texts(panel) == ["You: 2+2=", "3", "4"]
    session.insert(Role.USER, "and 1?")
    qtbot.waitUntil(lambda: texts(panel) == ["You: 2+2=", "3", "4", "You: and 1?"])


def test_a_chosen_turn_is_shown_in_its_chat(panel: TreePanel, session: FakeSession) -> None:
    panel.table.activated.emit(panel.rows.index(1, 0))
    assert [turn.text for turn in session.chat.turns] == ["2+2=", "3"]


def test_several_answers_are_asked_for_where_the_tree_says(
    panel: TreePanel, session: FakeSession, window: MainWindow
) -> None:
    question = session.chat.turns[0]
    panel._choose([question])
    panel.answers.click()
    dialog = window.frame.findChild(WaysDialog)
    assert dialog
    dialog.ask.click()
    assert session.asked_with == [([(None, "")] * 3, question)]
