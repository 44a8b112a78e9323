from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.inspector.timeline import HEIGHT, Timeline, scale_for, usual_ms
from app.look.sequence_colours import colour_of
from app.look.tokens import current
from tests.inspector.reports import decoding, report


@pytest.mark.parametrize(
    ("longest", "top"), [(0, 1), (1, 1), (1.1, 2), (4, 5), (38, 50), (60, 100), (101, 200), (2500, 5000)]
)
def test_the_scale_is_a_round_number_above_the_longest_step(longest: float, top: float) -> None:
    assert scale_for(longest) == top


def test_one_slow_step_does_not_hide_the_others() -> None:
    assert usual_ms([0.8] * 99 + [42.6]) == 0.8
    assert usual_ms([38.0]) == 38.0
    assert usual_ms([]) == 0.0


@pytest.fixture
def timeline(qtbot: QtBot) -> Iterator[Timeline]:
    frame = QWidget()
    qtbot.addWidget(frame)
    timeline = Timeline(frame)
    timeline.resize(480, 90)
    frame.show()
    yield timeline


def newest_column(timeline: Timeline) -> list[QColor]:
    image = timeline.grab().toImage()
    return [image.pixelColor(timeline.width() - 2, y) for y in range(HEIGHT)]


def test_the_newest_step_stands_at_the_right_in_its_sequences_colour(timeline: Timeline) -> None:
    timeline.append([report(1, decoding(1, "sums"), decode_ms=40)])
    assert newest_column(timeline).count(colour_of(1)) == pytest.approx(HEIGHT * 40 / 50, abs=2)


def test_a_step_above_the_scale_is_cut_and_marked(timeline: Timeline) -> None:
    steps = [report(n, decoding(1, "sums"), decode_ms=4) for n in range(100)]
    timeline.append([*steps, report(101, decoding(1, "sums"), decode_ms=42)])
    column = newest_column(timeline)
    assert column[1] == QColor(current().text)
    assert column[HEIGHT - 2] == colour_of(1)
    assert timeline.text == "median 4.0 ms, max 42.0 ms"


def test_scrolling_draws_what_drawing_anew_draws(timeline: Timeline) -> None:
    steps = [report(n, decoding(n % 3, "sums"), decode_ms=30 + n) for n in range(20)]
    timeline.append(steps[:10])
    timeline.append(steps[10:])
    scrolled = timeline.grab().toImage()
    timeline.resize(timeline.width(), timeline.height() + 1)
    timeline.resize(timeline.width(), timeline.height() - 1)
    assert timeline.grab().toImage() == scrolled


def test_steps_without_rows_are_no_decodes(timeline: Timeline) -> None:
    timeline.append([report(1)])
    assert timeline.text == ""


def test_the_line_below_tells_the_middle_and_the_longest(timeline: Timeline) -> None:
    timeline.append([report(n, decoding(0, "sums"), decode_ms=ms) for n, ms in enumerate((10, 12, 90))])
    assert timeline.text == "median 12.0 ms, max 90.0 ms"
