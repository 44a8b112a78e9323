import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.inspector.stacked_columns import scale_for, stacked, tallest, worst

floats = st.floats(0, 100, width=32)


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


def test_layers_stand_on_each_other_from_the_foot() -> None:
    image = stacked(np.array([[1.0, 0.0], [2.0, 3.0]]), np.array([5, 9], np.uint8), 4)
    assert image.T.tolist() == [[0, 9, 9, 5], [0, 9, 9, 9]]


def test_what_is_higher_than_the_image_is_cut() -> None:
    image = stacked(np.array([[3.0], [9.0], [2.0]]), np.array([5, 9, 2], np.uint8), 4)
    assert image.T.tolist() == [[9, 5, 5, 5]]


@given(
    st.lists(st.lists(st.floats(0, 12), min_size=3, max_size=3), min_size=1, max_size=6),
    st.integers(1, 30),
)
def test_each_pixel_has_the_colour_of_its_layer(heights: list[list[float]], height: int) -> None:
    """As drawing layer after layer would give it, also where colours fall and rise."""
    layers = np.array(heights)
    colours = np.array([250, 3, 120, 7, 255, 1], np.uint8)[: len(layers)]
    expected = np.zeros((height, 3), np.uint8)
    tops = np.minimum(np.rint(np.cumsum(layers, axis=0)), height).astype(int)
    for layer in reversed(range(len(layers))):
        for column in range(3):
            expected[height - tops[layer, column] :, column] = colours[layer]
    assert (stacked(layers, colours, height) == expected).all()


@pytest.mark.parametrize(
    ("longest", "top"), [(0, 0.1), (0.15, 0.2), (1, 1), (1.1, 2), (4, 5), (38, 50), (101, 200), (2500, 5000)]
)
def test_the_scale_is_a_round_number_above_the_values(longest: float, top: float) -> None:
    assert scale_for(numbers(longest), 0.1) == pytest.approx(top)


def test_one_slow_step_does_not_hide_the_others() -> None:
    assert scale_for(numbers(*[0.8] * 99, 42.6), 0.1) == 1.0
    assert scale_for(numbers(), 1.0) == 1.0
