import copy
import json
import tracemalloc
from typing import Any

import pytest

from app.system.said import MAX_CHARS, Said, from_text, packed, said, to_text, together, unpacked

HARMFUL = (
    {"text": "{a.__class__}", "values": {"a": "1"}},
    {"text": "{a:>999999999}", "values": {"a": "1"}},
    {"text": "{a!r:{b}}", "values": {"a": "1", "b": ">9999"}},
    {"text": "{a.template}", "values": {"a": {"text": "x", "values": {}}, "a.template": "y"}},
    {"text": "{a.__str__.__globals__}", "values": {"a": "1", "a.__str__.__globals__": "y"}},
    {"text": "{a[0]}", "values": {"a": "1", "a[0]": "y"}},
    {"text": "{a!r}", "values": {"a": "1"}},
    {"text": "{a:.0f}", "values": {"a": 10**400}},
    {"text": "{a:,}", "values": {"a": 10**400}},
    {"text": "{a}", "values": {"a": float("nan")}},
)


def nested(depth: int, times: int = 1) -> dict[str, Any]:
    """`times` to the power of `depth` characters, in a few more than `depth` times `times`."""
    told: Any = "x"
    for _ in range(depth):
        told = {"text": "{a}" * times, "values": {"a": told}}
    return told  # type: ignore[no-any-return]


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


def test_nested_texts_do_not_multiply() -> None:
    assert len(unpacked(nested(10, 2))) == 1024
    for told in (nested(27, 2), nested(9, 10), nested(500)):
        tracemalloc.start()
        with pytest.raises(ValueError, match="no text"):
            unpacked(told)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()


def test_many_texts_beside_each_other_do_not_add_up() -> None:
    values = {f"a{n}": nested(10, 2) for n in range(1000)}
    with pytest.raises(ValueError, match="no text"):
        unpacked({"text": "{a1}", "values": values})


@pytest.mark.parametrize("kept", [json.dumps(nested(27, 2)), '{"text": "' + "a" * 1_000_000, "a" * 1_000_000])
def test_what_is_kept_and_too_long_is_cut(kept: str) -> None:
    assert len(from_text(kept)) <= MAX_CHARS


KEPT = (
    said("{tokens:,} tokens", tokens=1234),
    said("plain"),
    said("100 {of them}"),
    "",
    "{",
    '{"text": 3}',
    '{"text": "{a}", "values": {"a": "1"}}',
)


@pytest.mark.parametrize("text", KEPT)
def test_it_is_kept_in_a_file_as_it_is(text: str) -> None:
    kept = from_text(to_text(text))
    assert kept == text
    if isinstance(text, Said) and text.values:
        assert isinstance(kept, Said)
        assert (kept.template, kept.values) == (text.template, text.values)
