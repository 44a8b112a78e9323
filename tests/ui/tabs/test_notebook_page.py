import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.bridge.engines import ChatEngine, Engines
from app.bridge.notebook_session import NotebookSession
from app.bridge.running_answers import RunningAnswers
from app.chats.chat import Chat, Turn
from app.protocol.output import FinishReason, Output
from app.protocol.request import Role
from app.settings.settings import Settings
from app.ui.tabs.chat_view import ChatView
from app.ui.tabs.notebook_page import NotebookPage
from tests.fakes import saved
from tests.ui.fakes import FakeMediaFiles
from tests.ui.test_accessibility import nameless
from tests.ui.windows import opened

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunningAnswers, "_send_request", lambda _session, _request: None)


def notebook(chat: Chat, *, is_loaded: bool = True) -> NotebookSession:
    engine = ChatEngine(Engines(), chat)
    return NotebookSession(chat, engine, Settings(), media=FakeMediaFiles(), save=saved, is_loaded=is_loaded)


@pytest.fixture
def session(qapp: object) -> NotebookSession:
    return notebook(Chat(is_notebook=True))


@pytest.fixture
def view(qtbot: QtBot, session: NotebookSession) -> ChatView:
    view = opened(session)
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    qtbot.waitExposed(view)
    return view


@pytest.fixture
def page(view: ChatView) -> NotebookPage:
    assert view.notebook
    return view.notebook


def say(session: NotebookSession, *texts: str, reason: FinishReason | None = FinishReason.LENGTH) -> None:
    """The model continues, in so many pieces."""
    request_id = session.request_id
    assert request_id
    for text in texts:
        session.answers.apply(Output(request_id, session.chat.id, text))
    if reason:
        session.answers.apply(Output(request_id, session.chat.id, "", reason))


def test_a_notebook_is_one_editor_without_messages(view: ChatView, page: NotebookPage) -> None:
    assert page.isVisible()
    assert not view.transcript.isVisible()
    assert not view.composer.isVisible()
    assert view.panes == (page.editor,)
    assert view.focusProxy() is page
    assert nameless(page) == []
    assert not page.go_on.isEnabled()


def test_ctrl_enter_continues_what_is_written(
    session: NotebookSession, page: NotebookPage, qtbot: QtBot
) -> None:
    qtbot.keyClicks(page.editor, "Once upon")
    assert session.text == "Once upon"
    qtbot.keyClick(page.editor, Qt.Key.Key_Return, CTRL)
    assert session.is_busy
    assert page.stop.isVisible()
    assert not page.go_on.isVisible()
    assert page.editor.isReadOnly()
    say(session, " a", " time")
    assert page.editor.text == "Once upon a time"
    assert not page.editor.isReadOnly()
    assert page.go_on.isVisible()


def test_undo_takes_back_one_continuation_at_a_time(
    session: NotebookSession, page: NotebookPage, qtbot: QtBot
) -> None:
    qtbot.keyClicks(page.editor, "One")
    for texts in ((" two", " three"), (" four", " five", " six")):
        page.go_on.click()
        say(session, *texts)
    assert page.editor.text == "One two three four five six"
    qtbot.keyClick(page.editor, Qt.Key.Key_Z, CTRL)
    assert page.editor.text == session.text == "One two three"
    page.undo.click()
    assert page.editor.text == session.text == "One"
    assert [turn.role for turn in session.chat.turns] == [Role.USER]
    page.editor.redo()
    assert session.text == "One two three"


def test_what_the_model_wrote_last_is_tinted_and_has_its_tokens(
    session: NotebookSession, page: NotebookPage, view: ChatView, qtbot: QtBot
) -> None:
    qtbot.keyClicks(page.editor, "One")
    assert not page.tokens.isEnabled()
    page.go_on.click()
    say(session, " two 🙂")
    (tint,) = page.editor.extraSelections()
    assert tint.cursor.selectedText() == " two 🙂"  # type: ignore[attr-defined]
    with qtbot.waitSignal(view.turn_actions.tokens_requested) as asked:
        page.tokens.click()
    assert asked.args == [session, session.chat.turns[1]]
    qtbot.keyClick(page.editor, Qt.Key.Key_End, CTRL)
    qtbot.keyClicks(page.editor, "!")
    assert page.editor.extraSelections() == []
    assert not page.tokens.isEnabled()


def test_a_continuation_that_failed_says_why_until_it_is_tried_again(
    session: NotebookSession, page: NotebookPage, qtbot: QtBot
) -> None:
    qtbot.keyClicks(page.editor, "One")
    page.go_on.click()
    assert session.request_id
    failed = Output(session.request_id, session.chat.id, finish_reason=FinishReason.ERROR, notice="No model.")
    session.answers.apply(failed)
    assert page.state.text() == "No model."
    assert page.editor.text == session.text == "One"
    page.go_on.click()
    assert page.state.text() == ""


def test_an_undo_from_the_menu_while_it_is_written_is_no_longer_in_the_session(
    session: NotebookSession, page: NotebookPage, qtbot: QtBot
) -> None:
    qtbot.keyClicks(page.editor, "One")
    page.go_on.click()
    say(session, " two", reason=None)
    page.editor.undo()
    say(session, " three")
    assert page.editor.text == session.text


def test_it_comes_back_as_it_was_and_without_a_history(qtbot: QtBot) -> None:
    chat = Chat(is_notebook=True)
    session = notebook(chat, is_loaded=False)
    view = opened(session)
    qtbot.addWidget(view)
    page = view.notebook
    assert page
    assert not page.go_on.isEnabled()
    session.fill([Turn(Role.USER, "One"), Turn(Role.ASSISTANT, " two")], {})
    assert page.editor.text == "One two"
    assert not page.undo.isEnabled()
    assert page.tokens.isEnabled()
    assert page.go_on.isEnabled()


def test_a_hit_of_the_search_is_shown(session: NotebookSession, view: ChatView, qtbot: QtBot) -> None:
    assert view.notebook
    qtbot.keyClicks(view.notebook.editor, "One two three")
    view.show_words(session.chat.turns[0], "two")
    assert view.notebook.editor.textCursor().selectedText() == "two"


def test_what_stands_in_the_empty_editor_is_as_large_as_what_is_written_there(
    view: ChatView, page: NotebookPage
) -> None:
    for zoom in (0, 5):
        view.set_zoom(zoom)
        assert page.editor.viewport().font() == page.editor.font()
