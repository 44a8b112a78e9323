from dataclasses import replace

import pytest

from app.chats.chat import Turn, TurnState
from app.protocol.media import Encoding
from app.protocol.output import PrefixEnd, Usage
from app.protocol.report import SlotSnapshot, SlotState
from app.protocol.request import Role
from app.ui.transcript.answer_text import (
    activity_line,
    answer_ended_text,
    finish_text,
    notice_line,
    prefix_end_text,
    stats_line,
    usage_rows,
    usage_times,
)

DONE = Usage(
    num_prompt_tokens=100,
    num_reused_tokens=90,
    num_shared_tokens=6,
    num_computed_tokens=4,
    num_generated_tokens=42,
    queue_s=0.1,
    time_to_first_token_s=0.3,
    decode_s=1.0,
)


def answer(**values: object) -> Turn:
    return Turn(Role.ASSISTANT, "55", **values)  # type: ignore[arg-type]


def test_a_finished_answer_tells_model_speed_time_and_what_was_reused() -> None:
    assert (
        stats_line(answer(model="starter", usage=DONE))
        == "starter · 41 tok/s · first token 0.3 s · reused 96%"
    )


def test_a_first_token_that_came_at_once_is_told_in_milliseconds() -> None:
    usage = Usage(num_prompt_tokens=10, num_generated_tokens=1, time_to_first_token_s=0.004)
    assert stats_line(answer(usage=usage)) == "first token 4.0 ms"


def test_restored_tokens_were_not_computed_again_either() -> None:
    usage = Usage(
        num_prompt_tokens=100, num_restored_tokens=60, num_computed_tokens=40, num_generated_tokens=1
    )
    assert stats_line(answer(usage=usage)) == "reused 60%"


def test_the_details_account_for_every_token_of_the_prompt() -> None:
    usage = Usage(1412, 1000, 300, 100, 12 + 38, num_generated_tokens=38)
    assert [(name, number) for name, number, _ in usage_rows(usage)] == [
        ("Prompt", "1,412"),
        ("reused", "1,000"),
        ("shared", "300"),
        ("restored", "100"),
        ("computed", "12"),
        ("Answer", "38"),
    ]
    assert usage_rows(Usage()) == ()


def test_the_details_tell_what_was_computed_twice() -> None:
    paused = Usage(num_prompt_tokens=100, num_computed_tokens=100 + 20 + 110, num_generated_tokens=20)
    assert usage_rows(paused)[-1] == ("Again", "110", "recomputed after a pause, or with a shorter prompt")


def test_the_details_tell_how_many_guesses_were_right() -> None:
    guessed = Usage(
        num_prompt_tokens=100,
        num_computed_tokens=100 + 40 + 6,
        num_generated_tokens=40,
        num_drafted_tokens=18,
        num_kept_tokens=12,
    )
    assert usage_rows(guessed)[-1] == ("accepted", "12", "of 18 draft tokens")
    by_model = replace(guessed, num_model_drafted_tokens=10, num_model_kept_tokens=9)
    assert usage_rows(by_model)[-1] == ("draft model", "9", "of 10 draft tokens")


def test_the_details_tell_when_the_first_token_came() -> None:
    assert (
        usage_times(DONE)
        == "First token after 0.3 s, including 0.1 s of waiting. Total time without pauses 1.3 s."
    )
    assert (
        usage_times(Usage(time_to_first_token_s=0.3))
        == "First token after 0.3 s. Total time without pauses 0.3 s."
    )
    quick = Usage(time_to_first_token_s=0.004, decode_s=0.05)
    assert usage_times(quick) == "First token after 4.0 ms. Total time without pauses 54.0 ms."
    assert usage_times(Usage()) == ""


@pytest.mark.parametrize("prefix_end", list(PrefixEnd))
def test_every_end_of_the_cached_prefix_is_told_in_a_sentence(prefix_end: PrefixEnd) -> None:
    text = prefix_end_text(Usage(prefix_end=str(prefix_end)))
    assert text.endswith(".")
    assert text != prefix_end


def test_a_later_versions_reason_is_shown_as_it_is() -> None:
    assert prefix_end_text(Usage(prefix_end="moved to another machine")) == "moved to another machine"
    assert prefix_end_text(Usage()) == ""


def test_what_is_not_known_is_left_out() -> None:
    assert stats_line(answer(model="starter")) == "starter"
    assert stats_line(answer()) == ""
    assert stats_line(answer(usage=Usage(num_generated_tokens=1))) == ""


@pytest.mark.parametrize(
    ("slot", "line"),
    [
        (None, "◌ waiting"),
        (SlotSnapshot(0, SlotState.WARM), "◌ waiting"),
        (
            SlotSnapshot(0, SlotState.PREFILL, num_cells=122, num_pending_tokens=78),
            "◌ reading the prompt 61%",
        ),
        (SlotSnapshot(0, SlotState.DECODE), "◌ computing"),
        (SlotSnapshot(0, SlotState.DECODE, usage=DONE), "◌ 41 tok/s"),
    ],
)
def test_an_unfinished_answer_tells_what_is_being_done_for_it(slot: SlotSnapshot | None, line: str) -> None:
    assert activity_line(slot) == line


def test_an_encoding_tells_how_much_is_done_and_since_when() -> None:
    encoding = Encoding("request", "chat", "sha256", num_done=0, num_total=400, elapsed_s=0.3)
    assert activity_line(None, encoding=encoding) == "◌ encoding pictures and sound"
    encoding = replace(encoding, num_done=100, elapsed_s=12.0)
    assert activity_line(None, encoding=encoding) == "◌ encoding pictures and sound · 25% · 12.0 s"


def test_an_answer_that_waits_for_servers_names_them() -> None:
    assert activity_line(None, starting=("git", "time")) == "◌ waiting for MCP server git, time to start"


def test_an_early_end_is_told_by_a_mark_a_word_and_the_reason() -> None:
    assert notice_line(answer(state=TurnState.STOPPED)) == "■ Stopped"
    assert (
        notice_line(answer(state=TurnState.STOPPED, notice="The oldest 4 turns were left out."))
        == "■ Stopped. The oldest 4 turns were left out."
    )
    assert (
        notice_line(answer(state=TurnState.FAILED, notice="The context is full."))
        == "⚠ Failed: The context is full."
    )
    assert notice_line(answer(notice="The context is full.")) == "The context is full."
    assert notice_line(answer()) == ""


def test_turns_that_were_left_out_are_told_without_a_mark() -> None:
    assert (
        notice_line(answer(notice="The oldest 4 turns were left out.")) == "The oldest 4 turns were left out."
    )


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        (answer(), "It ended with an end-of-generation token or a stop string."),
        (answer(state=TurnState.STOPPED), "It was stopped."),
        (answer(state=TurnState.FAILED), "It failed."),
        (answer(notice="The answer was cut."), "The answer was cut."),
        (answer(state=TurnState.STREAMING), ""),
    ],
)
def test_the_details_tell_how_an_answer_ended(turn: Turn, text: str) -> None:
    assert finish_text(turn) == text


def test_the_end_of_an_answer_is_said_aloud_with_its_reason() -> None:
    assert answer_ended_text(answer()) == "This answer has already finished."
    assert answer_ended_text(answer(state=TurnState.FAILED, notice="No room.")) == "⚠ Failed: No room."


def test_in_a_pause_no_speed_is_told() -> None:
    slot = SlotSnapshot(0, SlotState.DECODE, usage=Usage(num_generated_tokens=21, decode_s=1.0))
    assert "tok/s" in activity_line(slot)
    assert activity_line(slot, is_paused=True) == "all chats are paused"


def test_what_was_read_ahead_is_not_told_as_reused() -> None:
    usage = Usage(100, 60, num_computed_tokens=41, num_generated_tokens=1, num_ahead_tokens=45)
    assert stats_line(answer(usage=usage)) == "reused 15% · read ahead 45%"
    figures = {name: number for name, number, _ in usage_rows(usage)}
    assert (figures["reused"], figures["read ahead"], figures["computed"]) == ("15", "45", "40")
    restored = replace(usage, num_reused_tokens=0, num_restored_tokens=60)
    figures = {name: number for name, number, _ in usage_rows(restored)}
    assert (figures["reused"], figures["read ahead"], figures["restored"]) == ("0", "45", "15")


def test_a_prompt_that_was_stopped_was_computed_as_far_as_it_came() -> None:
    stopped = Usage(num_prompt_tokens=319, num_reused_tokens=10, num_computed_tokens=36)
    figures = {name: number for name, number, _ in usage_rows(stopped)}
    assert (figures["reused"], figures["computed"], figures["not computed"]) == ("10", "36", "273")
