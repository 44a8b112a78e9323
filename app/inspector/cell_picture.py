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

from app.look.tokens import SEQUENCE_COLOURS, Tokens, mixed
from app.protocol.report import CellMap

Bytes = npt.NDArray[np.uint8]

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
    """The codes with the cells of one sequence in its colour, and all others dimmed."""
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
        """It has the columns that fit, a round number of them so that an index is easy to find."""
        num_columns = max(width // side, 1)
        step = 8 if num_columns >= 64 else 1
        return cls(num_cells, max(num_columns // step * step, 1), side)

    @classmethod
    def fitting(cls, num_cells: int, width: int, height: int) -> CellLayout:
        """With the largest squares with which all cells fit, or the smallest possible."""
        for side in range(MAX_SIDE, 1, -1):
            layout = cls.of(num_cells, width, side)
            if layout.num_rows * side <= height:
                return layout
        return cls.of(num_cells, width, 1)


_NO_CODES: Bytes = np.zeros(0, np.uint8)


class CellPicture:
    """The rows of squares that can be seen, as an image."""

    def __init__(self) -> None:
        self.layout = CellLayout(0, 1, 1)
        self.first_row = 0
        self.image = QImage()
        self._num_rows = 0
        self._colours: list[int] = []
        self._cells: CellMap | None = None
        self._chosen = NO_SEQUENCE
        self._codes: Bytes = _NO_CODES
        self._pixels: Bytes = np.zeros((0, 0), np.uint8)
        self._mask: Bytes = self._pixels

    @property
    def num_shared(self) -> int:
        return int(np.count_nonzero(self._codes & SHARED))

    def place(self, layout: CellLayout, first_row: int, num_rows: int, tokens: Tokens) -> None:
        """Show these rows, in this size and these colours."""
        self.layout, self.first_row, self._colours = layout, first_row, colour_table(tokens)
        self._num_rows = max(min(num_rows, layout.num_rows - first_row), 0)
        side = layout.side
        self._mask = _mask(self._num_rows * side, layout.num_columns * side, side, first_row * side)
        self._draw()

    def apply(self, cells: CellMap | None, chosen: int) -> bool:
        """Whether anything has changed."""
        if chosen == self._chosen and _are_held_alike(cells, self._cells):
            return False
        self._cells, self._chosen = cells, chosen
        self._codes = chosen_codes(codes_of(cells.holders), cells.holders, chosen) if cells else _NO_CODES
        self._draw()
        return True

    def _draw(self) -> None:
        self.image = QImage()
        if not self._mask.size:  # PySide would keep an array without pixels for ever
            return
        side, num_columns = self.layout.side, self.layout.num_columns
        codes = np.zeros(self._num_rows * num_columns, np.uint8)
        shown = self._codes[self.first_row * num_columns :][: codes.size]
        codes[: shown.size] = shown
        squares = codes.reshape(-1, num_columns).repeat(side, axis=1).repeat(side, axis=0)
        self._pixels = squares & self._mask  # the image does not copy it
        height, width = self._pixels.shape
        self.image = QImage(self._pixels.data, width, height, width, QImage.Format.Format_Indexed8)
        self.image.setColorTable(self._colours)


def _are_held_alike(one: CellMap | None, other: CellMap | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one.holders, other.holders)


def _mask(height: int, width: int, side: int, top: int) -> Bytes:
    """Which bits of a code each pixel keeps."""
    y, x = np.arange(top, top + height)[:, None], np.arange(width)[None, :]
    period = min(HATCHING, 4) if side < 4 else HATCHING
    mask = np.where((x + y) % period < period // 2, 0xFF, 0xFF & ~SHARED).astype(np.uint8)
    if side >= MIN_SIDE_WITH_GAPS:
        mask[(y[:, 0] + 1) % side == 0] = 0
        mask[:, (x[0] + 1) % side == 0] = 0
    return mask
