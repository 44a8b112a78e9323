import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.chat import Turn
from app.protocol.request import Role
from app.ui.transcript.page import LineFit, RowHeights

FIT = LineFit(line_px=20.0, chars_per_line=10.0, extra_px=50)


def turns_of(*texts: str) -> list[Turn]:
    return [Turn(Role.USER, text) for text in texts]


@pytest.fixture
def heights() -> RowHeights:
    heights = RowHeights(FIT)
    heights.replace(0, 0, turns_of("", "x" * 20, "a\nb\nc"))
    return heights


def test_what_was_not_drawn_is_as_high_as_its_text_is_long(heights: RowHeights) -> None:
    assert [heights.height(row) for row in range(3)] == [70, 110, 120]
    assert heights.total == 300
    assert not heights.is_known(0)


def test_a_measured_height_moves_what_is_below(heights: RowHeights) -> None:
    assert heights.top(2) == 180
    heights.measure(0, 100)
    assert [heights.top(row) for row in range(4)] == [0, 100, 210, 330]
    assert heights.is_known(0)


def test_a_place_belongs_to_the_row_that_covers_it_or_the_nearest(heights: RowHeights) -> None:
    places = (-5, 0, 69, 70, 179, 180, 5000)
    assert [heights.row_at(y) for y in places] == [0, 0, 0, 1, 1, 2, 2]


def test_what_stands_around_other_turns_stays_measured(heights: RowHeights) -> None:
    for row in range(3):
        heights.measure(row, 1000 + row)
    heights.replace(1, 2, turns_of("", ""))
    assert [heights.height(row) for row in range(4)] == [1000, 70, 70, 1002]
    assert [heights.is_known(row) for row in range(4)] == [True, False, False, True]
    assert heights.total == 2142


def test_on_another_page_all_is_estimated_again(heights: RowHeights) -> None:
    heights.measure(1, 5000)
    heights.forget(LineFit(line_px=40.0, chars_per_line=10.0, extra_px=0))
    assert [heights.height(row) for row in range(3)] == [40, 120, 140]
    assert heights.total == 300


def test_no_rows_take_no_room() -> None:
    assert RowHeights(FIT).total == 0
    assert len(RowHeights(FIT)) == 0


@given(
    st.lists(st.integers(1, 500), min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 39), st.integers(1, 900), st.integers(0, 39)), max_size=30),
)
def test_tops_are_the_sums_of_the_heights_above(
    first: list[int], changes: list[tuple[int, int, int]]
) -> None:
    heights = RowHeights(FIT)
    heights.replace(0, 0, turns_of(*("x" for _ in first)))
    for row, height in enumerate(first):
        heights.measure(row, height)
    known = list(first)
    for row, height, asked in changes:
        known[row % len(known)] = height
        heights.measure(row % len(known), height)
        assert heights.top(asked % len(known)) == sum(known[: asked % len(known)])
    assert heights.total == sum(known)
    tops = np.cumsum([0, *known])
    assert all(heights.row_at(int(top)) == row for row, top in enumerate(tops[:-1]))
