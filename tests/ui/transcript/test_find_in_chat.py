import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, Turn
from app.protocol.request import Role
from app.ui.base.frame_budget import frame_budget
from app.ui.message.text_part import SelectedText
from app.ui.tabs.chat_view import ChatView
from app.ui.transcript.find_in_chat import matches_in
from tests.ui.fakes import FakeSession
from tests.ui.windows import opened


@pytest.fixture
def chat() -> Chat:
    chat = Chat()
    for n in range(60):
        chat.add(
            Turn(Role.USER, f"Question {n}?"), Turn(Role.ASSISTANT, f"Answer {n} has **Words** and words.")
        )
    return chat


@pytest.fixture
def view(qtbot: QtBot, chat: Chat) -> ChatView:
    view = opened(FakeSession(chat))
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    qtbot.waitExposed(view)
    view.activateWindow()
    return view


def look_for(view: ChatView, qtbot: QtBot, words: str) -> None:
    view.finder.open()
    view.find_bar.field.setText(words)
    look_again(view, qtbot)


def look_again(view: ChatView, qtbot: QtBot) -> None:
    view.finder._begin()
    qtbot.waitUntil(lambda: view.finder._reading is None)


def marked(view: ChatView) -> list[str]:
    """The words that are marked on the page."""
    panes: list[SelectedText] = [pane for live in view.transcript.live_views for pane in live.text_panes()]
    return [selection.cursor.selectedText() for pane in panes for selection in pane.extraSelections()]


def current_place(view: ChatView) -> tuple[int, int]:
    match = view.finder._matches[view.finder._current]
    return match.row, match.number


def test_every_place_is_found_in_order() -> None:
    chat = Chat()
    chat.add(Turn(Role.USER, "aXaxa"), Turn(Role.ASSISTANT, "none"), Turn(Role.USER, "xx"))
    found = [(m.row, m.number) for m in matches_in(chat, "x", matches_case=False) if m]
    assert found == [(0, 0), (0, 1), (2, 0), (2, 1)]
    found = [(m.row, m.number) for m in matches_in(chat, "X", matches_case=True) if m]
    assert found == [(0, 0)]


def test_it_tells_how_many_there_are_and_marks_those_that_are_drawn(view: ChatView, qtbot: QtBot) -> None:
    look_for(view, qtbot, "words")
    assert view.find_bar.count.text().endswith(" of 120")
    assert set(marked(view)) == {"Words", "words"}
    view.find_bar.case.setChecked(True)
    look_again(view, qtbot)
    assert view.find_bar.count.text().endswith(" of 60")


def test_it_begins_where_the_reader_is(view: ChatView, qtbot: QtBot) -> None:
    look_for(view, qtbot, "words")
    assert current_place(view)[0] in view.transcript.rows_in_sight


def test_it_goes_on_and_back_round_the_ends(view: ChatView, qtbot: QtBot) -> None:
    look_for(view, qtbot, "Question")
    qtbot.waitUntil(lambda: not frame_budget().num_waiting)
    view.finder._go_to(59)
    qtbot.keyClick(view.find_bar.field, Qt.Key.Key_Return)
    assert view.find_bar.count.text() == "1 of 60"
    assert 0 in view.transcript.rows_in_sight
    qtbot.keyClick(view.find_bar.field, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert view.find_bar.count.text() == "60 of 60"
    assert 118 in view.transcript.rows_in_sight
    assert "Question" in marked(view)


def test_a_turn_that_was_not_drawn_is_brought_and_marked(view: ChatView, qtbot: QtBot) -> None:
    look_for(view, qtbot, "answer 7 ")
    assert view.find_bar.count.text() == "1 of 1"
    assert marked(view) == ["Answer 7 "]
    assert 15 in view.transcript.rows_in_sight


def test_what_is_not_there_is_said(view: ChatView, qtbot: QtBot) -> None:
    look_for(view, qtbot, "nowhere")
    assert view.find_bar.count.text() == "No matches"
    assert not view.find_bar.next.isEnabled()
    assert marked(view) == []


def test_escape_closes_unmarks_and_gives_the_keyboard_back(view: ChatView, qtbot: QtBot) -> None:
    view.composer.editor.setFocus()
    look_for(view, qtbot, "words")
    qtbot.keyClick(view.find_bar.field, Qt.Key.Key_Escape)
    assert not view.find_bar.isVisible()
    assert marked(view) == []
    assert QApplication.focusWidget() is view.composer.editor


def test_new_words_are_counted_too(view: ChatView, chat: Chat, qtbot: QtBot) -> None:
    look_for(view, qtbot, "words")
    chat.add(Turn(Role.USER, "More words"))
    view.session.changed.emit()
    qtbot.waitUntil(lambda: view.find_bar.count.text().endswith(" of 121"))


def test_selected_words_are_looked_for_at_once(view: ChatView, qtbot: QtBot) -> None:
    view.composer.editor.setPlainText("Answer 3")
    view.composer.editor.setFocus()
    view.composer.editor.selectAll()
    view.finder.open()
    assert view.find_bar.query == "Answer 3"
