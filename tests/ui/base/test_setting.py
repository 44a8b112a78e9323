import pytest

from app.ui.base.setting import Field, field_of


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
