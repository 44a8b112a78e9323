import time

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.chats.chat import Turn, TurnState
from app.engine.types import Role, Usage
from app.ui.transcript import MIN_FRAME_MS, STICKY_PX, Transcript, column_width
from app.ui.turn_views import AnswerView


@pytest.fixture
def turns() -> list[Turn]:
    return [Turn(Role.USER, "Count"), Turn(Role.ASSISTANT, "1, 2", TurnState.STREAMING, model="starter")]


@pytest.fixture
def transcript(qtbot: QtBot, turns: list[Turn]) -> Transcript:
    transcript = Transcript(turns)
    qtbot.addWidget(transcript)
    transcript.resize(700, 300)
    return transcript


def answer_view(transcript: Transcript) -> AnswerView:
    view = transcript._views[-1]
    assert isinstance(view, AnswerView)
    return view


def fill(turns: list[Turn], num_turns: int = 40) -> None:
    turns[-1].state = TurnState.DONE
    turns += [Turn(Role.USER, f"line {n}\nmore") for n in range(num_turns)]


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
        transcript.mark_dirty()
    assert transcript.plain_text() == "Count\n1, 2"
    assert transcript._frame.isActive()
    assert transcript._next_frame_at - time.monotonic() > 0
    qtbot.waitUntil(lambda: transcript.plain_text().endswith(", 99"))


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


def test_it_follows_the_end_while_the_reader_is_there(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    fill(turns)
    transcript.show()
    bar = transcript.verticalScrollBar()
    before = bar.maximum()
    assert bar.value() == before
    fill(turns, 5)
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: bar.maximum() > before)
    assert bar.value() == bar.maximum()


def test_it_stays_where_the_reader_is_and_offers_to_jump(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    fill(turns)
    transcript.show()
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() - STICKY_PX - 10)
    place, before = bar.value(), bar.maximum()
    fill(turns, 5)
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: bar.maximum() > before)
    assert bar.value() == place
    assert transcript._jump.isVisible()
    qtbot.mouseClick(transcript._jump, Qt.MouseButton.LeftButton)
    assert bar.value() == bar.maximum()
    assert not transcript._jump.isVisible()


def test_the_column_is_a_comfortable_line_and_centred(transcript: Transcript) -> None:
    transcript.resize(1600, 400)
    transcript.show()
    left = answer_view(transcript).x()
    right = transcript.viewport().width() - left - answer_view(transcript).width()
    assert abs(left - right) <= 1
    assert column_width(1600, 0) == column_width(3200, 0)
    assert column_width(400, 0) < 400


def test_actions_under_an_answer_appear_without_moving_it(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    turns[-1].state = TurnState.DONE
    transcript.show()
    view = answer_view(transcript)
    before = [
        (child.geometry(), child.isVisible()) for child in view.children() if hasattr(child, "geometry")
    ]
    empty = view._copy.grab().toImage()
    view._copy.reveal(True)
    assert view._copy.grab().toImage() != empty
    after = [(child.geometry(), child.isVisible()) for child in view.children() if hasattr(child, "geometry")]
    assert after == before


def test_an_answer_can_be_forked_from_and_explained(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    turns[-1].state = TurnState.DONE
    turns[-1].usage = Usage(412, 300, 64, 28, 20, "edited message", 38)
    transcript.show()
    view = answer_view(transcript)
    with qtbot.waitSignal(transcript.fork_requested) as forked:
        view._fork.click()
    assert forked.args == [turns[-1]]
    assert "An earlier message is another one now" in view._footer.toolTip()
    assert ">28<" in view._footer.toolTip()
    assert view._details.isVisible()


def test_the_tokens_of_an_answer_can_be_looked_into_as_soon_as_there_are_some(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    transcript.show()
    view = answer_view(transcript)
    with qtbot.waitSignal(transcript.tokens_requested) as requested:
        view._tokens.click()
    assert requested.args == [turns[-1]]


def test_what_is_still_written_can_neither_be_forked_from_nor_explained(transcript: Transcript) -> None:
    transcript.show()
    view = answer_view(transcript)
    assert not view._fork.isVisible()
    assert not view._details.isVisible()
    assert view._footer.toolTip() == ""


def test_a_full_chat_that_stops_is_offered_a_rolling_window_until_it_goes_on(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    turns[-1].state, turns[-1].overflowed = TurnState.DONE, True
    turns[-1].notice = "The answer was cut: this chat fills its context of 512 tokens."
    transcript.set_can_keep_going(True)
    transcript.show()
    view = answer_view(transcript)
    assert view._keep_going.isVisible()
    assert view._notice.geometry().bottom() < view._keep_going.y()
    assert view._keep_going.geometry().bottom() < view._footer.y()
    with qtbot.waitSignal(transcript.keep_going_requested):
        view._keep_going.click()

    turns += [Turn(Role.USER, "Continue."), Turn(Role.ASSISTANT, "", TurnState.STREAMING)]
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: not view._keep_going.isVisible())
    assert not answer_view(transcript)._keep_going.isVisible()


@pytest.mark.parametrize(("overflowed", "can_keep_going"), [(True, False), (False, True)])
def test_nothing_is_offered_where_the_chat_rolls_already_or_is_not_full(
    transcript: Transcript, turns: list[Turn], overflowed: bool, can_keep_going: bool
) -> None:
    turns[-1].state, turns[-1].overflowed = TurnState.DONE, overflowed
    transcript.set_can_keep_going(can_keep_going)
    transcript.show()
    assert not answer_view(transcript)._keep_going.isVisible()


def test_turns_that_were_left_out_are_told_quietly(transcript: Transcript, turns: list[Turn]) -> None:
    turns[-1].state, turns[-1].notice = TurnState.DONE, "The oldest 4 turns were left out."
    transcript.show()
    notice = answer_view(transcript)._notice
    assert (notice.text(), notice.property("tone")) == ("The oldest 4 turns were left out.", "muted")


def test_copy_gives_the_answer_as_the_model_wrote_it(transcript: Transcript, turns: list[Turn]) -> None:
    turns[-1].text = "**55**"
    transcript.show()
    answer_view(transcript)._copy.click()
    assert QApplication.clipboard().text() == "**55**"


def test_the_end_of_an_answer_moves_nothing_above_it(
    transcript: Transcript, turns: list[Turn], qtbot: QtBot
) -> None:
    transcript.show()
    height = answer_view(transcript).height()
    place = answer_view(transcript)._footer.pos()
    turns[-1].state = TurnState.DONE
    turns[-1].usage = Usage(num_prompt_tokens=10, num_generated_tokens=5, decode_s=1.0)
    transcript.mark_dirty()
    qtbot.waitUntil(lambda: "tok/s" in answer_view(transcript)._footer.text())
    assert answer_view(transcript).height() == height
    assert answer_view(transcript)._footer.pos() == place


def test_a_failure_tells_why_under_the_text_so_far(transcript: Transcript, turns: list[Turn]) -> None:
    turns[-1].state = TurnState.FAILED
    turns[-1].notice = "The context is full."
    transcript.show()
    notice = answer_view(transcript)._notice
    assert notice.text() == "⚠ Failed: The context is full."
    assert notice.mapTo(transcript, QPoint(0, 0)).y() > answer_view(transcript)._body.y()
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
