"""The KV cells as pixels: a square for each, coloured by its owner. Knows no widget. GUI thread.

A cell's code is one byte, the number of its colour, and so is a pixel. Drawing repeats codes and masks bits:
the mask clears the bit of shared cells between the lines of their hatching, and all bits in the gaps between
squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor, QImage

from app.look.sequence_colours import SEQUENCE_COLOURS
from app.look.tokens import Tokens
from app.protocol.report import CellMap

Bytes = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.intp]

NO_SEQUENCE = -1
FREE = 0  # then one code for each sequence colour
DIMMED = 0x20  # not of the sequence that was chosen
SHARED = 0x80  # by several sequences
HATCHING = 6  # pixels from line to line
MIN_SIDE_WITH_GAPS = 5
MAX_SIDE = 24
SIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
TINTS = {0: 0.0, SHARED: 0.72, DIMMED: 0.62, DIMMED | SHARED: 0.84}  # how much of the page is in a colour


def codes_of(holders: npt.NDArray[np.uint64]) -> Bytes:
    """One for each row of holders. A cell shows the colour of its lowest sequence."""
    word_of = (holders != 0).argmax(axis=1)
    words = holders[np.arange(len(holders)), word_of]
    lowest = words & (~words + np.uint64(1))
    bits = np.frexp(lowest.astype(np.float64))[1] - 1  # 0 for bit 0, -1 where no bit is set
    owners = word_of * 64 + bits
    is_shared = (lowest != words) | ((holders != 0).sum(axis=1) > 1)
    codes: Bytes = (1 + owners % len(SEQUENCE_COLOURS)).astype(np.uint8)
    codes[is_shared] |= SHARED
    codes[words == 0] = FREE
    return codes


def chosen_codes(codes: Bytes, holders: npt.NDArray[np.uint64], chosen: int) -> Bytes:
    """As `codes`, with the cells of one sequence in its colour, and those of others dimmed."""
    if chosen == NO_SEQUENCE:
        return codes
    is_chosen = holders[:, chosen // 64] & np.uint64(1 << chosen % 64) != 0
    dimmed = np.where(codes == FREE, np.uint8(FREE), codes | np.uint8(DIMMED))
    own = (codes & np.uint8(SHARED)) | np.uint8(1 + chosen % len(SEQUENCE_COLOURS))
    return np.where(is_chosen, own, dimmed)


def owners_of(cells: CellMap, index: int) -> tuple[int, ...]:
    """The sequences that hold one cell, lowest first."""
    words = cells.holders[index].tolist()
    return tuple(
        64 * number + bit
        for number, word in enumerate(words)
        for bit in range(word.bit_length())
        if word >> bit & 1
    )


def colour_table(tokens: Tokens) -> list[int]:
    """The colour of each code, and of each code without its bit for shared cells."""
    page = QColor(tokens.window)
    table = [page.rgb()] * 256
    for bits, tint in TINTS.items():
        for number, name in enumerate(SEQUENCE_COLOURS):
            table[bits | 1 + number] = mixed(QColor(name), page, tint).rgb()
    return table


def mixed(colour: QColor, other: QColor, share: float) -> QColor:
    """`share` of the other one."""
    pairs = ((colour.red(), other.red()), (colour.green(), other.green()), (colour.blue(), other.blue()))
    return QColor(*(round(mine * (1 - share) + its * share) for mine, its in pairs))


@dataclass(frozen=True, slots=True)
class CellLayout:
    """Squares in rows, in order of the index. `side` in device pixels."""

    num_cells: int
    num_columns: int
    side: int

    @property
    def num_rows(self) -> int:
        return -(-self.num_cells // self.num_columns)

    @classmethod
    def of(cls, num_cells: int, width: int, side: int) -> CellLayout:
        """As many columns as fit, a round number so that an index is easy to find."""
        num_columns = max(width // side, 1)
        step = 8 if num_columns >= 64 else 1
        return cls(num_cells, max(num_columns // step * step, 1), side)

    @classmethod
    def fitting(cls, num_cells: int, width: int, height: int, max_side: int = MAX_SIDE) -> CellLayout:
        """With the largest squares with which all cells fit, or the smallest possible."""
        for side in range(max_side, 1, -1):
            layout = cls.of(num_cells, width, side)
            if layout.num_rows * side <= height:
                return layout
        return cls.of(num_cells, width, 1)


class CellPicture:
    """The rows of squares that can be seen, as an image that is kept up to date."""

    def __init__(self) -> None:
        self.layout = CellLayout(0, 1, 1)
        self.first_row = 0
        self.image = QImage()
        self._cells: CellMap | None = None
        self._chosen = NO_SEQUENCE
        self._owner_codes: Bytes = np.zeros(0, np.uint8)  # by index, whatever is chosen
        self._codes: Bytes = np.zeros((0, 1), np.uint8)  # by row and column
        self._pixels: Bytes = np.zeros((0, 0), np.uint8)
        self._mask: Bytes = self._pixels

    @property
    def num_shared(self) -> int:
        return int(np.count_nonzero(self._codes & SHARED))

    def place(self, layout: CellLayout, first_row: int, num_rows: int, tokens: Tokens) -> None:
        """Show these rows, in this size and these colours."""
        codes = np.zeros(layout.num_rows * layout.num_columns, np.uint8)
        num_kept = min(layout.num_cells, self._codes.size)
        codes[:num_kept] = self._codes.reshape(-1)[:num_kept]
        self._codes = codes.reshape(-1, layout.num_columns)
        self.layout, self.first_row = layout, first_row
        num_rows = max(min(num_rows, layout.num_rows - first_row), 0)
        size = num_rows * layout.side, layout.num_columns * layout.side
        self._pixels = np.zeros(size, np.uint8)
        self._mask = _mask(*size, layout.side, first_row * layout.side)
        self.image = QImage()
        if self._pixels.size:  # of no pixels, PySide would keep the array for ever
            self.image = QImage(
                self._pixels.data, size[1], size[0], size[1], QImage.Format.Format_Indexed8
            )  # no copy: it shows what is in `_pixels`
            self.image.setColorTable(colour_table(tokens))
        self._draw(first_row, first_row + num_rows)

    def apply(self, cells: CellMap | None, chosen: int) -> list[tuple[int, int]]:
        """The rows that changed, as ranges."""
        if cells is None:
            self._codes[:] = FREE
            changed: Indices = np.arange(self._codes.size)
        else:
            changed = self._changed_cells(cells)
            if changed.size:
                self._owner_codes[changed] = codes_of(cells.holders[changed])
            if chosen != self._chosen:
                changed = np.arange(len(cells.pos))
            new_codes = chosen_codes(self._owner_codes[changed], cells.holders[changed], chosen)
            self._codes.reshape(-1)[changed] = new_codes
        self._cells, self._chosen = cells, chosen
        ranges = _ranges(changed // self.layout.num_columns)
        for start, end in ranges:
            self._draw(start, end)
        return ranges

    def _changed_cells(self, cells: CellMap) -> Indices:
        """The cells whose holders have changed."""
        if self._cells is None or cells.holders.shape != self._cells.holders.shape:
            self._owner_codes = np.zeros(len(cells.pos), np.uint8)
            return np.arange(len(cells.pos))
        return np.flatnonzero((cells.holders.T != self._cells.holders.T).any(axis=0))

    def _draw(self, start: int, end: int) -> None:
        """The rows start … end - 1, as far as they can be seen."""
        side = self.layout.side
        num_rows = len(self._pixels) // side
        start, end = max(start, self.first_row), min(end, self.first_row + num_rows)
        if start >= end:
            return
        pixels = self._codes[start:end]
        if side > 1:
            pixels = pixels.repeat(side, axis=1).repeat(side, axis=0)
        rows = slice((start - self.first_row) * side, (end - self.first_row) * side)
        np.bitwise_and(pixels, self._mask[rows], out=self._pixels[rows])


def _mask(height: int, width: int, side: int, top: int) -> Bytes:
    """Which bits of a code each pixel keeps."""
    y, x = np.arange(top, top + height)[:, None], np.arange(width)[None, :]
    period = min(HATCHING, 4) if side < 4 else HATCHING
    mask = np.where((x + y) % period < period // 2, 0xFF, 0xFF & ~SHARED).astype(np.uint8)
    if side >= MIN_SIDE_WITH_GAPS:
        mask[(y[:, 0] + 1) % side == 0] = 0
        mask[:, (x[0] + 1) % side == 0] = 0
    return mask


def _ranges(rows: Indices, max_ranges: int = 8) -> list[tuple[int, int]]:
    """Ascending rows, with repetitions, as (start, end) of a few runs."""
    if not rows.size:
        return []
    breaks = np.flatnonzero(rows[1:] - rows[:-1] > 1)
    if breaks.size >= max_ranges:
        return [(int(rows[0]), int(rows[-1]) + 1)]
    starts = rows[[0, *(breaks + 1)]]
    ends = rows[[*breaks, -1]] + 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))
