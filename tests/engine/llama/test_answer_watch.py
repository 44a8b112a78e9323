"""The reasoning in an answer is followed by tokens, and ends when its budget is used up."""

import re

import pytest

from app.engine.llama.answer_watch import FoundTrigger, ReasoningWatch, TriggerWatch
from app.engine.prompt import Reasoning

START, END, OTHER_END = (1, 2), (3,), (4, 5)
WORD, HALF = 9, 8


def watch(budget: int | None = None, forced: tuple[int, ...] = (7, 3)) -> ReasoningWatch:
    marks = Reasoning(START, (END, OTHER_END), budget, forced)
    return ReasoningWatch(marks, lambda token_id: token_id != HALF)


def read(one: ReasoningWatch, *token_ids: int) -> list[tuple[int, ...]]:
    return [tuple(one.accept(token_id)) for token_id in token_ids]


def test_it_begins_and_ends_with_its_marks():
    one = watch()
    assert read(one, WORD, 1, WORD, 1) == [()] * 4
    assert not one.is_inside
    read(one, 2, WORD)
    assert one.is_inside
    assert read(one, 4, 5) == [(), OTHER_END]
    assert not one.is_inside


def test_without_a_budget_nothing_is_forced():
    one = watch()
    read(one, *START, *[WORD] * 1000)
    assert one.forced_token is None


def test_a_used_budget_ends_it():
    one = watch(budget=2)
    read(one, *START, WORD)
    assert one.forced_token is None
    read(one, WORD)
    assert one.forced_token == 7
    read(one, 7)
    assert one.forced_token == 3
    assert read(one, 3) == [END]
    assert (one.is_inside, one.forced_token) == (False, None)


def test_half_a_character_is_finished_first():
    one = watch(budget=1)
    read(one, *START, HALF)
    assert one.forced_token is None
    read(one, WORD)
    assert one.forced_token == 7


def test_no_budget_at_all_ends_it_at_once_each_time():
    one = watch(budget=0)
    for _ in range(2):
        read(one, *START)
        assert one.forced_token == 7
        read(one, 7, 3)
        assert not one.is_inside


def test_what_cannot_be_forced_is_let_go():
    one = watch(budget=1)
    read(one, *START, WORD)
    one.give_up()
    assert one.forced_token is None
    assert one.is_inside


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
