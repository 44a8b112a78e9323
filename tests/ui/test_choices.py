from app.engine.types import Overflow, Speed
from app.ui.choices import OVERFLOWS, SPEEDS, memory_choices, overflow_label


def test_every_speed_and_overflow_can_be_chosen() -> None:
    assert [choice.value for choice in SPEEDS] == list(Speed)
    assert [choice.value for choice in OVERFLOWS] == list(Overflow)


def test_what_a_slot_gets_of_an_isolated_pool_is_told() -> None:
    _shared, isolated = memory_choices(16_384, 8)
    assert isolated.sentence == "2,048 tokens (16,384 / 8) for each slot, nothing shared."


def test_before_the_pool_is_known_no_number_is_made_up() -> None:
    _shared, isolated = memory_choices(0, 8)
    assert isolated.sentence == "An equal part for each slot, nothing shared."


def test_beside_the_meter_each_choice_says_what_it_does() -> None:
    labels = [overflow_label(overflow) for overflow in Overflow]
    assert labels == ["Stop when full", "Rolling window", "Truncate the middle"]
