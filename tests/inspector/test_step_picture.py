import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.inspector.step_picture import StepLegend, scale_for, stacked
from tests.inspector.test_step_columns import numbers


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


def test_the_legend_shows_all_of_its_entries_in_any_width(qtbot: QtBot) -> None:
    frame = QWidget()
    qtbot.addWidget(frame)
    legend = StepLegend(frame)
    for width in (200, 420, 1200):
        places = legend.places(width)
        assert len(places) == 11
        assert all(place.right() <= width for place in places)
        assert max(place.bottom() for place in places) == legend.heightForWidth(width)
