import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QEnterEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, QueuedMessage, Turn, TurnState
from app.look.plain_text import ElidedLabel
from app.protocol.output import Usage
from app.protocol.report import SlotSnapshot, SlotState
from app.protocol.request import Overflow, Role
from app.ui.base.frame_budget import frame_budget
from app.ui.base.proportions import column_width
from app.ui.transcript.answer_view import AnswerView
from app.ui.transcript.compare_view import CompareView
from app.ui.transcript.jump_button import EdgeFade
from app.ui.transcript.transcript import (
    MIN_FRAME_MS,
    NUM_AROUND,
    STICKY_PX,
    Transcript,
)
from app.ui.transcript.turn_actions import TurnAction, TurnMenu
from app.ui.transcript.turn_view import AnswerProgress, TurnView
from app.ui.transcript.view_pool import MAX_VIEWS

LONG_ANSWER = "Some **prose** of an answer that takes a few lines of the page. " * 12
BUSY = AnswerProgress(is_busy=True)


@pytest.fixture
def chat() -> Chat:
    chat = Chat()
    chat.add(Turn(Role.USER, "Count"), Turn(Role.ASSISTANT, "1, 2", TurnState.STREAMING, model="starter"))
    return chat


@pytest.fixture
def turns(chat: Chat) -> list[Turn]:
    return chat.turns


@pytest.fixture
def transcript(qtbot: QtBot, chat: Chat) -> Transcript:
    transcript = Transcript(chat)
    qtbot.addWidget(transcript)
    transcript.resize(700, 300)
    return transcript


def answer_view(transcript: Transcript) -> AnswerView:
    view = transcript.live_views[-1]
    assert isinstance(view, AnswerView)
    return view


def view_of(transcript: Transcript, turn: Turn) -> TurnView:
    return next(view for view in transcript.live_views if view.turn is turn)


def fill(chat: Chat, num_turns: int = 40) -> None:
    """Questions of one line, answers of many."""
    chat.turns[-1].state = TurnState.DONE
    for n in range(num_turns // 2):
        chat.add(Turn(Role.USER, f"Question {n}?"), Turn(Role.ASSISTANT, f"Answer {n}. {LONG_ANSWER}"))


def settle(transcript: Transcript, qtbot: QtBot) -> None:
    """Until all that is around what is in sight has its widgets."""
    qtbot.waitUntil(lambda: not frame_budget().num_waiting and not transcript._frame.isActive())


def place_on_screen(transcript: Transcript, turn: Turn) -> int:
    return view_of(transcript, turn).y()


# Drawing


@pytest.mark.usefixtures("short_frames")
def test_a_chat_of_long_turns_is_opened_in_pieces(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    """The rows and all that is read, drawn and laid out of them share a frame."""
    chat.turns[-1].state = TurnState.DONE
    for _ in range(4):
        chat.add(Turn(Role.USER, "words, words " * 40), Turn(Role.ASSISTANT, "- some *item* of it\n" * 60))
    transcript.resize(700, 2_000)
    transcript.show()
    assert not all(transcript._is_ready(row) for row in transcript._around())
    settle(transcript, qtbot)
    assert all(transcript._is_ready(row) for row in transcript._around())


def test_hidden_it_draws_nothing(transcript: Transcript, turns: list[Turn]) -> None:
    for word in range(1000):
        turns[-1].text += f" {word}"
        transcript.mark_dirty()
    assert transcript.plain_text() == ""
    assert not transcript._frame.isActive()


def test_shown_it_draws_everything_at_once(transcript: Transcript) -> None:
    transcript.show()
    assert transcript.plain_text() == "Count\n1, 2"


def test_growing_text_is_drawn_at_most_thirty_times_a_second(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    transcript.show()
    for word in range(100):
        turns[-1].text += f", {word}"
        transcript.mark_growing()
    assert transcript.plain_text() == "Count\n1, 2"
    assert transcript._frame.isActive()
    assert transcript._next_frame_at - time.monotonic() > 0
    qtbot.waitUntil(lambda: transcript.plain_text().endswith(", 99"))


def test_the_end_of_an_answer_is_not_made_to_wait(transcript: Transcript, turns: list[Turn]) -> None:
    transcript.show()
    turns[-1].text += ", 3"
    transcript.mark_growing()
    transcript._next_frame_at = time.monotonic() + 60
    transcript.mark_dirty()
    assert transcript._frame.isActive()
    assert transcript._frame.interval() == 0


def test_a_slow_drawing_is_followed_by_a_longer_rest(transcript: Transcript, turns: list[Turn]) -> None:
    turns[-1].text = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 300
    before = time.monotonic()
    transcript.show()
    cost = transcript._next_frame_at - before
    assert cost > 2 * MIN_FRAME_MS / 1000


def test_users_words_stay_as_typed(transcript: Transcript, turns: list[Turn]) -> None:
    turns[0].text = "  <b>x</b>\n*not* emphasis"
    transcript.show()
    assert transcript.plain_text().startswith("  <b>x</b>\n*not* emphasis")


# A long chat


def test_only_what_is_in_sight_and_a_little_around_it_has_widgets(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat, 1000)
    transcript.show()
    settle(transcript, qtbot)
    assert len(transcript.live_views) <= len(transcript.rows_in_sight) + 2 * NUM_AROUND
    bar = transcript.verticalScrollBar()
    for step in range(40):
        bar.setValue(bar.maximum() * step // 40)
        settle(transcript, qtbot)
    assert len(transcript.findChildren(TurnView)) <= MAX_VIEWS + 1


def test_every_turn_can_be_scrolled_to_and_shows_its_own_text(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat, 60)
    transcript.resize(700, 900)
    transcript.show()
    bar = transcript.verticalScrollBar()
    bar.setValue(0)
    seen: set[str] = set()
    while True:
        settle(transcript, qtbot)
        for view in transcript.live_views:
            seen.add(view.turn.id)
            assert view.plain_text().split() == view.turn.text.replace("**", "").split()
        if bar.value() == bar.maximum():
            break
        bar.setValue(bar.value() + 500)
    assert seen == {turn.id for turn in chat.turns}


def test_real_heights_above_do_not_move_what_is_read(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat, 200)
    transcript.show()
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    settle(transcript, qtbot)
    for _ in range(60):
        read = chat.turns[transcript.rows_in_sight.start]
        before = place_on_screen(transcript, read)
        bar.setValue(bar.value() - 37)
        settle(transcript, qtbot)
        assert place_on_screen(transcript, read) == before + 37


def test_turns_stand_one_below_the_other_without_holes(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat, 100)
    transcript.show()
    transcript.verticalScrollBar().setValue(4000)
    settle(transcript, qtbot)
    views = transcript.live_views
    assert len(views) > 3
    for above, below in pairwise(views):
        assert below.y() == above.y() + above.height() + above.GAP_AFTER


@pytest.mark.parametrize(
    "change",
    [lambda page: page.resize(500, 300), lambda page: page.resize(1400, 300), lambda page: page.set_zoom(6)],
    ids=["narrower", "wider", "larger text"],
)
def test_the_readers_place_survives_another_width_and_another_size_of_text(
    transcript: Transcript, chat: Chat, qtbot: QtBot, change: Callable[[Transcript], None]
) -> None:
    fill(chat, 100)
    transcript.show()
    transcript.verticalScrollBar().setValue(4000)
    settle(transcript, qtbot)
    read = chat.turns[transcript.rows_in_sight.start]
    change(transcript)
    settle(transcript, qtbot)
    assert chat.turns[transcript.rows_in_sight.start] is read


def test_what_is_written_far_below_moves_nothing(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    fill(chat, 100)
    chat.turns[-1].state = TurnState.STREAMING
    transcript.show()
    bar = transcript.verticalScrollBar()
    bar.setValue(3000)
    settle(transcript, qtbot)
    before = [(view.turn.id, view.y()) for view in transcript.live_views]
    chat.turns[-1].text += LONG_ANSWER * 5
    transcript.mark_dirty()
    settle(transcript, qtbot)
    assert [(view.turn.id, view.y()) for view in transcript.live_views] == before


def test_a_turn_deleted_above_moves_nothing(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    fill(chat, 100)
    transcript.show()
    transcript.verticalScrollBar().setValue(4000)
    settle(transcript, qtbot)
    read = chat.turns[transcript.rows_in_sight.start]
    before = place_on_screen(transcript, read)
    chat.remove(chat.turns[2])
    transcript.mark_dirty()
    settle(transcript, qtbot)
    assert place_on_screen(transcript, read) == before


def test_out_of_sight_for_long_a_chat_keeps_its_text_only(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat)
    transcript.show()
    settle(transcript, qtbot)
    text, value = transcript.plain_text(), transcript.verticalScrollBar().value()
    transcript.hide()
    transcript._frees.timeout.emit()
    assert transcript.live_views == []
    transcript.show()
    settle(transcript, qtbot)
    assert transcript.plain_text() == text
    assert transcript.verticalScrollBar().value() == value


# Following the end


def test_it_follows_the_end_while_the_reader_is_there(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat)
    transcript.show()
    bar = transcript.verticalScrollBar()
    before = bar.maximum()
    assert bar.value() == before
    fill(chat, 6)
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: bar.maximum() > before)
    settle(transcript, qtbot)
    assert bar.value() == bar.maximum()


def test_it_stays_where_the_reader_is_and_offers_to_jump(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat)
    transcript.show()
    settle(transcript, qtbot)
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() - STICKY_PX - 10)
    read = chat.turns[-2]
    place, before = place_on_screen(transcript, read), bar.maximum()
    fill(chat, 6)
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: bar.maximum() > before)
    assert place_on_screen(transcript, read) == place
    assert transcript._jump.isVisible()
    assert transcript._jump.accessibleName() == "Jump to latest: 6 new messages"
    qtbot.mouseClick(transcript._jump, Qt.MouseButton.LeftButton)
    settle(transcript, qtbot)
    assert bar.value() == bar.maximum()
    assert not transcript._jump.isVisible()


def test_an_answer_that_ended_below_is_news(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    fill(chat)
    chat.turns[-1].state = TurnState.STREAMING
    transcript.set_progress(BUSY)
    transcript.show()
    settle(transcript, qtbot)
    transcript.verticalScrollBar().setValue(0)
    assert transcript._jump.num_unread == 0
    chat.turns[-1].state = TurnState.DONE
    transcript.set_progress(AnswerProgress())
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: transcript._jump.num_unread == 1)


def test_one_small_step_up_ends_the_following(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    """A touchpad scrolls by a few pixels at a time."""
    fill(chat)
    chat.turns[-1].state = TurnState.STREAMING
    transcript.show()
    settle(transcript, qtbot)
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() - 5)
    place = bar.value()
    chat.turns[-1].text += LONG_ANSWER
    transcript.mark_dirty()
    settle(transcript, qtbot)
    assert bar.maximum() > place + 5
    assert bar.value() == place


def test_home_and_end_go_to_both_ends(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    fill(chat, 200)
    transcript.show()
    bar = transcript.verticalScrollBar()
    qtbot.keyClick(transcript, Qt.Key.Key_Home)
    settle(transcript, qtbot)
    assert bar.value() == 0
    assert transcript.live_views[0].turn is chat.turns[0]
    qtbot.keyClick(transcript, Qt.Key.Key_End)
    settle(transcript, qtbot)
    assert bar.value() == bar.maximum()


def test_text_fades_at_the_lower_edge_while_there_is_more(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat, 40)
    transcript.show()
    (fade,) = transcript.findChildren(EdgeFade)
    qtbot.keyClick(transcript, Qt.Key.Key_Home)
    settle(transcript, qtbot)
    assert fade.isVisible()
    assert fade.geometry().bottom() == transcript.rect().bottom()
    qtbot.keyClick(transcript, Qt.Key.Key_End)
    settle(transcript, qtbot)
    assert not fade.isVisible()


def test_the_column_is_a_comfortable_line_and_centred(transcript: Transcript) -> None:
    transcript.resize(1600, 400)
    transcript.show()
    left = answer_view(transcript).x()
    right = transcript.width() - left - answer_view(transcript).width()
    assert abs(left - right) <= 1
    assert column_width(1600, 0) == column_width(3200, 0)
    assert column_width(400, 0) < 400


# Versions


def add_version(chat: Chat, turn: Turn, text: str) -> Turn:
    version = Turn(turn.role, text, parent_id=turn.parent_id, created_at=turn.created_at + 1)
    chat.add_aside(version)
    return version


def test_another_version_takes_the_same_place_and_its_switch_stays_under_the_mouse(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat)
    answer = chat.turns[11]
    version = add_version(chat, answer, "Short.")
    follower = version
    for n in range(20):
        follower = Turn(Role.USER, f"And then {n}?", parent_id=follower.id)
        chat.add_aside(follower)
    transcript.version_requested.connect(lambda wanted: chat.show_version(wanted))
    transcript.version_requested.connect(transcript.mark_dirty)
    transcript.show()
    view = transcript.show_turn(answer)
    assert view
    transcript.scroll_to(view.versions)
    settle(transcript, qtbot)
    assert view.versions.text == "1/2"
    place = view.versions.mapTo(transcript, QPoint(0, 0))
    view.versions.next.click()
    settle(transcript, qtbot)
    assert chat.turns[-1] is follower
    assert view.turn is version
    assert view.plain_text() == "Short."
    assert view.versions.text == "2/2"
    assert view.versions.mapTo(transcript, QPoint(0, 0)) == place
    view.versions.previous.click()
    settle(transcript, qtbot)
    assert view.turn is answer
    assert view.versions.mapTo(transcript, QPoint(0, 0)) == place


def test_only_where_there_are_versions_they_can_be_switched(transcript: Transcript, chat: Chat) -> None:
    transcript.show()
    assert not any(view.versions.isVisible() for view in transcript.live_views)


def test_versions_stand_side_by_side_until_one_is_kept(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    answer = chat.turns[-1]
    answer.state = TurnState.DONE
    version = add_version(chat, answer, "three")
    transcript.resize(900, 500)
    transcript.show()
    transcript.set_comparing(True)
    qtbot.waitUntil(lambda: isinstance(transcript.live_views[-1], CompareView))
    compared = transcript.live_views[-1]
    assert isinstance(compared, CompareView)
    assert [column.turn for column in compared.columns] == [answer, version]
    assert compared.columns[0].y() == compared.columns[1].y()
    assert compared.vote.text() == f"Votes: {answer.text}: 1 of 2 · three: 1 of 2"
    heads = [column.accessibleName() for column in compared.columns]
    assert heads == ["Answer 1 of 2 · the chat goes on from it", "Answer 2 of 2"]
    [head] = [label for label in compared.columns[0].findChildren(QLabel) if label.text() == heads[0]]
    head.setFixedWidth(80)
    assert isinstance(head, ElidedLabel), "cut with dots"
    assert heads[0] in head.toolTip()
    with qtbot.waitSignal(transcript.kept) as closed:
        compared.close_button.click()
    assert closed.args == [answer], "it goes on as it would have"
    with qtbot.waitSignal(transcript.kept) as kept:
        compared.columns[1].keep.click()
    assert kept.args == [version]
    chat.show_version(version)
    transcript.set_comparing(False)
    qtbot.waitUntil(lambda: isinstance(transcript.live_views[-1], AnswerView))
    assert answer_view(transcript).plain_text() == "three"


def test_side_by_side_each_grows_and_none_can_be_kept_before_all_are_done(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    version = add_version(chat, chat.turns[-1], "one")
    version.state = TurnState.STREAMING
    version.model = "big"
    transcript.set_progress(BUSY)
    transcript.show()
    transcript.set_comparing(True)
    qtbot.waitUntil(lambda: isinstance(transcript.live_views[-1], CompareView))
    compared = transcript.live_views[-1]
    assert isinstance(compared, CompareView)
    labels = compared.columns[1].findChildren(QLabel)
    assert "big · ◌ computing" in [label.text() for label in labels], "each says who computes it"
    assert not any(column.keep.isEnabled() for column in compared.columns)
    version.text += " two"
    version.usage = Usage(num_generated_tokens=3, decode_s=0.1)
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: "one two" in compared.plain_text())
    assert compared.columns[1].body.height() <= compared.columns[1].height()
    assert any("20 tok/s" in label.text() for label in labels)


def test_on_a_narrow_page_versions_stand_below_each_other(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    add_version(chat, chat.turns[-1], "three")
    transcript.resize(420, 500)
    transcript.show()
    transcript.set_comparing(True)
    qtbot.waitUntil(lambda: isinstance(transcript.live_views[-1], CompareView))
    first, second = transcript.live_views[-1].columns  # type: ignore[attr-defined]
    assert second.y() > first.y()


# Messages that wait


def test_queued_messages_wait_at_the_end_and_can_be_taken_back(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    transcript.show()
    chat.queue += [QueuedMessage("And 3 + 4?"), QueuedMessage("<b>then</b>")]
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: len(transcript.queue.bubbles) == 2)
    assert [bubble.words.text() for bubble in transcript.queue.bubbles] == ["And 3 + 4?", "<b>then</b>"]
    assert transcript.queue.y() >= answer_view(transcript).geometry().bottom()
    with qtbot.waitSignal(transcript.queue.removed) as removed:
        transcript.queue.bubbles[1].remove.click()
    assert removed.args == [1]
    with qtbot.waitSignal(transcript.queue.edit_requested) as edited:
        transcript.queue.bubbles[0].edit.click()
    assert edited.args == [0]
    chat.queue.clear()
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: not transcript.queue.isVisible())


# Editing


def test_a_message_is_edited_in_its_place(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    chat.turns[-1].state = TurnState.DONE
    transcript.show()
    view = view_of(transcript, chat.turns[0])
    view.act(TurnAction.EDIT)
    assert view.editor
    assert view.editor.text.toPlainText() == "Count"
    assert view.editor.save.text() == "Save && send"
    qtbot.keyClicks(view.editor.text, " to 5")
    with qtbot.waitSignal(transcript.edited) as edited:
        qtbot.keyClick(view.editor.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert edited.args == [chat.turns[0], "Count to 5", ()]
    assert view.editor is None


def test_escape_leaves_a_message_as_it_was(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    transcript.show()
    view = view_of(transcript, chat.turns[0])
    height = view.height()
    view.act(TurnAction.EDIT)
    assert view.editor
    qtbot.keyClicks(view.editor.text, " to 5")
    with qtbot.assertNotEmitted(transcript.edited):
        qtbot.keyClick(view.editor.text, Qt.Key.Key_Escape)
    assert view.editor is None
    assert view.height() == height
    assert view.plain_text() == "Count"


def test_nothing_is_asked_where_nothing_was_changed(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    transcript.show()
    view = view_of(transcript, chat.turns[0])
    view.act(TurnAction.EDIT)
    assert view.editor
    with qtbot.assertNotEmitted(transcript.edited):
        view.editor.save.click()


def test_what_is_being_edited_is_not_lost_by_scrolling_away(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    fill(chat, 200)
    transcript.show()
    transcript.verticalScrollBar().setValue(0)
    view = view_of(transcript, chat.turns[0])
    view.act(TurnAction.EDIT)
    assert view.editor
    qtbot.keyClicks(view.editor.text, " to 5")
    bar = transcript.verticalScrollBar()
    for step in range(1, 21):
        bar.setValue(bar.maximum() * step // 20)
        settle(transcript, qtbot)
    bar.setValue(0)
    settle(transcript, qtbot)
    again = view_of(transcript, chat.turns[0])
    assert again.editor
    assert again.editor.text.toPlainText() == "Count to 5"


def test_what_is_being_edited_survives_another_tab(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    transcript.show()
    view = view_of(transcript, chat.turns[0])
    view.act(TurnAction.EDIT)
    assert view.editor
    qtbot.keyClicks(view.editor.text, " to 5")
    transcript.hide()
    transcript._frees.timeout.emit()
    transcript.show()
    again = view_of(transcript, chat.turns[0])
    assert again.editor
    assert again.editor.text.toPlainText() == "Count to 5"


# What is said and offered at a turn


def test_actions_appear_without_moving_anything(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    turns[-1].state = TurnState.DONE
    transcript.show()
    for view in transcript.live_views:
        before = [child.geometry() for child in view.findChildren(QWidget) if child.isVisible()]
        button = view.buttons.button(TurnAction.COPY)
        empty = button.grab().toImage()
        place = QPointF(4, 4)
        QApplication.sendEvent(view, QEnterEvent(place, place, place))
        assert button.grab().toImage() != empty
        assert before == [child.geometry() for child in view.findChildren(QWidget) if child.isVisible()]


def test_an_answer_can_be_forked_from_and_explained(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    turns[-1].state = TurnState.DONE
    turns[-1].usage = Usage(412, 300, 64, 28, 20, "edited message", 38)
    transcript.show()
    view = answer_view(transcript)
    with qtbot.waitSignal(transcript.acted) as forked:
        view.buttons.button(TurnAction.FORK).click()
    assert forked.args == [TurnAction.FORK, turns[-1]]
    assert "An earlier message was edited" in view.footer.toolTip()
    assert ">28<" in view.footer.toolTip()
    assert view.buttons.button(TurnAction.DETAILS).isVisible()


def test_an_answer_that_went_on_out_of_sight_and_came_no_further_is_explained_anew(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    turns[-1].state = TurnState.DONE
    turns[-1].usage = Usage(412, 300, 64, 28, 20, "edited message", 38)
    transcript.show()
    transcript.hide()
    turns[-1].usage = replace(turns[-1].usage, num_prompt_tokens=977)
    transcript.mark_dirty()
    transcript.show()
    assert ">977<" in answer_view(transcript).footer.toolTip()


def test_the_tokens_of_an_answer_can_be_looked_into_as_soon_as_there_are_some(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    transcript.show()
    view = answer_view(transcript)
    with qtbot.waitSignal(transcript.acted) as requested:
        view.buttons.button(TurnAction.TOKENS).click()
    assert requested.args == [TurnAction.TOKENS, turns[-1]]


def test_what_is_still_written_can_neither_be_forked_from_nor_explained(transcript: Transcript) -> None:
    transcript.show()
    view = answer_view(transcript)
    assert not view.buttons.button(TurnAction.FORK).isVisible()
    assert not view.buttons.button(TurnAction.DETAILS).isVisible()
    assert view.footer.toolTip() == ""


WAYS_ON = {
    Overflow.SUM_UP: "Sum up earlier messages and go on",
    Overflow.ROLLING_WINDOW: "Continue with a rolling window",
    Overflow.TRUNCATE_MIDDLE: "Leave out the middle",
}


@pytest.mark.parametrize("way_on", WAYS_ON)
def test_a_full_chat_that_stops_is_offered_a_way_on_until_it_goes_on(
    transcript: Transcript, chat: Chat, turns: list[Turn], qtbot: QtBot, way_on: Overflow
) -> None:
    turns[-1].state, turns[-1].overflowed = TurnState.DONE, True
    turns[-1].notice = "The answer was cut off: this chat's context of 512 tokens is full."
    transcript.set_progress(AnswerProgress(way_on=way_on))
    transcript.show()
    view = answer_view(transcript)
    assert view.keep_going.isVisible()
    assert view.keep_going.text() == WAYS_ON[way_on]
    assert view.notice.geometry().bottom() < view.keep_going.y()
    assert view.keep_going.geometry().bottom() < view.footer.y()
    with qtbot.waitSignal(transcript.keep_going_requested):
        view.keep_going.click()

    chat.add(Turn(Role.USER, "Continue."), Turn(Role.ASSISTANT, "", TurnState.STREAMING))
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: not view.keep_going.isVisible())
    qtbot.waitUntil(lambda: transcript.live_views[-1].turn is chat.turns[-1])
    assert not answer_view(transcript).keep_going.isVisible()


@pytest.mark.parametrize(("overflowed", "way_on"), [(True, None), (False, Overflow.SUM_UP)])
def test_nothing_is_offered_where_the_chat_rolls_already_or_is_not_full(
    transcript: Transcript, turns: list[Turn], overflowed: bool, way_on: Overflow | None
) -> None:
    turns[-1].state, turns[-1].overflowed = TurnState.DONE, overflowed
    transcript.set_progress(AnswerProgress(way_on=way_on))
    transcript.show()
    assert not answer_view(transcript).keep_going.isVisible()


def test_turns_that_were_left_out_are_told_quietly(transcript: Transcript, turns: list[Turn]) -> None:
    turns[-1].state, turns[-1].notice = TurnState.DONE, "The oldest 4 turns were left out."
    transcript.show()
    notice = answer_view(transcript).notice
    assert (notice.text(), notice.property("tone")) == ("The oldest 4 turns were left out.", "muted")


def test_copy_gives_the_answer_as_the_model_wrote_it(transcript: Transcript, turns: list[Turn]) -> None:
    turns[-1].text = "**55**"
    transcript.show()
    answer_view(transcript).buttons.button(TurnAction.COPY).click()
    assert QApplication.clipboard().text() == "**55**"


def test_the_figures_of_an_answer_give_way_to_its_buttons_only_while_these_are_seen(
    transcript: Transcript, turns: list[Turn]
) -> None:
    turns[-1].state = TurnState.DONE
    turns[-1].usage = Usage(412, 300, 64, 28, 20, "edited message", 38)
    transcript.resize(360, 400)
    transcript.show()
    view = answer_view(transcript)
    whole, places = view.footer.text(), [view.footer.pos(), view.buttons.pos()]
    assert "…" not in whole
    QApplication.sendEvent(view, QEnterEvent(QPointF(), QPointF(), QPointF()))
    assert view.footer.text().endswith("…")
    assert view.footer.geometry().right() < view.buttons.x()
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    assert view.footer.text() == whole
    assert [view.footer.pos(), view.buttons.pos()] == places


def test_the_end_of_an_answer_moves_nothing_above_it(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    transcript.show()
    height = answer_view(transcript).height()
    place = answer_view(transcript).footer.pos()
    turns[-1].state = TurnState.DONE
    turns[-1].usage = Usage(num_prompt_tokens=10, num_generated_tokens=5, decode_s=1.0)
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: "tok/s" in answer_view(transcript).footer.text())
    assert answer_view(transcript).height() == height
    assert answer_view(transcript).footer.pos() == place


def test_a_failure_tells_why_under_the_text_so_far(transcript: Transcript, turns: list[Turn]) -> None:
    turns[-1].state = TurnState.FAILED
    turns[-1].notice = "The context is full."
    transcript.show()
    notice = answer_view(transcript).notice
    assert notice.text() == "⚠ Failed: The context is full."
    assert notice.mapTo(transcript, QPoint(0, 0)).y() > answer_view(transcript).body.y()
    assert transcript.plain_text() == "Count\n1, 2"


def test_labels_never_guess_that_words_are_html(transcript: Transcript, turns: list[Turn]) -> None:
    turns[-1].state, turns[-1].notice = TurnState.FAILED, "<img src=file:///dev/zero>"
    turns[-1].model = "<b>model</b>"
    transcript.show()
    labels = transcript.findChildren(QLabel)
    assert labels
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in labels)


def test_larger_text_makes_a_wider_column_and_taller_turns(transcript: Transcript) -> None:
    transcript.resize(1600, 400)
    transcript.show()
    before = answer_view(transcript).size()
    transcript.set_zoom(4)
    assert answer_view(transcript).width() > before.width()
    assert answer_view(transcript).height() > before.height()


def test_a_stopped_answer_at_the_end_offers_to_continue(
    transcript: Transcript, chat: Chat, qtbot: QtBot
) -> None:
    chat.turns[-1].state = TurnState.STOPPED
    transcript.show()
    view = answer_view(transcript)
    assert view.go_on.isVisible()
    with qtbot.waitSignal(transcript.acted) as acted:
        view.go_on.click()
    assert acted.args == [TurnAction.CONTINUE, chat.turns[-1]]
    chat.add(Turn(Role.USER, "Next"))
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: not view.go_on.isVisible())


def test_the_progress_of_the_engine_is_told_under_the_last_answer(transcript: Transcript) -> None:
    transcript.show()
    slot = SlotSnapshot(0, SlotState.DECODE, usage=Usage(num_generated_tokens=21, decode_s=1.0))
    transcript.set_progress(AnswerProgress(is_busy=True, slot=slot))
    assert answer_view(transcript).footer.text() == "◌ 20 tok/s"


def test_tab_goes_down_the_page(transcript: Transcript, chat: Chat, qtbot: QtBot) -> None:
    fill(chat, 30)
    transcript.show()
    qtbot.waitExposed(transcript)
    transcript.activateWindow()
    transcript.verticalScrollBar().setValue(0)
    settle(transcript, qtbot)
    transcript.setFocus()
    visited: list[Turn] = []
    for _ in range(60):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        turn = next((view.turn for view in transcript.live_views if view.isAncestorOf(focused)), None)
        if turn and (not visited or visited[-1] is not turn):
            visited.append(turn)
    assert len(visited) > 5
    assert visited == chat.turns[: len(visited)]


def test_every_turn_has_a_name_for_those_who_listen(transcript: Transcript) -> None:
    transcript.show()
    assert [view.accessibleName() for view in transcript.live_views] == ["You", "Answer by starter"]


@pytest.mark.parametrize("row", [0, 1])
def test_a_turn_has_a_menu_wherever_it_is_clicked(
    transcript: Transcript, chat: Chat, qtbot: QtBot, row: int
) -> None:
    chat.turns[1].text, chat.turns[1].state = "1, 2\n\n```\n3\n```", TurnState.DONE
    transcript.show()
    qtbot.waitUntil(lambda: len(transcript.live_views) == 2)
    view = transcript.live_views[row]
    for place in (view, *(pane.viewport() for pane in view.text_panes())):
        point = QPoint(1, 1)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, place.mapToGlobal(point))
        QApplication.sendEvent(place, event)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, TurnMenu)
        menu.close()


def test_all_answers_of_a_chat_can_be_shown_as_they_were_written(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    turns[1].text, turns[1].state = "<think>*so*</think>**bold** $\\nothing$", TurnState.DONE
    transcript.set_plain(True)
    transcript.show()
    view = answer_view(transcript)
    view.body.thinking.toggle()
    assert [pane.toPlainText() for pane in view.text_panes()] == ["*so*", "**bold** $\\nothing$"]
    transcript.set_plain(False)
    qtbot.waitUntil(lambda: [pane.toPlainText() for pane in view.text_panes()] == ["so", "bold $\\nothing$"])
