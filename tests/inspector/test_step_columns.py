from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.inspector.stalls import Stall
from app.inspector.step_columns import DECODE, DRAFTED, PREFILL, StepColumns, tallest, worst
from tests.inspector.steps import busy_step, idle_step, span, step

floats = st.floats(0, 100, width=32)


def test_a_step_is_a_row_of_numbers() -> None:
    columns = StepColumns(10)
    guessed = replace(span(1, 50, 4), num_drafted=3)
    columns.append(4, step(7, span(0, 50), guessed, span(2, 0, 30, is_prefill=True), return_code=0))
    [row] = columns.figures
    assert (row["number"], row["step"], row["num_rows"], row["stall"]) == (4, 7, 35, Stall.NONE)
    assert [round(float(row[f"{name}_ms"]), 3) for name in ("schedule", "decode", "sample", "deliver")] == [
        0.1,
        10.0,
        0.2,
        0.3,
    ]
    assert columns.rows.shape == (1, 3, 3)
    assert columns.rows[0, 0, DECODE] == 1
    assert (columns.rows[0, 1, DECODE], columns.rows[0, 1, DRAFTED]) == (1, 3)
    assert columns.rows[0, 2, PREFILL] == 30


def test_news_between_steps_are_no_rows_but_tell_of_gaps() -> None:
    columns = StepColumns(10)
    columns.append(0, step(1, span(0, 50), slots=()))
    columns.append(1, idle_step(1))
    columns.append(2, step(2, span(0, 51), started_at=1010.0))
    assert list(columns.figures["number"]) == [0, 2]
    assert list(columns.figures["stall"]) == [Stall.NONE, Stall.NO_WORK]


def test_only_the_newest_are_kept_and_each_is_found_by_its_number() -> None:
    columns = StepColumns(10)
    for number in range(37):
        columns.append(number, busy_step(number, num_seqs=1 + number // 10))
        assert list(columns.figures["step"]) == list(range(max(0, number - 9), number + 1))
        assert columns.first == max(0, number - 9)
        assert (columns.rows.sum(axis=(1, 2)) == columns.figures["num_rows"]).all()
    assert columns.index_of(36) == 9
    assert columns.index_of(27) == 0
    assert columns.index_of(26) is None
    assert columns.index_of(37) is None


def test_rows_beyond_what_can_be_counted_are_drawn_as_many() -> None:
    columns = StepColumns(10)
    columns.append(0, step(1, span(0, 0, 70_000, is_prefill=True)))
    assert columns.rows[0, 0, PREFILL] == 65_535
    assert columns.figures["num_rows"][0] == 70_000


def numbers(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_the_highest_step_stands_for_its_column() -> None:
    values = numbers(1, 9, 2, 3, 8, 1)
    assert list(tallest(values, 0, 2)) == [1, 3, 4]
    assert list(tallest(values, 1, 2)) == [0, 1, 4, 5]
    assert list(tallest(values, 4, 4)) == [1, 4]
    assert list(tallest(values, 100, 1)) == [0, 1, 2, 3, 4, 5]


@given(st.lists(floats, min_size=1, max_size=40), st.integers(0, 100), st.sampled_from([1, 2, 4, 8]))
def test_every_column_shows_one_of_its_own_steps(values: list[float], first: int, per_column: int) -> None:
    shown = tallest(numbers(*values), first, per_column)
    places = (first + np.arange(len(values))) // per_column
    assert list(places[shown]) == sorted(set(places))
    for index in shown:
        assert values[index] == max(np.array(values)[places == places[index]])


def test_the_worst_stall_stands_for_its_column() -> None:
    stalls = np.array([0, 4, 1, 0, 0], np.uint8)
    assert list(worst(stalls, 0, 2)) == [4, 1, 0]
    assert list(worst(stalls, 1, 2)) == [0, 4, 0]
    assert list(worst(stalls, 1, 1)) == [0, 4, 1, 0, 0]
