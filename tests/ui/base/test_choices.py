from app.protocol.load import Speed
from app.protocol.request import Overflow
from app.ui.base.setting import OVERFLOWS, SPEEDS, overflow_label


def test_every_speed_and_overflow_can_be_chosen() -> None:
    assert [choice.value for choice in SPEEDS] == list(Speed)
    assert [choice.value for choice in OVERFLOWS] == list(Overflow)


def test_beside_the_meter_each_choice_says_what_it_does() -> None:
    labels = [overflow_label(overflow) for overflow in Overflow]
    assert labels == ["Stop when full", "Rolling window", "Truncate the middle"]
