import pytest

from app.chats.chat import Turn, TurnState
from app.engine.types import Role, SlotSnapshot, SlotState, Usage
from app.ui.answer_text import activity_line, context_text, notice_line, num_context_tokens, stats_line

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
    assert stats_line(answer(model="starter", usage=DONE)) == "starter · 41 tok/s · 1.3 s · reused 96%"


def test_what_is_not_known_is_left_out() -> None:
    assert stats_line(answer(model="starter")) == "starter"
    assert stats_line(answer()) == ""
    assert stats_line(answer(usage=Usage(num_generated_tokens=1))) == ""


@pytest.mark.parametrize(
    ("slot", "line"),
    [
        (None, "◌ waiting"),
        (SlotSnapshot(0, SlotState.WARM), "◌ waiting"),
        (SlotSnapshot(0, SlotState.PREFILL, num_cells=122, num_pending_tokens=78), "◌ prefill 61%"),
        (SlotSnapshot(0, SlotState.DECODE), "◌ computing"),
        (SlotSnapshot(0, SlotState.DECODE, usage=DONE), "◌ 41 tok/s"),
    ],
)
def test_an_unfinished_answer_tells_what_is_being_done_for_it(slot: SlotSnapshot | None, line: str) -> None:
    assert activity_line(slot) == line


def test_an_early_end_is_told_by_a_mark_a_word_and_the_reason() -> None:
    assert notice_line(answer(state=TurnState.STOPPED)) == "■ Stopped"
    assert (
        notice_line(answer(state=TurnState.FAILED, notice="The context is full."))
        == "⚠ Failed: The context is full."
    )
    assert notice_line(answer(notice="The context is full.")) == "The context is full."
    assert notice_line(answer()) == ""


def test_the_context_is_told_as_used_and_whole() -> None:
    assert context_text(412, 4096) == "412 / 4,096"
    assert context_text(412, 0) == ""


def test_the_slot_knows_the_context_better_than_the_last_answer() -> None:
    assert num_context_tokens(SlotSnapshot(0, SlotState.WARM, pos_max=411), DONE) == 412
    assert num_context_tokens(SlotSnapshot(0, SlotState.PREFILL), DONE) == 142
    assert num_context_tokens(None, Usage()) == 0
