"""What is asked for at a turn, done by a real session with a scripted engine."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.bridge.chat_session import ChatSession
from app.bridge.running_answers import RunningAnswers
from app.chats.chat import Chat, Turn, TurnState
from app.chats.summary import Summary
from app.protocol.output import FinishReason, Output
from app.protocol.request import Role
from app.settings.settings import Settings
from app.ui.tabs.chat_view import ChatView
from app.ui.transcript.compare_view import CompareView
from app.ui.transcript.summary_card import SummaryAction
from app.ui.transcript.turn_actions import TurnAction
from app.ui.transcript.turn_view import TurnView
from tests.fakes import model_info, saved
from tests.ui.fakes import FakeEngine, FakeMediaFiles, FakeTokenCounter
from tests.ui.windows import opened


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(model_info(name="starter"))


@pytest.fixture
def session(qtbot: QtBot, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> ChatSession:
    monkeypatch.setattr(RunningAnswers, "_send_request", RunningAnswers._submit)
    chat = Chat()
    chat.add(Turn(Role.USER, "Count"), Turn(Role.ASSISTANT, "**1**, 2", model="starter"))
    session = ChatSession(chat, engine, Settings(), media=FakeMediaFiles(), save=saved)  # type: ignore[arg-type]
    session.tokens = FakeTokenCounter(session)  # type: ignore[assignment]
    return session


@pytest.fixture
def view(qtbot: QtBot, session: ChatSession) -> ChatView:
    view = opened(session)
    qtbot.addWidget(view)
    view.resize(900, 600)
    view.show()
    return view


@pytest.fixture
def act(view: ChatView, session: ChatSession, qtbot: QtBot) -> Callable[[TurnAction, int], None]:
    """Does it at the turn of that number."""

    def act(action: TurnAction, row: int) -> None:
        shown = view.transcript.show_turn(session.chat.turns[row])
        assert shown
        shown.act(action)

    return act


Act = Callable[[TurnAction, int], None]


def texts(session: ChatSession) -> list[str]:
    return [turn.text for turn in session.chat.turns]


def finish(session: ChatSession, engine: FakeEngine, *answers: str) -> None:
    """The newest requests end, each with its answer."""
    for request, text in zip(engine.submitted[-len(answers) :], answers, strict=True):
        session.answers.apply(Output(request.request_id, request.chat_id, text, FinishReason.STOP))


def test_asking_again_keeps_what_was_said(act: Act, session: ChatSession, engine: FakeEngine) -> None:
    old = session.chat.turns[-1]
    act(TurnAction.REGENERATE, 1)
    finish(session, engine, "one, two")
    assert texts(session) == ["Count", "one, two"]
    assert session.chat.versions_of(session.chat.turns[-1])[0] is old


def test_the_switch_goes_back_to_an_earlier_version(
    act: Act, view: ChatView, session: ChatSession, engine: FakeEngine, qtbot: QtBot
) -> None:
    act(TurnAction.REGENERATE, 1)
    finish(session, engine, "one, two")
    qtbot.waitUntil(lambda: view.transcript.live_views[-1].versions.text == "2/2")
    view.transcript.live_views[-1].versions.previous.click()
    assert texts(session) == ["Count", "**1**, 2"]
    qtbot.waitUntil(lambda: view.transcript.plain_text() == "Count\n1, 2")


def test_an_edited_message_is_asked_as_another_version(
    act: Act, view: ChatView, session: ChatSession, engine: FakeEngine
) -> None:
    act(TurnAction.EDIT, 0)
    editor = view.transcript.live_views[0].editor
    assert editor
    editor.text.setPlainText("Count to 3")
    editor.save.click()
    assert [message.content for message in engine.submitted[-1].messages] == ["Count to 3"]
    assert len(session.chat.versions_of(session.chat.turns[0])) == 2


def test_an_edited_answer_is_another_version_and_asks_nothing(
    act: Act, view: ChatView, session: ChatSession, engine: FakeEngine
) -> None:
    act(TurnAction.EDIT, 1)
    editor = view.transcript.live_views[1].editor
    assert editor
    editor.text.setPlainText("1, 2, 3")
    editor.save.click()
    assert texts(session) == ["Count", "1, 2, 3"]
    assert engine.submitted == []
    assert len(session.chat.versions_of(session.chat.turns[1])) == 2


def test_a_stopped_answer_goes_on(act: Act, view: ChatView, session: ChatSession, engine: FakeEngine) -> None:
    session.chat.turns[-1].state = TurnState.STOPPED
    act(TurnAction.CONTINUE, 1)
    assert engine.submitted[-1].answer_start == "**1**, 2"


def test_what_was_deleted_can_be_taken_back(
    act: Act, view: ChatView, session: ChatSession, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(view.turn_actions.undo_offered) as offered:
        act(TurnAction.DELETE, 1)
    assert texts(session) == ["Count"]
    said, undo = offered.args
    assert said == "Deleted an answer."
    undo()
    assert texts(session) == ["Count", "**1**, 2"]


@pytest.mark.parametrize("action", [action for action in TurnAction if action is not TurnAction.WAYS])
def test_nothing_is_done_to_a_turn_that_is_gone_and_not_drawn_as_gone_yet(
    view: ChatView, session: ChatSession, engine: FakeEngine, action: TurnAction
) -> None:
    shown = view.transcript.show_turn(session.chat.turns[1])
    assert shown
    session.chat.remove(session.chat.turns[1])
    shown.act(action)
    shown.edited.emit(shown.turn, "another text", ())
    assert texts(session) == ["Count"]
    assert engine.submitted == []


def test_a_version_that_is_gone_is_not_shown(
    act: Act, view: ChatView, session: ChatSession, engine: FakeEngine
) -> None:
    old = session.chat.turns[1]
    act(TurnAction.REGENERATE, 1)
    finish(session, engine, "one, two")
    session.show_version(old)
    session.delete(old)
    view.transcript.version_requested.emit(old)
    assert texts(session) == ["Count", "one, two"]


def test_an_answer_is_copied_as_it_was_written_or_as_it_reads(act: Act) -> None:
    act(TurnAction.COPY_PLAIN, 1)
    assert QApplication.clipboard().text() == "1, 2"


def test_several_answers_stand_side_by_side_until_one_is_kept(
    view: ChatView, session: ChatSession, engine: FakeEngine, qtbot: QtBot
) -> None:
    view.transcript.live_views[-1].ways_requested.emit(2)
    assert len(engine.submitted) == 2
    qtbot.waitUntil(lambda: isinstance(view.transcript.live_views[-1], CompareView))
    compared = view.transcript.live_views[-1]
    assert isinstance(compared, CompareView)
    finish(session, engine, "one", "uno")
    qtbot.waitUntil(lambda: compared.columns[2].keep.isEnabled())
    assert [column.turn.text for column in compared.columns] == ["**1**, 2", "one", "uno"]
    compared.columns[2].keep.click()
    assert texts(session) == ["Count", "uno"]
    qtbot.waitUntil(lambda: view.transcript.plain_text() == "Count\nuno")


def test_a_message_that_waits_can_be_taken_back_to_be_changed(
    view: ChatView, session: ChatSession, engine: FakeEngine, qtbot: QtBot
) -> None:
    session.send("first")
    session.send("second")
    session.send("third")
    view.composer.set_text("a draft")
    qtbot.waitUntil(lambda: len(view.transcript.queue.bubbles) == 2)
    view.transcript.queue.bubbles[0].edit.click()
    assert view.composer.editor.toPlainText() == "second\n\na draft"
    qtbot.waitUntil(lambda: len(view.transcript.queue.bubbles) == 1)
    view.transcript.queue.bubbles[0].remove.click()
    assert session.queue == ()


def test_an_inserted_message_is_shown(view: ChatView, session: ChatSession, qtbot: QtBot) -> None:
    session.insert(Role.ASSISTANT, "3, 4")
    qtbot.waitUntil(lambda: view.transcript.plain_text() == "Count\n1, 2\n3, 4")


def test_a_message_without_an_answer_can_be_answered(
    act: Act, session: ChatSession, engine: FakeEngine
) -> None:
    session.insert(Role.USER, "And then?")
    act(TurnAction.ANSWER, 2)
    finish(session, engine, "3, 4")
    assert texts(session) == ["Count", "**1**, 2", "And then?", "3, 4"]


class TestAnEditThatIsNotSaved:
    @pytest.fixture
    def edited(self, act: Act, view: ChatView, qtbot: QtBot) -> TurnView:
        """The question, in whose editor something else stands."""
        act(TurnAction.EDIT, 0)
        question = view.transcript.show_turn(view.session.chat.turns[0])
        assert question
        assert question.editor
        question.editor.text.setPlainText("Count to five")
        return question

    def test_it_is_kept_after_escape_and_is_there_the_next_time(
        self, edited: TurnView, view: ChatView, act: Act, session: ChatSession, qtbot: QtBot
    ) -> None:
        assert edited.editor
        view.activateWindow()
        qtbot.waitUntil(view.isActiveWindow)
        qtbot.keyClick(edited.editor.text, Qt.Key.Key_Escape)
        assert edited.editor is None
        assert view.composer.editor.hasFocus()
        act(TurnAction.EDIT, 0)
        assert edited.editor.text.toPlainText() == "Count to five"
        edited.editor.text.undo()
        assert edited.editor.text.toPlainText() == "Count"
        assert session.drafts.text((session.chat.id, session.chat.turns[0].id)) == ""

    def test_it_can_be_discarded_and_undo_brings_it_back(
        self, edited: TurnView, view: ChatView, act: Act, session: ChatSession
    ) -> None:
        undone: list[Callable[[], object]] = []
        view.turn_actions.undo_offered.connect(lambda _text, undo: undone.append(undo))
        assert edited.editor
        edited.editor.cancel.click()
        assert session.drafts.text((session.chat.id, session.chat.turns[0].id)) == ""
        undone[0]()
        assert edited.editor
        assert edited.editor.text.toPlainText() == "Count to five"

    @pytest.mark.parametrize("is_loaded", [False, True])
    def test_it_is_open_again_when_the_chat_is_shown_anew(
        self, edited: TurnView, session: ChatSession, qtbot: QtBot, is_loaded: bool
    ) -> None:
        turns = list(session.chat.turns)
        if not is_loaded:
            session.is_loaded = False
            session.chat.turns.clear()
        again = opened(session)
        qtbot.addWidget(again)
        again.resize(900, 600)
        again.show()
        qtbot.waitExposed(again)
        if not is_loaded:
            session.fill(turns, {})
        question = again.transcript.show_turn(session.chat.turns[0])
        assert question
        assert question.editor
        assert question.editor.text.toPlainText() == "Count to five"
        assert not question.editor.text.hasFocus()

    def test_it_is_not_lost_if_the_chat_began_to_answer_and_gone_once_it_is_sent(
        self, edited: TurnView, act: Act, session: ChatSession, engine: FakeEngine
    ) -> None:
        field = (session.chat.id, session.chat.turns[0].id)
        assert edited.editor
        session.regenerate()
        edited.editor.save.click()
        assert session.drafts.text(field) == "Count to five"
        finish(session, engine, "one")
        act(TurnAction.EDIT, 0)
        edited.editor.save.click()
        assert (texts(session)[0], session.drafts.text(field)) == ("Count to five", "")


def test_a_summary_is_edited_and_removed_and_the_removal_undone(
    view: ChatView, session: ChatSession, qtbot: QtBot
) -> None:
    answer = session.chat.turns[-1]
    answer.summary = Summary("They count.")
    view.transcript.summary_edited.emit(answer, "They count to five.")
    edited = answer.summary
    assert edited.text == "They count to five."
    with qtbot.waitSignal(view.turn_actions.undo_offered) as offered:
        view.transcript.summary_acted.emit(SummaryAction.UNDO, answer)
    assert answer.summary is None
    text, undo = offered.args
    assert text == "Removed the summary. The model reads all messages again."
    undo()
    assert answer.summary is edited


def test_a_summary_is_stopped_and_written_again_at_the_card(
    view: ChatView, session: ChatSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, asked = session.chat.turns[-1], []
    monkeypatch.setattr(session, "sum_up_again", asked.append)
    monkeypatch.setattr(session.summaries, "stop", lambda: asked.append("stop"))
    view.transcript.summary_acted.emit(SummaryAction.AGAIN, answer)
    view.transcript.summary_acted.emit(SummaryAction.STOP, answer)
    assert asked == [answer, "stop"]
