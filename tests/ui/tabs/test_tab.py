import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, TurnState
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.ui.tabs.tab import Tab
from tests.ui.fakes import FakeSession


@pytest.fixture
def session(qapp: QObject) -> FakeSession:
    return FakeSession()


@pytest.fixture
def tab(session: FakeSession) -> Tab:
    return Tab(session, session)  # type: ignore[arg-type]


def test_the_mark_tells_the_state_in_order_of_weight(tab: Tab, session: FakeSession) -> None:
    assert tab.mark.word == "idle"
    session.send("Count")
    assert tab.mark.word == "computing"
    tab.is_paused = True
    assert tab.mark.word == "paused"
    session.finish(TurnState.FAILED, "The context is full.")
    tab.is_unread = True
    assert tab.mark.word == "failed"
    session.send("Again")
    session.finish()
    tab.is_unread = tab.is_hibernated = True
    assert tab.mark.word == "unread"
    tab.is_unread = False
    assert tab.mark.word == "hibernated"


def test_a_call_that_waits_for_the_user_is_marked(tab: Tab, session: FakeSession) -> None:
    session.send("Write")
    use = ToolUse("1", "write", state=ToolState.ASKING)
    session.chat.turns[-1].rounds.append(ToolRound(uses=[use]))
    assert tab.mark.word == "waiting for you"
    use.state = ToolState.RUNNING
    assert tab.mark.word == "computing"


def test_it_tells_when_its_chat_has_changed(tab: Tab, session: FakeSession, qtbot: QtBot) -> None:
    with qtbot.waitSignal(tab.changed) as told:
        session.rename("Sums")
    assert told.args == [tab]
    assert tab.title == "Sums"


def test_a_title_from_outside_is_one_line(qapp: QObject) -> None:
    session = FakeSession(Chat(title="two\nlines\u202e"))
    assert Tab(session, session).title == "two lines"  # type: ignore[arg-type]
