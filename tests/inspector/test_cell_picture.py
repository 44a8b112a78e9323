import gc
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor

from app.inspector.cell_picture import (
    DIMMED,
    FREE,
    NO_SEQUENCE,
    SHARED,
    CellLayout,
    CellPicture,
    chosen_codes,
    codes_of,
    colour_table,
    owners_of,
)
from app.look.tokens import DARK, LIGHT, colour_of
from tests.inspector.cell_maps import cell_map


def test_a_cell_has_the_colour_of_its_lowest_sequence() -> None:
    codes = codes_of(cell_map([(), (0,), (3,), (1, 2), (64,), (13, 70)], n_seq_max=256).holders)
    assert codes.tolist() == [FREE, 1, 4, 2 | SHARED, 1 + 64 % 12, (1 + 13 % 12) | SHARED]


def test_what_the_chosen_sequence_does_not_hold_is_dimmed() -> None:
    holders = cell_map([(), (0,), (2,), (0, 2)]).holders
    codes = chosen_codes(codes_of(holders), holders, chosen=2)
    assert codes.tolist() == [FREE, 1 | DIMMED, 3, 3 | SHARED]


seq_ids = st.lists(st.integers(0, 255), max_size=4, unique=True).map(lambda ids: tuple(sorted(ids)))


@given(st.lists(seq_ids, min_size=1, max_size=8))
def test_codes_and_owners_tell_the_same(holders: list[tuple[int, ...]]) -> None:
    cells = cell_map(holders, n_seq_max=256)
    assert [owners_of(cells, index) for index in range(len(holders))] == holders
    for code, owners in zip(codes_of(cells.holders).tolist(), holders, strict=True):
        assert (code == FREE) == (not owners)
        assert bool(code & SHARED) == (len(owners) > 1)
        assert not owners or code & 0x1F == 1 + owners[0] % 12


@pytest.mark.parametrize("tokens", [LIGHT, DARK])
def test_every_code_has_a_colour_of_its_own(tokens) -> None:
    table = colour_table(tokens)
    codes = [bits | 1 + number for bits in (0, SHARED, DIMMED, SHARED | DIMMED) for number in range(12)]
    assert len({table[code] for code in [FREE, *codes]}) == 1 + len(codes)
    assert QColor(table[FREE]) == QColor(tokens.window)
    assert QColor(table[3]) == colour_of(2)


# Where the squares are


@pytest.mark.parametrize("num_cells", [256, 4096, 65_536, 131_072])
@pytest.mark.parametrize(("width", "height"), [(560, 280), (1100, 700), (200, 900)])
def test_all_cells_fit_if_they_can_with_squares_as_large_as_can_be(num_cells, width, height) -> None:
    layout = CellLayout.fitting(num_cells, width, height)
    assert layout.num_columns * layout.side <= width
    assert layout.num_rows * layout.num_columns >= num_cells
    assert layout.num_rows * layout.side <= height or layout.side == 1
    larger = CellLayout.of(num_cells, width, layout.side + 1)
    assert larger.num_rows * larger.side > height or layout.side == 24


def test_more_cells_than_pixels_are_scrolled_through() -> None:
    layout = CellLayout.fitting(131_072, 200, 100)
    assert (layout.side, layout.num_columns, layout.num_rows) == (1, 200, 656)


# Pixels


def picture_of(holders, columns=4, side=8, first_row=0, num_rows=9, chosen=NO_SEQUENCE) -> CellPicture:
    picture = CellPicture()
    picture.place(CellLayout(len(holders), columns, side), first_row, num_rows, LIGHT)
    picture.apply(cell_map(holders), chosen)
    return picture


def colours_of_square(picture: CellPicture, row: int, column: int) -> set[str]:
    side = picture.layout.side
    return {
        picture.image.pixelColor(column * side + x, row * side + y).name()
        for x in range(side - 1)
        for y in range(side - 1)
    }


def test_a_square_is_its_owners_colour_with_a_gap_of_the_page() -> None:
    picture = picture_of([(0,), (), (1,), (2,), (1,)])
    assert colours_of_square(picture, 0, 0) == {colour_of(0).name()}
    assert colours_of_square(picture, 0, 1) == {LIGHT.window}
    assert colours_of_square(picture, 1, 0) == {colour_of(1).name()}
    assert picture.image.pixelColor(7, 3).name() == LIGHT.window


@pytest.mark.parametrize("side", [1, 2, 3, 8])
def test_shared_cells_are_hatched_however_small_they_are(side) -> None:
    picture = picture_of([(0, 1)] * 64, columns=8, side=side)
    size = picture.layout.num_columns * side
    colours = {picture.image.pixelColor(x, y).name() for x in range(size) for y in range(size)}
    assert len(colours - {LIGHT.window}) == 2
    assert colour_of(0).name() in colours


def test_what_has_changed_is_drawn_again() -> None:
    picture = picture_of([()] * 40)
    changed = [()] * 12 + [(1,)] + [()] * 27
    assert picture.apply(cell_map(changed), NO_SEQUENCE)
    assert not picture.apply(cell_map(changed), NO_SEQUENCE)
    assert colours_of_square(picture, 3, 0) == {colour_of(1).name()}


def test_pictures_without_a_cell_leave_nothing() -> None:
    before = _num_memoryviews()
    for _ in range(3):
        picture_of([])
    assert _num_memoryviews() == before


def test_rows_out_of_sight_are_there_when_they_are_scrolled_to() -> None:
    picture = picture_of([()] * 39 + [(2,)], num_rows=2)
    assert picture.image.height() == 2 * 8
    picture.place(picture.layout, 8, 2, LIGHT)
    assert colours_of_square(picture, 1, 3) == {colour_of(2).name()}


@pytest.mark.parametrize("seed", range(5))
def test_changes_lead_to_the_picture_that_is_drawn_at_once(seed) -> None:
    rng = random.Random(seed)
    holders = [tuple(sorted(rng.sample(range(4), rng.choice([0, 1, 1, 2])))) for _ in range(30)]
    picture = picture_of([()] * 30, side=2)
    for at in (rng.randrange(30), rng.randrange(30)):
        picture.apply(cell_map(holders[:at] + [()] * (30 - at)), NO_SEQUENCE)
    picture.apply(cell_map(holders), NO_SEQUENCE)
    assert picture.image == picture_of(holders, side=2).image


def _num_memoryviews() -> int:
    return sum(type(one) is memoryview for one in gc.get_objects())
