from dataclasses import replace

import numpy as np
from PySide6.QtGui import QColor, QPixmap
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


def test_the_map_shows_the_picture_in_its_place(qtbot: QtBot) -> None:
    grid = CellGrid(None)  # type: ignore[arg-type]
    qtbot.addWidget(grid)
    grid.resize(420, 300)
    cells = with_picture()
    grid.show()
    grid.apply(cells)
    columns = grid.picture.layout.num_columns
    red = QPixmap(40, 30)
    red.fill(QColor("red"))
    asked: list[MediaSpan] = []
    grid.show_media(media_blocks(cells, slots()), lambda span: asked.append(span) or red)  # type: ignore[func-returns-value]
    shown = grid.viewport().grab().toImage()
    assert asked == [PICTURE]
    first = grid.cell_rect(4)
    middle = (first | grid.cell_rect(min(columns, 28) - 1)).center().toPoint()
    assert shown.pixelColor(middle * shown.devicePixelRatio()).name() == "#ff0000"
