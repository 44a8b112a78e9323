from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.inspector.cell_grid import NO_CELL, CellGrid
from app.look.tokens import colour_of, current
from tests.inspector.cell_maps import cell_map

HOLDERS = [(0,)] * 100 + [(0, 1)] * 50 + [(1,)] * 50 + [()] * 824


@pytest.fixture
def grid(qtbot: QtBot) -> Iterator[CellGrid]:
    frame = QWidget()
    qtbot.addWidget(frame)
    frame.resize(500, 300)
    grid = CellGrid(frame)
    grid.resize(500, 300)
    frame.show()
    grid.apply(cell_map(HOLDERS))
    yield grid
    frame.close()


def middle_of(grid: CellGrid, index: int) -> QPoint:
    return grid.cell_rect(index).center().toPoint()


def colour_at(grid: CellGrid, index: int) -> str:
    return grid.viewport().grab().toImage().pixelColor(middle_of(grid, index)).name()


def test_the_used_cells_fill_the_view_and_the_others_are_below(grid: CellGrid) -> None:
    used, side = 199, grid.picture.layout.side
    assert grid.viewport().rect().contains(grid.cell_rect(used).toAlignedRect())
    assert grid.verticalScrollBar().maximum() > 0
    grid.fit(shows_all=True)
    assert grid.verticalScrollBar().maximum() == 0
    assert grid.picture.layout.side < side
    grid.fit()
    grid.apply(cell_map([(0,)] * 1000 + [()] * 24))  # an answer grows
    assert grid.viewport().rect().contains(grid.cell_rect(999).toAlignedRect())


def test_every_cell_is_found_where_it_is_drawn(grid: CellGrid) -> None:
    grid.fit(shows_all=True)
    assert grid.verticalScrollBar().maximum() == 0
    for index in range(1024):
        assert grid.cell_at(grid.cell_rect(index).center()) == index
    outside = grid.cell_rect(1023).bottomRight() + QPointF(3, 3)
    assert grid.cell_at(outside) == grid.cell_at(QPointF(1, 1)) == NO_CELL


def test_cells_have_the_colour_of_their_owner(grid: CellGrid) -> None:
    assert colour_at(grid, 0) == colour_of(0).name()
    assert colour_at(grid, 199) == colour_of(1).name()
    assert colour_at(grid, 200) == current().window
    grid.choose(1)
    assert colour_at(grid, 0) != colour_of(0).name()
    assert colour_at(grid, 199) == colour_of(1).name()


def test_the_mouse_points_at_cells(grid: CellGrid, qtbot: QtBot) -> None:
    with qtbot.waitSignal(grid.pointed) as pointed:
        qtbot.mouseMove(grid.viewport(), middle_of(grid, 37))
    assert pointed.args == [37]
    with qtbot.waitSignal(grid.chosen) as chosen:
        qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=middle_of(grid, 120))
    assert chosen.args == [120]


def test_the_keys_move_from_cell_to_cell_and_choose_one(grid: CellGrid, qtbot: QtBot) -> None:
    columns = grid.picture.layout.num_columns
    for key, index in [
        (Qt.Key.Key_Right, 0),
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_Down, 1 + columns),
        (Qt.Key.Key_Left, columns),
        (Qt.Key.Key_Up, 0),
        (Qt.Key.Key_Up, 0),
        (Qt.Key.Key_End, 1023),
        (Qt.Key.Key_Home, 0),
    ]:
        qtbot.keyClick(grid, key)
        assert grid.pointed_cell == index
    with qtbot.waitSignal(grid.chosen) as chosen:
        qtbot.keyClick(grid, Qt.Key.Key_Return)
    assert chosen.args == [0]


def test_the_keys_scroll_to_the_cell_they_move_to(grid: CellGrid, qtbot: QtBot) -> None:
    for _ in range(5):
        qtbot.keyClick(grid, Qt.Key.Key_Plus)
    assert grid.verticalScrollBar().maximum() > 0
    qtbot.keyClick(grid, Qt.Key.Key_End)
    qtbot.keyClick(grid, Qt.Key.Key_End)
    assert grid.viewport().rect().contains(middle_of(grid, 1023))
    qtbot.keyClick(grid, Qt.Key.Key_Home)
    assert grid.viewport().rect().contains(middle_of(grid, 0))


def test_the_wheel_zooms_about_the_cell_under_it(grid: CellGrid) -> None:
    grid.fit(shows_all=True)
    for _ in range(3):
        grid.zoom(is_larger=True)
    anchor = grid.cell_at(QPointF(grid.viewport().rect().center()))
    before, side = grid.cell_rect(anchor).top(), grid.picture.layout.side
    place = QPointF(middle_of(grid, anchor))
    wheel = QWheelEvent(
        place,
        QPointF(grid.viewport().mapToGlobal(place.toPoint())),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(grid.viewport(), wheel)
    assert grid.picture.layout.side > side
    assert grid.cell_rect(anchor).top() == pytest.approx(before, abs=grid.picture.layout.side)


def test_zero_fits_the_used_cells_in_again(grid: CellGrid, qtbot: QtBot) -> None:
    fitting = grid.picture.layout
    qtbot.keyClick(grid, Qt.Key.Key_Plus)
    assert grid.picture.layout != fitting
    qtbot.keyClick(grid, Qt.Key.Key_0)
    assert grid.picture.layout == fitting


def test_another_context_begins_without_zoom_and_without_a_cell(grid: CellGrid, qtbot: QtBot) -> None:
    qtbot.keyClick(grid, Qt.Key.Key_End)
    grid.zoom(is_larger=True)
    grid.apply(cell_map([(0,)] * 65_536))
    assert (grid.pointed_cell, grid.picture.layout.num_cells) == (NO_CELL, 65_536)
    grid.apply(None)
    assert grid.picture.layout.num_cells == 0
