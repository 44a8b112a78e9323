from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.inspector.batch_timeline import NO_MODEL, NO_STEP, TimelinePanel
from app.inspector.recording import Recording
from app.inspector.step_columns import ZOOMS
from app.inspector.step_picture import (
    AXIS_HEIGHT,
    MARKS_HEIGHT,
    SPACE,
    STRIP_HEIGHT,
    answer_colour,
    drafted_colour,
)
from app.look.theme import apply_theme
from app.look.tokens import colour_of, current
from app.protocol.commands import DescribeTokens
from app.protocol.report import StepReport, TokenTexts
from tests.fakes import model_info
from tests.inspector.steps import busy_step, idle_step, span, step

Key = Qt.Key
BELOW = 2 * SPACE + STRIP_HEIGHT + AXIS_HEIGHT  # the columns


@pytest.fixture
def recording(qapp: QApplication) -> Recording:
    apply_theme(qapp, "light")
    recording = Recording()
    recording.start(model_info())
    return recording


@pytest.fixture
def panel(qtbot: QtBot, recording: Recording) -> Iterator[TimelinePanel]:
    panel = TimelinePanel(recording)
    qtbot.addWidget(panel)
    panel.resize(600, 460)
    panel.show()
    yield panel


def feed(panel: TimelinePanel, *reports: StepReport) -> None:
    panel.recording.append(reports)
    panel.draw()


def busy(panel: TimelinePanel, number: int) -> None:
    feed(panel, *(busy_step(one) for one in range(1, number + 1)))


def pixels(panel: TimelinePanel) -> QImage:
    return panel.chart.viewport().grab().toImage()


def column_colours(panel: TimelinePanel, index: int) -> list[str]:
    """From the foot of the columns up, each colour once."""
    image = pixels(panel)
    x = panel.chart.excerpt.x_of(index) + 1
    foot = image.height() - BELOW - 1
    seen: list[str] = []
    for y in range(foot, MARKS_HEIGHT, -1):
        name = image.pixelColor(x, y).name()
        if not seen or seen[-1] != name:
            seen.append(name)
    return seen


def newest_in_view(panel: TimelinePanel) -> bool:
    last = len(panel.recording.columns) - 1
    return 0 <= panel.chart.excerpt.x_of(last) < panel.chart.viewport().width()


# What is drawn.


def test_without_steps_it_says_what_to_do(panel: TimelinePanel) -> None:
    assert panel.message.isVisible()
    assert panel.message.text() == NO_STEP
    panel.recording.start(None)
    panel.reset()
    assert panel.message.text() == NO_MODEL
    busy(panel, 1)
    assert not panel.message.isVisible()


def test_a_column_is_stacked_by_sequence_and_phase(panel: TimelinePanel) -> None:
    prompt = span(1, 0, 5, is_prefill=True)
    guessed = replace(span(0, 52, 5), num_drafted=4)
    feed(panel, step(1, span(0, 50), prompt), step(2, span(0, 51)), step(3, guessed))
    answer = answer_colour(colour_of(0), current()).name()
    assert column_colours(panel, 0)[:2] == [answer, colour_of(1).name()]
    assert column_colours(panel, 1)[0] == answer
    assert column_colours(panel, 2)[:2] == [answer, drafted_colour(colour_of(0), current()).name()]


def test_height_is_time_or_tokens(panel: TimelinePanel) -> None:
    few_but_slow, many_but_fast = (
        step(1, span(0, 50), decode_ms=50.0),
        step(2, span(0, 0, 200, is_prefill=True), decode_ms=5.0),
    )
    feed(panel, few_but_slow, many_but_fast)
    in_ms = [height_of(panel, index) for index in (0, 1)]
    panel.heights.buttons()[1].click()
    in_tokens = [height_of(panel, index) for index in (0, 1)]
    assert in_ms[0] > 9 * in_ms[1]
    assert in_tokens[1] > 50 * max(1, in_tokens[0])


def height_of(panel: TimelinePanel, index: int) -> int:
    image = pixels(panel)
    page = QColor(current().window)
    ground = {page.name(), QColor(current().hairline).name()}
    x = panel.chart.excerpt.x_of(index) + 1
    rows = range(MARKS_HEIGHT, image.height() - BELOW)
    return sum(image.pixelColor(x, y).name() not in ground for y in rows)


def test_scrolled_back_and_forth_it_looks_the_same(panel: TimelinePanel) -> None:
    busy(panel, 900)
    before = pixels(panel)
    panel.chart.pan(-333)
    assert pixels(panel) != before
    panel.chart.pan(333)
    assert pixels(panel) == before


def test_a_step_keeps_its_column_while_the_oldest_are_forgotten(qtbot: QtBot) -> None:
    """Also where several steps share a column."""
    recording = Recording(max_steps=1200)
    recording.start(model_info())
    panel = TimelinePanel(recording)
    qtbot.addWidget(panel)
    panel.resize(240, 400)
    panel.show()
    busy(panel, 1300)
    panel.chart.zoom(ZOOMS.index((2, 1)) - panel.chart._zoom)
    panel.chart.pan(-40)
    under = int(recording.columns.figures["step"][panel.chart.excerpt.index_at(100) or 0])
    image = pixels(panel).copy(20, MARKS_HEIGHT, 150, 40)
    feed(panel, *(busy_step(number) for number in range(1301, 1312)))
    assert not panel.chart.is_following
    assert int(recording.columns.figures["step"][panel.chart.excerpt.index_at(100) or 0]) == under
    assert pixels(panel).copy(20, MARKS_HEIGHT, 150, 40) == image


def test_a_slow_step_is_seen_from_far_away(panel: TimelinePanel) -> None:
    busy(panel, 700)
    feed(panel, replace(busy_step(701), decode_ms=500.0), *(busy_step(n) for n in range(702, 900)))
    panel.chart.zoom(ZOOMS.index((8, 1)) - panel.chart._zoom)
    excerpt = panel.chart.excerpt
    assert 500.0 in excerpt.figure("decode_ms")


def test_a_failed_decode_is_marked_from_top_to_foot(panel: TimelinePanel) -> None:
    feed(panel, *(busy_step(number) for number in range(1, 9)), step(9, return_code=1), busy_step(10))
    image = pixels(panel)
    x = panel.chart.excerpt.x_of(8) + panel.chart.excerpt.column_width // 2
    red = QColor(current().danger)
    assert [image.pixelColor(x, y) for y in (20, 60)] == [red, red]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chosen_sequence_stands_out(qapp: QApplication, panel: TimelinePanel, theme: str) -> None:
    apply_theme(qapp, theme)
    feed(panel, step(1, span(0, 0, 5, is_prefill=True), span(1, 0, 5, is_prefill=True)))
    panel.select_sequence(1)
    colours = column_colours(panel, 0)
    assert colour_of(0).name() not in colours
    assert colour_of(1).name() in colours
    panel.highlight.click()
    assert colour_of(0).name() in column_colours(panel, 0)


def test_the_focus_is_seen_at_the_edge_and_nowhere_else(panel: TimelinePanel) -> None:
    busy(panel, 60)
    panel.table.setFocus()
    before = pixels(panel)
    panel.chart.setFocus()
    assert panel.chart.hasFocus()
    image = pixels(panel)
    inner = image.rect().adjusted(1, 1, -1, -1)
    assert image.copy(inner) == before.copy(inner)
    assert image.pixelColor(0, 50) == QColor(current().accent)


# Following, panning, zooming.


def test_the_newest_step_is_followed_until_somebody_looks_back(panel: TimelinePanel) -> None:
    busy(panel, 500)
    assert newest_in_view(panel)
    feed(panel, *(busy_step(number) for number in range(501, 800)))
    assert newest_in_view(panel)
    panel.chart.pan(-10)
    assert not panel.follow.isChecked()
    left = panel.chart.excerpt.left
    feed(panel, *(busy_step(number) for number in range(800, 900)))
    assert panel.chart.excerpt.left == left
    QTest.keyClick(panel.chart, Key.Key_End)
    assert newest_in_view(panel)
    assert panel.follow.isChecked()


def test_who_comes_back_to_the_newest_step_follows_it_again(panel: TimelinePanel) -> None:
    busy(panel, 500)
    panel.chart.pan(-100)
    panel.chart.horizontalScrollBar().setValue(panel.chart.horizontalScrollBar().maximum())
    assert panel.chart.is_following


def test_it_is_panned_by_dragging(panel: TimelinePanel) -> None:
    busy(panel, 500)
    left, viewport = panel.chart.excerpt.left, panel.chart.viewport()
    chosen = panel.chart.chosen_step
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=QPoint(100, 60))
    QTest.mouseMove(viewport, QPoint(180, 60))
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=QPoint(180, 60))
    assert panel.chart.excerpt.left == left - 20
    assert panel.chart.chosen_step == chosen


def test_the_wheel_zooms_around_the_pointer(panel: TimelinePanel) -> None:
    busy(panel, 1500)
    panel.chart.pan(-500)
    before = panel.chart.excerpt
    under = before.index_at(201)
    wheel(panel, 201, 120)
    after = panel.chart.excerpt
    assert after.column_width > before.column_width
    assert after.index_at(201) == under
    for _ in range(2):
        wheel(panel, 201, -120)
    assert panel.chart.excerpt.column_width < before.column_width


def wheel(panel: TimelinePanel, x: int, angle: int) -> None:
    viewport = panel.chart.viewport()
    place = QPointF(x, 50)
    event = QWheelEvent(
        place,
        viewport.mapToGlobal(place),
        QPoint(),
        QPoint(0, angle),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, event)


def test_plus_and_minus_keep_the_newest_step_in_view(panel: TimelinePanel) -> None:
    busy(panel, 1000)
    for key in (Key.Key_Minus, Key.Key_Minus, Key.Key_Plus, Key.Key_Plus, Key.Key_Plus):
        QTest.keyClick(panel.chart, key)
        assert newest_in_view(panel)
    assert panel.chart.is_following


def test_nothing_is_further_away_than_everything(panel: TimelinePanel) -> None:
    busy(panel, 300)
    for _ in range(len(ZOOMS)):
        QTest.keyClick(panel.chart, Key.Key_Minus)
    assert panel.chart.excerpt.steps_per_column == 1
    assert panel.chart.excerpt.has_all


# The chosen step.


def test_a_click_on_a_column_chooses_its_step(panel: TimelinePanel, qtbot: QtBot) -> None:
    busy(panel, 60)
    with qtbot.waitSignal(panel.step_selected) as chosen:
        place = QPoint(panel.chart.excerpt.x_of(49) + 1, 60)
        QTest.mouseClick(panel.chart.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args == [50]
    assert panel.rows.rowCount() == busy_step(50).num_rows
    assert panel._head.text() == "Step 50 · 71 rows · llama_decode returned 0"
    assert panel._times.text() == "schedule 0.10 ms · decode 45.0 ms · sample 0.20 ms · deliver 0.30 ms"
    assert "Prefill of seq 7 (64 rows) lengthened the step" in panel._causes.text()


def test_arrow_keys_go_from_step_to_step_and_keep_it_in_view(panel: TimelinePanel) -> None:
    busy(panel, 900)
    QTest.keyClick(panel.chart, Key.Key_Left)
    assert panel.chart.chosen_step == 900
    for _ in range(200):
        QTest.keyClick(panel.chart, Key.Key_Left)
    assert panel.chart.chosen_step == 700
    index = panel.recording.columns.index_of(700)
    assert index is not None
    assert 0 <= panel.chart.excerpt.x_of(index) < panel.chart.viewport().width()
    QTest.keyClick(panel.chart, Key.Key_Right)
    assert panel.chart.chosen_step == 701


def test_the_newest_step_is_shown_while_none_is_chosen(panel: TimelinePanel) -> None:
    busy(panel, 10)
    assert panel._head.text().startswith("Step 10 ")
    panel.select_step(4)
    busy(panel, 20)
    assert panel._head.text().startswith("Step 4 ")
    panel.follow.click()
    panel.follow.click()
    assert panel._head.text().startswith("Step 20 ")


def test_texts_of_tokens_are_asked_for_once_and_shown_when_they_come(
    panel: TimelinePanel, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(panel.commanded) as asked:
        feed(panel, step(1, span(0, 0, 2, is_prefill=True)))
    assert asked.args == [DescribeTokens((100, 101))]
    with qtbot.assertNotEmitted(panel.commanded):
        feed(panel, step(2, span(0, 0, 2, is_prefill=True)))
        feed(panel, replace(idle_step(2), answers=(TokenTexts((100, 101), (b" a", b"b")),)))
    assert [panel.rows.index(row, 2).data() for row in (0, 1)] == ["␣a", "b"]


def test_a_recorded_file_is_not_asked_about(panel: TimelinePanel, qtbot: QtBot) -> None:
    recorded = Recording(name="steps.jsonl")
    recorded.append([busy_step(1)])
    with qtbot.assertNotEmitted(panel.commanded):
        panel.show_recording(recorded)
    assert panel._head.text().startswith("Step 1 ")


def test_a_row_chooses_its_sequence(panel: TimelinePanel, qtbot: QtBot) -> None:
    feed(panel, step(1, span(0, 50), span(3, 50)))
    place = panel.table.visualRect(panel.rows.index(1, 1)).center()
    with qtbot.waitSignal(panel.sequence_selected) as chosen:
        QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args == [3]


def test_of_the_chosen_step_the_cause_is_told(panel: TimelinePanel) -> None:
    feed(panel, step(1, span(0, 50), slots=()), step(2, span(0, 51), started_at=2000.0))
    assert not panel._causes.isVisible()
    panel.select_step(2)
    assert panel._causes.isVisible()
    assert panel._causes.text() == "Nothing ran for 1,000 s before this step: no chat had work for it."


# What it costs.


def test_the_chosen_step_is_read_once(panel: TimelinePanel, monkeypatch: pytest.MonkeyPatch) -> None:
    busy(panel, 700)
    panel.select_step(40)
    monkeypatch.setattr("app.inspector.recording.zlib.decompress", None)
    feed(panel, busy_step(701))
    assert panel._head.text().startswith("Step 40 ")
    assert panel.rows.rowCount() == busy_step(40).num_rows


def test_a_frame_touches_no_report(panel: TimelinePanel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand steps are scrolled through without one of them being unpacked."""
    busy(panel, 700)
    monkeypatch.setattr("app.inspector.recording.zlib.decompress", None)
    for zoom in (-10, 3, 3, 9):
        panel.chart.zoom(zoom)
        panel.chart.pan(-200)
        assert not pixels(panel).isNull()


def test_it_tells_how_draft_tokens_did_where_there_were_some(panel: TimelinePanel) -> None:
    feed(panel, step(1, span(0, 50)))
    assert not panel._drafts.isVisible()
    feed(panel, step(2, replace(span(0, 51, 3), num_drafted=2, num_kept=1)))
    assert panel._drafts.isVisible()
    assert (
        panel._drafts.text() == "1 of the last 2 draft tokens were right.\nBy position 1: 1 of 1, 2: 0 of 1."
    )
