import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.chats.chat import Turn, TurnState
from app.engine.types import Overflow, Role
from app.ui.chat_view import ChatView
from app.ui.empty_chat import SAMPLES
from tests.inspector.reports import decoding
from tests.ui.fakes import FakeSession


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


@pytest.fixture
def view(qtbot: QtBot, session: FakeSession) -> ChatView:
    view = ChatView(session)  # type: ignore[arg-type]
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    return view


def test_an_empty_chat_says_what_to_do_and_offers_three_samples(view: ChatView, session: FakeSession) -> None:
    assert view.empty.isVisible()
    assert [button.text() for button in view.empty.buttons] == list(SAMPLES)
    view.empty.buttons[0].click()
    assert session.sent == ["What is 34 + 21?"]
    assert not view.empty.isVisible()
    assert view.transcript.isVisible()


def test_what_is_typed_and_entered_is_sent_and_shown(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    qtbot.keyClicks(view.composer.editor, "What is 34 + 21?")
    qtbot.keyClick(view.composer.editor, Qt.Key.Key_Return)
    session.say("34 + 21 = ")
    session.say("55")
    session.finish()
    qtbot.waitUntil(lambda: view.transcript.plain_text() == "What is 34 + 21?\n34 + 21 = 55")
    assert session.draft == ""


def test_the_button_stops_while_busy_and_sends_again_after(view: ChatView, session: FakeSession) -> None:
    session.send("Count")
    assert view.composer.button.accessibleName() == "Stop"
    view.composer.button.click()
    assert session.num_stops == 1
    assert view.composer.button.accessibleName() == "Send"


def test_the_draft_is_kept_with_the_chat(view: ChatView, session: FakeSession, qtbot: QtBot) -> None:
    qtbot.keyClicks(view.composer.editor, "half a thou")
    assert session.draft == "half a thou"


def test_a_chat_opened_with_a_draft_shows_it(qtbot: QtBot) -> None:
    session = FakeSession()
    session.draft = "half a thou"
    view = ChatView(session)  # type: ignore[arg-type]
    qtbot.addWidget(view)
    assert view.composer.editor.toPlainText() == "half a thou"


def test_the_meter_shows_what_the_slot_holds(view: ChatView) -> None:
    view.set_slot(decoding(0, "sums", 412), 4096)
    assert view.composer.meter.text == "412 / 4,096"


def test_the_meter_shows_the_chats_own_cap(view: ChatView, session: FakeSession) -> None:
    view.set_slot(decoding(0, "sums", 412), 4096)
    session.set_limits(Overflow.STOP, 1024)
    assert view.composer.meter.text == "412 / 1,024"


def test_what_is_chosen_beside_the_meter_becomes_the_chats(view: ChatView, session: FakeSession) -> None:
    view.composer.settings.changed.emit(Overflow.ROLLING_WINDOW, 512)
    assert (session.chat.overflow, session.chat.max_context_tokens) == (Overflow.ROLLING_WINDOW, 512)
    assert view.composer.settings.text().strip() == "Rolling window"


def test_a_chat_opened_with_limits_shows_them(qtbot: QtBot) -> None:
    session = FakeSession()
    session.chat.overflow = Overflow.TRUNCATE_MIDDLE
    view = ChatView(session)  # type: ignore[arg-type]
    qtbot.addWidget(view)
    assert view.composer.settings.text().strip() == "Truncate the middle"


def test_a_full_chat_goes_on_with_a_rolling_window(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    session.send("Count")
    session.chat.turns[-1].overflowed = True
    session.finish(notice="The answer was cut.")
    answer = view.transcript
    qtbot.waitUntil(lambda: answer._views != [] and answer._views[-1]._keep_going.isVisible())
    answer._views[-1]._keep_going.click()
    assert session.num_keep_goings == 1
    qtbot.waitUntil(view.composer.editor.hasFocus)
    qtbot.waitUntil(lambda: not answer._views[-1]._keep_going.isVisible())


def test_a_fork_ends_with_the_answer_it_was_asked_for(
    view: ChatView, session: FakeSession, qtbot: QtBot
) -> None:
    for question in ("a", "b"):
        session.chat.turns += [Turn(Role.USER, question), Turn(Role.ASSISTANT, question)]
    with qtbot.waitSignal(view.fork_requested) as forked:
        view.transcript.fork_requested.emit(session.chat.turns[1])
    assert forked.args == [view, 2]


def test_the_mark_tells_the_state_in_order_of_weight(view: ChatView, session: FakeSession) -> None:
    assert view.mark.word == "idle"
    session.send("Count")
    assert view.mark.word == "computing"
    session.finish(TurnState.FAILED, "The context is full.")
    view.is_unread = True
    assert view.mark.word == "failed"
    session.send("Again")
    session.finish()
    view.is_unread = view.is_hibernated = True
    assert view.mark.word == "unread"
    view.is_unread = False
    assert view.mark.word == "hibernated"


def test_a_hidden_chat_goes_on_and_is_drawn_when_shown(view: ChatView, session: FakeSession) -> None:
    view.hide()
    session.send("Count")
    session.say("1, 2, 3")
    assert view.transcript.plain_text() == ""
    view.show()
    assert view.transcript.plain_text() == "Count\n1, 2, 3"
