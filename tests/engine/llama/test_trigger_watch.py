"""Where a grammar begins to hold: at which token, and how much of that is before it."""

import re

import pytest

from app.engine.llama.answer_watch import FoundTrigger, TriggerWatch


def found(pattern: bytes, *pieces: bytes) -> FoundTrigger | None:
    watch = TriggerWatch([re.compile(pattern)])
    results = [watch.add(number, piece) for number, piece in enumerate(pieces)]
    assert not any(results[:-1])
    return results[-1]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((b"a", b"<call>"), FoundTrigger((1,), b"")),
        ((b"a", b"b<", b"ca", b"ll>{"), FoundTrigger((1, 2, 3), b"b")),
        ((b"<call>",), FoundTrigger((0,), b"")),
        ((b"<", b"call"), None),
        ((b"<cal", b"<call>"), FoundTrigger((1,), b"")),
    ],
)
def test_a_word(pieces, expected):
    assert found(re.escape(b"<call>"), *pieces) == expected


def test_a_pattern_begins_at_its_group():
    assert found(rb"<start>assistant(\s+to)", b"<start>", b"assistant", b" to") == FoundTrigger((2,), b"")


def test_a_pattern_of_the_whole_text():
    assert found(rb"^\s+to\Z", b" ", b"to") == FoundTrigger((0, 1), b"")
    assert found(rb"^\s+to\Z", b"x ", b"to") is None


def test_what_was_forgotten_does_not_count():
    watch = TriggerWatch([re.compile(b"ab")])
    watch.add(1, b"a")
    watch.forget()
    assert watch.add(2, b"b") is None
    assert watch.add(3, b"ab") == FoundTrigger((3,), b"")
