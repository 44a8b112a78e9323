"""The geometry of a chat's page: where each turn is, and which are visible.

Rows have the heights they were measured with, or estimates. When a measured height replaces an estimate, or
the page's width changes, the anchor stays in place. Knows no widgets. GUI thread.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import is_, truth
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect
from PySide6.QtGui import QFontMetrics

from app.chats.chat import Turn
from app.look.fonts import reading_font
from app.ui.base.proportions import COLUMN_MARGIN as MARGIN
from app.ui.base.proportions import column_left, column_width
from app.ui.message.safe_browser import LINE_HEIGHT

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class LineFit:
    """What estimates depend on: pixels, and characters in a line."""

    line_px: float
    chars_per_line: float
    extra_px: int  # what a turn has besides its text


class RowHeights:
    """Heights and tops of rows, in pixels, the gaps between them included."""

    def __init__(self, fit: LineFit) -> None:
        self._fit = fit
        self._num_chars = np.zeros(0)
        self._num_breaks = np.zeros(0)
        self._heights = np.zeros(0, dtype=np.int64)
        self._is_known = np.zeros(0, dtype=bool)
        self._tops = np.zeros(1, dtype=np.int64)  # one more than rows: the last is the end
        self._num_summed = 0  # rows with valid tops, including the next one's

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> int:
        return self.top(len(self))

    def height(self, row: int) -> int:
        return int(self._heights[row])

    def top(self, row: int) -> int:
        self._sum_up_to(row)
        return int(self._tops[row])

    def is_known(self, row: int) -> bool:
        return bool(self._is_known[row])

    def row_at(self, y: int) -> int:
        """The row that covers `y`, or the nearest. There must be one."""
        self._sum_up_to(len(self))
        row = int(self._tops.searchsorted(y, side="right")) - 1
        return min(max(row, 0), len(self) - 1)

    def measure(self, row: int, height: int) -> None:
        """Records the height of a drawn row."""
        if self._heights[row] != height:
            self._heights[row] = height
            self._num_summed = min(self._num_summed, row)
        self._is_known[row] = True

    def replace(self, begin: int, end: int, turns: Sequence[Turn]) -> None:
        """Replaces rows `begin` … `end` by these turns."""
        num_chars = np.fromiter((len(turn.text) for turn in turns), float, len(turns))
        num_breaks = np.fromiter((turn.text.count("\n") for turn in turns), float, len(turns))
        self._num_chars = _spliced(self._num_chars, begin, end, num_chars)
        self._num_breaks = _spliced(self._num_breaks, begin, end, num_breaks)
        estimates = self._estimates(num_chars, num_breaks)
        self._heights = _spliced(self._heights, begin, end, estimates)
        self._is_known = _spliced(self._is_known, begin, end, np.zeros(len(turns), dtype=bool))
        self._tops = np.zeros(len(self._heights) + 1, dtype=np.int64)
        self._num_summed = 0

    def forget(self, fit: LineFit) -> None:
        """Another width or text size: all are estimates again."""
        self._fit = fit
        self._heights = self._estimates(self._num_chars, self._num_breaks)
        self._is_known[:] = False
        self._num_summed = 0

    def _estimates(
        self, num_chars: npt.NDArray[np.float64], num_breaks: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64]:
        num_lines = 1 + num_breaks + num_chars / self._fit.chars_per_line
        return (num_lines * self._fit.line_px + self._fit.extra_px).astype(np.int64)

    def _sum_up_to(self, row: int) -> None:
        begin = self._num_summed
        if row > begin:
            np.cumsum(self._heights[begin:row], out=self._tops[begin + 1 : row + 1])
            self._tops[begin + 1 : row + 1] += self._tops[begin]
            self._num_summed = row


def _spliced(values: npt.NDArray[T], begin: int, end: int, new: npt.NDArray[T]) -> npt.NDArray[T]:
    return np.concatenate((values[:begin], new, values[end:]))


NOT_FITTED = (0, 0)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The point that stays in place: at that `share` of a row's height, `y` pixels below the top edge."""

    row: int
    y: int
    share: float = 0.0


class Page:
    """A value is the scroll position, as of a scroll bar."""

    def __init__(self, extra_px: int) -> None:
        """`extra_px` is a turn's height besides its text."""
        self._extra_px = extra_px
        self.rows: list[Turn] = []
        self.heights = RowHeights(LineFit(1, 1, extra_px))
        self.column = QRect()  # where text stands; its left and its width count
        self.anchor = Anchor(0, MARGIN)
        self.window_height = 0  # of what can be seen at once
        self.queue_height = 0  # of what stands below the last turn
        self._row_of_id: dict[str, int] = {}
        self._fitted = NOT_FITTED

    def row_of(self, turn: Turn) -> int | None:
        return self.row_of_id(turn.id)

    def row_of_id(self, turn_id: str) -> int | None:
        return self._row_of_id.get(turn_id)

    def take(self, turns: Sequence[Turn]) -> tuple[list[Turn], list[Turn]]:
        """Sets the turns. Returns the removed ones, and those in their place.

        Heights of the others are kept.
        """
        old, new = self.rows, list(turns)
        begin = _num_same(old, new)
        num_after = _num_same(reversed(old[begin:]), reversed(new[begin:]))
        end, new_end = len(old) - num_after, len(new) - num_after
        if begin == end == new_end:
            return [], []
        self.heights.replace(begin, end, new[begin:new_end])
        self.rows = new
        for turn in old[begin:]:
            self._row_of_id.pop(turn.id, None)
        self._row_of_id |= {turn.id: row for row, turn in enumerate(new[begin:], begin)}
        row = self.anchor.row + (len(new) - len(old) if self.anchor.row >= end else 0)
        self.anchor = replace(self.anchor, row=max(0, min(row, len(new) - 1)))
        return old[begin:end], new[begin:new_end]

    def fit(self, width: int, zoom: int, scroll_bar: int = 0) -> None:
        """Drops heights of another width or text size. The scroll bar stands at the right of the width."""
        if self._fitted == (width, zoom):
            return
        if self.rows:
            self.anchor = self._by_share(self.anchor)
        self._fitted = (width, zoom)
        column = column_width(width, zoom)
        self.column = QRect(column_left(width + scroll_bar, column), 0, column, 0)
        metrics = QFontMetrics(reading_font(zoom))
        line_px = metrics.lineSpacing() * LINE_HEIGHT / 100
        self.heights.forget(LineFit(line_px, max(1.0, column / metrics.averageCharWidth()), self._extra_px))

    def forget_fit(self) -> None:
        """The font has changed."""
        self._fitted = NOT_FITTED

    @property
    def max_value(self) -> int:
        content = MARGIN + self.heights.total + self.queue_height + MARGIN // 2
        return max(0, content - self.window_height)

    @property
    def value(self) -> int:
        """The scroll position that puts the anchor in its place."""
        if not self.rows:
            return 0
        row, share = self.anchor.row, self.anchor.share
        point = self.heights.top(row) + round(share * self.heights.height(row))
        return max(0, min(self.max_value, MARGIN + point - self.anchor.y))

    def hold(self, value: int) -> None:
        """Anchors the first visible row with a known height: rows that appear above must not move it."""
        rows = self.rows_in_sight(value)
        row = next((row for row in rows if self.heights.is_known(row)), rows.start)
        self.anchor = Anchor(row, self.top_of(row, value))

    def rows_in_sight(self, value: int) -> range:
        if not self.rows:
            return range(0)
        bottom = value + self.window_height
        return range(self.heights.row_at(value - MARGIN), self.heights.row_at(bottom - MARGIN) + 1)

    def top_of(self, row: int, value: int) -> int:
        """The row's top in the window. The row after the last one is the queue."""
        return MARGIN + self.heights.top(row) - value

    def _by_share(self, anchor: Anchor) -> Anchor:
        """The same place in the text, however high it will be."""
        height = self.heights.height(anchor.row)
        if anchor.y >= 0 or anchor.share or not height:
            return anchor
        return Anchor(anchor.row, 0, share=min(1.0, -anchor.y / height))


def _num_same(some: Iterable[Turn], others: Iterable[Turn]) -> int:
    """How many they begin with that are the same: there may be thousands."""
    return sum(takewhile(truth, map(is_, some, others)))
