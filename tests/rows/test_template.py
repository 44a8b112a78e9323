import pytest

from app.protocol.errors import InvalidRequestError
from app.rows.template import Template


def test_only_names_of_columns_are_replaced() -> None:
    template = Template('Write {"a": {a}} for {b c}, {d} and {{a}}.', ("a", "b c"))
    assert template.filled(("{b c}", "x")) == 'Write {"a": {b c}} for x, {d} and {{b c}}.'
    assert template.used == ("a", "b c")
    assert template.beginning == 'Write {"a": '


def test_names_may_be_anything() -> None:
    template = Template("{a.*} {x}y} {a.b}", ("a.*", "x}y"))
    assert template.filled(("1", "2")) == "1 2 {a.b}"


def test_what_is_shared_and_the_other_order() -> None:
    template = Template("{text}: is this good? Look at {name}.", ("name", "text"))
    assert template.shared(("Ann", "long " * 10)) == 0
    other = template.with_shared_first()
    assert other.text == "“text”: is this good? Look at “name”.\n\ntext: {text}\nname: {name}"
    assert other.shared(("Ann", "long")) > 0.6


def test_the_other_order_is_better_only_where_less_is_computed_for_each_row() -> None:
    values = ("a long review of a boat",)
    assert Template("{text}: is this good, and is it a review at all?", ("text",)).sharing(values).is_better
    assert not Template("Say {text}", ("text",)).sharing(values).is_better


def test_a_prompt_without_a_column_is_said_so() -> None:
    with pytest.raises(InvalidRequestError, match=r"Write \{name\} where"):
        Template("Is this good? {other}", ("name",))
