import pytest

from app.protocol.load import Speed
from app.protocol.request import Overflow
from app.ui.base.setting import OVERFLOWS, SPEEDS, Field, field_of, overflow_label


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("theme", Field(str, "system", values=("system", "light", "dark"))),
        ("n_seq_max", Field(int, 8, low=1, high=64)),
        ("temperature", Field(float, None, is_optional=True, low=0, high=100)),
        ("max_tokens", Field(int, None, is_optional=True, low=1)),
        ("isolated", Field(bool, False)),
        ("system_prompt", Field(str, "")),
    ],
)
def test_kind_bounds_and_default_are_those_of_the_settings(name: str, field: Field) -> None:
    assert field_of(name) == field


def test_every_speed_and_overflow_can_be_chosen() -> None:
    assert [choice.value for choice in SPEEDS] == list(Speed)
    assert [choice.value for choice in OVERFLOWS] == list(Overflow)


def test_beside_the_meter_each_choice_says_what_it_does() -> None:
    labels = [overflow_label(overflow) for overflow in Overflow]
    assert labels == ["Sum up when full", "Stop when full", "Rolling window", "Truncate the middle"]
