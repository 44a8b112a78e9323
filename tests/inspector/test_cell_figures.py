from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPixmap
from pytestqt.qtbot import QtBot

from app.inspector.cell_figures import (
    NO_BREAK,
    MediaBlock,
    cell_text,
    figures_of,
    figures_text,
    media_blocks,
    sequence_titles,
)
from app.inspector.cell_grid import CellGrid
from app.protocol.media import MediaKind, MediaSpan
from app.protocol.report import CellMap, SlotSnapshot, SlotState
from tests.inspector.cell_maps import cell_map, report_with

X, _ = (0,), ()
PICTURE = MediaSpan(4, 24, 4, 6, MediaKind.PICTURE, "ab" * 32)


def figures(*holders, num_shared=0, num_streams=1, high_water=0):
    return figures_of(cell_map(list(holders), high_water=high_water), num_shared, num_streams)


@pytest.mark.parametrize(
    ("holders", "num_gaps", "fragmentation"),
    [
        ((_, _, _, _), 0, 0.0),
        ((X, X, _, _), 0, 0.0),
        ((X, X, X, X), 0, 0.0),
        ((_, _, _, X), 1, 0.75),
        ((X, _, X, _), 1, 1 / 3),
        ((_, X, _, X), 2, 0.5),
    ],
)
def test_fragmentation_is_the_share_of_free_cells_up_to_the_highest_used(holders, num_gaps, fragmentation):
    found = figures(*holders)
    assert (found.num_gaps, found.fragmentation) == (num_gaps, pytest.approx(fragmentation))


def test_each_stream_has_a_highest_cell_of_its_own():
    found = figures(X, _, _, _, X, _, num_streams=2)
    assert (found.num_in_reach, found.num_gaps) == (1 + 2, 1)


def test_they_add_up_and_are_told_in_words():
    found = figures((0, 1), X, _, X, _, num_shared=1, high_water=4)
    assert found.num_used + found.num_free == found.num_total == 5
    assert figures_text(found).replace(NO_BREAK, " ") == (
        "3 cells used · 2 free of 5 · 1 shared (33% of used) · fragmentation 25% (1 gap) · "
        "at most 4 used so far"
    )


def test_a_cell_in_words():
    cells = cell_map([(), (0,), (0, 2)])
    titles = {0: "Sums", 2: "Fork of Sums"}
    assert cell_text(cells, 0, {}, titles) == "cell 0 · free"
    assert cell_text(cells, 1, {}, titles) == "cell 1 · position 0 · token 100 · seq 0 Sums"
    assert cell_text(cells, 2, {101: b" the"}, titles) == (
        "cell 2 · position 1 · token 101 “␣the” · seq 0 Sums, seq 2 Fork of Sums"
    )


def test_titles_are_those_of_sequences_that_hold_cells():
    report = report_with(cell_map([(0,), (2,), ()]))
    assert sequence_titles(report, {"sums": "Sums", "notes": "Notes"}) == {0: "Sums", 2: "no tab"}


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
    grid.picture_of = lambda _span: red
    grid.show_media(blocks)
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
