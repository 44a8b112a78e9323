from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPixmap
from pytestqt.qtbot import QtBot

from app.inspector.cell_figures import cell_text
from app.inspector.cell_grid import CellGrid
from app.inspector.media_blocks import MediaBlock, media_blocks
from app.protocol.media import MediaKind, MediaSpan
from app.protocol.report import CellMap, SlotSnapshot, SlotState
from tests.inspector.cell_maps import cell_map

PICTURE = MediaSpan(4, 24, 4, 6, MediaKind.PICTURE, "ab" * 32)


def with_picture(first: int = 4, num_cells: int = 24) -> CellMap:
    """Sequences 0 and 1 share a text and a picture of M-RoPE; sequence 0 goes on."""
    cells = cell_map([(0, 1)] * (first + num_cells) + [(0,)] * 4 + [()] * 32)
    inside = slice(first, first + num_cells)
    pos, token_ids = cells.pos.copy(), cells.token_ids.copy()
    pos[inside], token_ids[inside] = first, np.arange(-1000, -1000 - num_cells, -1)
    pos[first + num_cells : first + num_cells + 4] = first + 6 + np.arange(4)
    return replace(cells, pos=pos, token_ids=token_ids)


def slots(span: MediaSpan = PICTURE) -> list[SlotSnapshot]:
    return [SlotSnapshot(seq_id, SlotState.WARM, f"chat {seq_id}", media=(span,)) for seq_id in (0, 1)]


def test_a_shared_picture_is_one_block_of_its_cells_alone() -> None:
    assert media_blocks(with_picture(), slots()) == (MediaBlock(4, 28, PICTURE),)
    assert media_blocks(cell_map([(0,)] * 8), slots()) == ()


def test_one_whose_cells_are_apart_has_a_block_for_each_run() -> None:
    cells = with_picture()
    token_ids = cells.token_ids.copy()
    token_ids[10] = 7
    blocks = media_blocks(replace(cells, token_ids=token_ids), slots())
    assert [(block.start, block.end) for block in blocks] == [(4, 10), (11, 28)]


def test_a_cell_of_it_tells_cells_and_positions() -> None:
    cells = with_picture()
    text = cell_text(cells, 5, {}, {0: "Cats"}, media_blocks(cells, slots()))
    assert text == "cell 5 · position 4 · picture · 24 cells · 6 positions · seq 0 Cats, seq 1"
    assert "picture or sound" in cell_text(cells, 5, {}, {})


def shown_in_red(grid: CellGrid, blocks: tuple[MediaBlock, ...]) -> QImage:
    red = QPixmap(40, 30)
    red.fill(QColor("red"))
    grid.show_media(blocks, lambda _span: red)
    return grid.viewport().grab().toImage()


def is_red(image: QImage, place: QPointF) -> bool:
    return image.pixelColor(place.toPoint() * image.devicePixelRatio()).name() == "#ff0000"


@pytest.fixture
def grid(qtbot: QtBot) -> CellGrid:
    grid = CellGrid(None)  # type: ignore[arg-type]
    qtbot.addWidget(grid)
    grid.resize(420, 300)
    grid.show()
    return grid


def test_the_map_shows_the_picture_in_its_place(grid: CellGrid) -> None:
    cells = with_picture(num_cells=8)
    grid.apply(cells)
    assert grid.picture.layout.num_columns >= 12
    shown = shown_in_red(grid, media_blocks(cells, slots()))
    assert is_red(shown, (grid.cell_rect(4) | grid.cell_rect(11)).center())
    assert not is_red(shown, grid.cell_rect(13).center())


def test_the_picture_lies_across_the_rows_that_its_block_only_begins_or_ends_in(grid: CellGrid) -> None:
    cells = with_picture(num_cells=160)
    grid.apply(cells)
    columns = grid.picture.layout.num_columns
    begin, end = columns // 4, 2 * columns + 3 * columns // 4  # over three rows, of which one is whole
    shown = shown_in_red(grid, (MediaBlock(begin, end, PICTURE),))
    room = grid.cell_rect(begin) | grid.cell_rect(end - 1)
    assert is_red(shown, room.center())
    assert is_red(shown, QPointF(room.center().x(), room.top() + room.height() / 6))
