import copy
import json

import pytest

from app.said import Said, from_text, packed, said, to_text, together, unpacked

HARMFUL = (
    {"text": "{a.__class__}", "values": {"a": "1"}},
    {"text": "{a:>999999999}", "values": {"a": "1"}},
    {"text": "{a!r:{b}}", "values": {"a": "1", "b": ">9999"}},
)


def test_it_is_the_english_text() -> None:
    assert said("{name} has {tokens:,} tokens.", name="Sums", tokens=1234) == "Sums has 1,234 tokens."
    assert said("{not a field}") == "{not a field}"


@pytest.mark.parametrize("pass_on", [str, copy.deepcopy, lambda text: str(ValueError(text))])
def test_what_it_was_made_of_goes_along(pass_on: object) -> None:
    passed = pass_on(said("No {what}.", what="room"))  # type: ignore[operator]
    assert isinstance(passed, Said)
    assert (passed.template, passed.values) == ("No {what}.", {"what": "room"})


def test_sentences_stand_one_behind_the_other() -> None:
    assert together("One.", "", "Two.", "Three.") == "One. Two. Three."
    assert together("", "") == ""
    only = said("Only one.")
    assert together("", only) is only


def test_it_comes_through_json_with_all_that_is_in_it() -> None:
    text = said("{tokens:,} tokens, {reason}", tokens=1234, reason=said("as {wanted}", wanted="asked"))
    again = unpacked(json.loads(json.dumps(packed(text))))
    assert isinstance(again, Said)
    assert (again, again.template, again.values) == (text, text.template, text.values)
    assert isinstance(again.values["reason"], Said)
    assert unpacked(json.loads(json.dumps(packed("plain")))) == "plain"


@pytest.mark.parametrize(
    "told",
    [
        None,
        3,
        [],
        {},
        {"text": "{a}"},
        {"text": 1, "values": {"a": 1}},
        {"text": "{a}", "values": {"a": [1]}},
        *HARMFUL,
    ],
)
def test_what_is_no_text_is_refused(told: object) -> None:
    with pytest.raises(ValueError, match="no text"):
        unpacked(told)


KEPT = (said("{tokens:,} tokens", tokens=1234), said("plain"), "", "{", '{"text": 3}')


@pytest.mark.parametrize("text", KEPT)
def test_it_is_kept_in_a_file_as_it_is(text: str) -> None:
    kept = from_text(to_text(text))
    assert kept == text
    if isinstance(text, Said) and text.values:
        assert isinstance(kept, Said)
        assert (kept.template, kept.values) == (text.template, text.values)
