from app.engine.types import SlotSnapshot, SlotState, Usage
from app.inspector.slot_text import COLUMNS, slot_texts, state_mark, state_text, widest_texts
from app.look import marks
from tests.inspector.reports import decoding


def test_a_running_slot_shows_all_it_holds() -> None:
    assert slot_texts(decoding(0, "sums"), "Sums") == (
        "0",
        "Sums",
        "decode",
        "0",
        "411",
        "412",
        "196",
        "92",  # reused 80 and shared 12
        "7",
        "4",
        "41.0",
    )


def test_an_empty_slot_shows_only_its_number_and_state() -> None:
    texts = slot_texts(SlotSnapshot(3, SlotState.EMPTY), "")
    assert texts[0] == "3"
    assert texts[2] == "empty"
    assert not any(texts[3:])


def test_an_answer_that_was_paused_shows_how_much_it_holds_again() -> None:
    """It computes its own tokens a second time, so more is pending than its prompt was long."""
    usage = Usage(num_prompt_tokens=100, num_generated_tokens=30)
    slot = SlotSnapshot(0, SlotState.PREFILL, num_cells=13, num_pending_tokens=117, usage=usage)
    assert state_text(slot) == "prefill 10%"


def test_a_prefill_tells_how_far_it_is() -> None:
    slot = SlotSnapshot(0, SlotState.PREFILL, num_cells=122, num_pending_tokens=78)
    assert state_text(slot) == "prefill 61%"


def test_positions_that_do_not_exist_are_not_shown() -> None:
    texts = slot_texts(SlotSnapshot(0, SlotState.PREFILL, "sums", num_pending_tokens=5), "Sums")
    assert texts[3:5] == ("", "")


def test_each_state_has_its_mark_beside_its_word() -> None:
    assert state_mark(decoding(0, "sums")) is marks.COMPUTING
    assert state_mark(SlotSnapshot(0, SlotState.WARM)) is marks.WARM
    assert state_mark(SlotSnapshot(0, SlotState.EMPTY)) is marks.IDLE


def test_there_is_a_text_and_a_width_for_each_column() -> None:
    assert len(slot_texts(decoding(0, "sums"), "Sums")) == len(widest_texts(4096)) == len(COLUMNS)
    assert widest_texts(131072)[4] == "131,072"
