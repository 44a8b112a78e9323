"""The card of a summary, below the answer that it ends with."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.bridge.drafts import Drafts
from app.chats.attachment import Attachment
from app.chats.chat import Chat, Turn
from app.chats.summary import CUT_OFF, Summary
from app.protocol.request import Role
from app.ui.transcript.answer_view import AnswerView
from app.ui.transcript.summary_card import SummaryAction, SummaryCard
from app.ui.transcript.transcript import Transcript

SUMMARY = Summary("- The budget is **4,350** euros.", num_tokens=12, num_replaced=3_920)


@pytest.fixture
def chat() -> Chat:
    chat = Chat()
    notes = Attachment("notes.txt", "The budget.")
    chat.add(Turn(Role.USER, "Read this", attachments=(notes,)), Turn(Role.ASSISTANT, "Done."))
    chat.add(Turn(Role.USER, "And now?"), Turn(Role.ASSISTANT, "We go on."))
    chat.turns[1].summary = SUMMARY
    return chat


@pytest.fixture
def transcript(qtbot: QtBot, chat: Chat) -> Transcript:
    transcript = Transcript(chat, drafts=Drafts())
    qtbot.addWidget(transcript)
    transcript.resize(700, 600)
    transcript.show()
    return transcript


def view_of(transcript: Transcript, turn: Turn) -> AnswerView:
    view = next(view for view in transcript.live_views if view.turn is turn)
    assert isinstance(view, AnswerView)
    return view


def card_of(transcript: Transcript, turn: Turn) -> SummaryCard:
    card = view_of(transcript, turn).card
    assert card
    return card


def redraw(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: not transcript._frame.isActive())


def shown(card: SummaryCard) -> set[SummaryAction]:
    return {action for action, button in card.buttons.items() if button.isVisible()}


def test_it_stands_below_its_answer_and_says_what_it_stands_for(transcript: Transcript, chat: Chat) -> None:
    view = view_of(transcript, chat.turns[1])
    card = card_of(transcript, chat.turns[1])
    assert card.section.header.text() == "Summary of the 2 messages above · 12 tokens in the place of 3,920"
    assert not card.section.is_open
    assert card.y() > view.footer.geometry().bottom()
    assert view.height() >= card.geometry().bottom()
    assert shown(card) == {SummaryAction.EDIT, SummaryAction.AGAIN, SummaryAction.UNDO}
    assert view_of(transcript, chat.turns[3]).card is None
    card.section.header.click()
    assert "The budget is 4,350 euros." in view.plain_text() + " ".join(
        pane.toPlainText() for pane in view.text_panes()
    )


def test_while_it_is_written_it_grows_and_can_be_stopped(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    turn = chat.turns[1]
    turn.summary = Summary("- The bud", is_growing=True)
    redraw(transcript, qtbot)
    card = card_of(transcript, turn)
    assert card.section.header.text() == "Summing up the 2 messages above…"
    assert card.section.is_open
    assert shown(card) == {SummaryAction.STOP}
    with qtbot.waitSignal(transcript.summary_acted) as acted:
        card.buttons[SummaryAction.STOP].click()
    assert acted.args == [SummaryAction.STOP, turn]


def test_one_that_is_not_used_says_why(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    turn = chat.turns[1]
    turn.summary = Summary("- The bud", notice=CUT_OFF)
    redraw(transcript, qtbot)
    card = card_of(transcript, turn)
    assert card.notice.isVisible()
    assert card.notice.text().startswith("The summary was cut off. It is not used")
    turn.summary = SUMMARY
    redraw(transcript, qtbot)
    assert not card.notice.isVisible()


def test_it_is_edited_in_its_place(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    card = card_of(transcript, chat.turns[1])
    card.buttons[SummaryAction.EDIT].click()
    assert card.editor
    assert not card.section.isVisible()
    assert shown(card) == set()
    card.editor.text.setPlainText("The budget is 5,000 euros.")
    with qtbot.waitSignal(transcript.summary_edited) as edited:
        qtbot.keyClick(card.editor.text, Qt.Key.Key_Return)
    assert edited.args == [chat.turns[1], "The budget is 5,000 euros."]
    assert card.editor is None


def test_an_edit_that_was_left_is_there_the_next_time(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    card = card_of(transcript, chat.turns[1])
    card.start_editing()
    assert card.editor
    card.editor.text.setPlainText("half a thought")
    with qtbot.assertNotEmitted(transcript.summary_edited):
        qtbot.keyClick(card.editor.text, Qt.Key.Key_Escape)
    card.start_editing()
    assert card.editor.text.toPlainText() == "half a thought"
    card.editor.cancel.click()
    card.start_editing()
    assert card.editor.text.toPlainText() == SUMMARY.text


def test_a_file_that_it_names_is_one_click_away(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    for number in range(30):
        chat.add(Turn(Role.USER, f"Question {number}"), Turn(Role.ASSISTANT, "An answer. " * 60))
    chat.turns[-1].summary = SUMMARY
    redraw(transcript, qtbot)
    transcript.jump_to_end()
    (file,) = card_of(transcript, chat.turns[-1]).files
    assert file.text() == "notes.txt"
    file.click()
    qtbot.waitUntil(lambda: 0 in transcript.rows_in_sight)


def test_without_one_there_is_no_card_any_more(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    view = view_of(transcript, chat.turns[1])
    height = view.height()
    chat.turns[1].summary = None
    redraw(transcript, qtbot)
    assert not card_of(transcript, chat.turns[1]).isVisible()
    assert view.height() < height


def test_one_that_is_put_back_is_seen_again(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    view = view_of(transcript, chat.turns[1])
    height = view.height()
    for summary in (None, SUMMARY):
        chat.turns[1].summary = summary
        redraw(transcript, qtbot)
    card = card_of(transcript, chat.turns[1])
    assert card.isVisible()
    assert card.height() > 0
    assert view.height() == height
