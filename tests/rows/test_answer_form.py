import json

import pytest

from app.protocol.errors import InvalidRequestError
from app.protocol.grammar import check_grammar
from app.rows.answer_form import AnswerForm, Kind, most_given

SCHEMA = json.dumps(
    {"type": "object", "properties": {"good": {"type": "boolean"}, "why": {"type": "string"}}}
)


def test_a_text_and_a_number() -> None:
    assert AnswerForm().values(" a\n") == ("a",)
    number = AnswerForm(Kind.NUMBER)
    assert [number.values(text) for text in ("1", "-2.50")] == [(1,), (-2.5,)]
    check_grammar(number.sampling["grammar"])
    with pytest.raises(ValueError, match="no number"):
        number.values("1.x")


def test_choices_may_have_any_letters() -> None:
    form = AnswerForm(Kind.CHOICE, ('say "no"', "größer\\", "a\nb"))
    check_grammar(form.sampling["grammar"])
    assert form.values('say "no"') == ('say "no"',)
    with pytest.raises(ValueError, match="none of the choices"):
        form.values("maybe")
    with pytest.raises(InvalidRequestError):
        AnswerForm(Kind.CHOICE, ("one",))


def test_an_object_has_a_column_for_each_property() -> None:
    form = AnswerForm(Kind.SCHEMA, schema=SCHEMA)
    assert form.columns == ("good", "why")
    assert form.values('{"why": "so", "good": true, "more": 1}') == (True, "so")
    for text in ('{"good": tr', "[]"):
        with pytest.raises(ValueError, match="The answer is no"):
            form.values(text)
    assert AnswerForm(Kind.SCHEMA, schema='{"type": "array"}').values("[1]") == ([1],)
    with pytest.raises(InvalidRequestError):
        AnswerForm(Kind.SCHEMA, schema="{")


def test_the_values_that_most_have() -> None:
    assert most_given([("a",), ("b",), ("b",)]) == (("b",), 2)
    assert most_given([(1, {"x": []}), (True, {"x": []})]) == ((1, {"x": []}), 1)
