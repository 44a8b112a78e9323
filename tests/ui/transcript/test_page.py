import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.chat import Turn
from app.protocol.request import Role
from app.ui.transcript.page import Anchor, Page

pytestmark = pytest.mark.usefixtures("qapp")  # for its fonts


def page_of(turns: list[Turn]) -> Page:
    page = Page(extra_px=40)
    page.window_height = 600
    page.fit(900, 0)
    page.take(turns)
    return page


def some_turns(number: int) -> list[Turn]:
    return [Turn(Role.USER, f"{n} word " * (1 + n % 60)) for n in range(number)]


@given(st.integers(0, 99), st.lists(st.tuples(st.integers(0, 99), st.integers(20, 900)), max_size=20))
def test_what_is_measured_above_the_reader_moves_nothing_in_sight(share, measured) -> None:
    page = page_of(some_turns(100))
    page.hold(page.max_value * share // 100)
    row, top = page.anchor.row, page.anchor.y
    for number, height in measured:
        page.heights.measure(number, height)
    wanted = page.heights.top(row) + 24 - top
    assert page.value == max(0, min(page.max_value, wanted))


def test_turns_that_come_before_what_is_read_take_its_anchor_along() -> None:
    turns = some_turns(10)
    page = page_of(turns[5:])
    for row in range(5):
        page.heights.measure(row, 100 + row)
    page.anchor = Anchor(3, 50)
    assert page.take(turns) == ([], turns[:5])
    assert page.anchor == Anchor(8, 50)
    assert [page.heights.height(row) for row in range(5, 10)] == [100, 101, 102, 103, 104]
    assert [page.row_of(turn) for turn in turns] == list(range(10))


def test_another_version_takes_the_place_of_the_turns_after_it() -> None:
    turns, version = some_turns(4), Turn(Role.ASSISTANT, "said otherwise")
    page = page_of(turns)
    assert page.take([*turns[:2], version]) == (turns[2:], [version])
    assert page.row_of(turns[3]) is None
    assert page.take([*turns[:2], version]) == ([], [])


@given(st.lists(st.lists(st.integers(0, 11), unique=True), min_size=1, max_size=6))
def test_whatever_turns_come_and_go_each_is_found_in_its_row(shown) -> None:
    turns = some_turns(12)
    page = page_of(turns)
    for numbers in shown:
        page.take([turns[number] for number in numbers])
        rows = {number: row for row, number in enumerate(numbers)}
        assert [page.row_of(turn) for turn in turns] == [rows.get(number) for number in range(12)]
        assert len(page.heights) == len(numbers)


def test_half_a_turn_that_was_read_is_the_same_half_in_another_width() -> None:
    page = page_of(some_turns(100))
    page.anchor = Anchor(50, -page.heights.height(50) // 2)
    page.fit(400, 0)
    assert page.value == pytest.approx(24 + page.heights.top(50) + page.heights.height(50) / 2, abs=2)
    assert page.column.left() == (400 - page.column.width()) // 2
