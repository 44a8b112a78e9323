"""The heights of a page's turns: measured if drawn, else estimated.

Knows texts by their length only and no widget. Works on arrays, so that a hundred thousand turns cost no more
than a few. GUI thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from app.chats.chat import Turn

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
