"""The page a chat is written on, in pixels: which turn stands where, and what of it is in sight.

Rows have the heights they were measured with, or estimates. When a real height takes the place of an
estimate, or the page gets another width, the anchor stays where the reader sees it. Knows no widgets. GUI
thread.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QRect
from PySide6.QtGui import QFontMetrics

from app.chats.chat import Turn
from app.look.fonts import reading_font
from app.ui.base.proportions import COLUMN_MARGIN as MARGIN
from app.ui.base.proportions import column_width
from app.ui.message.safe_browser import LINE_HEIGHT
from app.ui.transcript.row_heights import LineFit, RowHeights

NOT_FITTED = (0, 0)


@dataclass(frozen=True, slots=True)
class Anchor:
    """What stays where it is: the point at that `share` of a row's height, `y` pixels below the top edge."""

    row: int
    y: int
    share: float = 0.0


class Page:
    """A value is how far it is scrolled down, as a scroll bar has it."""

    def __init__(self, extra_px: int) -> None:
        """`extra_px` is what a turn has besides its text."""
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
        return self._row_of_id.get(turn.id)

    def take(self, turns: Sequence[Turn]) -> tuple[list[Turn], list[Turn]]:
        """The turns that have gone, and those that stand in their place.

        What is known of the others is kept, before and after them.
        """
        old, new = self.rows, list(turns)
        begin = _num_same(old, new)
        num_after = _num_same(reversed(old[begin:]), reversed(new[begin:]))
        end, new_end = len(old) - num_after, len(new) - num_after
        if begin == end == new_end:
            return [], []
        self.heights.replace(begin, end, new[begin:new_end])
        self.rows = new
        self._row_of_id = {turn.id: row for row, turn in enumerate(new)}
        row = self.anchor.row + (len(new) - len(old) if self.anchor.row >= end else 0)
        self.anchor = replace(self.anchor, row=max(0, min(row, len(new) - 1)))
        return old[begin:end], new[begin:new_end]

    def fit(self, width: int, zoom: int) -> None:
        """Heights of another width or size of text are worth nothing."""
        if self._fitted == (width, zoom):
            return
        if self.rows:
            self.anchor = self._by_share(self.anchor)
        self._fitted = (width, zoom)
        column = column_width(width, zoom)
        self.column = QRect(max(0, (width - column) // 2), 0, column, 0)
        metrics = QFontMetrics(reading_font(zoom))
        line_px = metrics.lineSpacing() * LINE_HEIGHT / 100
        self.heights.forget(LineFit(line_px, max(1.0, column / metrics.averageCharWidth()), self._extra_px))

    def forget_fit(self) -> None:
        """The font has become another one."""
        self._fitted = NOT_FITTED

    @property
    def max_value(self) -> int:
        content = MARGIN + self.heights.total + self.queue_height + MARGIN // 2
        return max(0, content - self.window_height)

    @property
    def value(self) -> int:
        """With which the anchor is where it should be."""
        if not self.rows:
            return 0
        row, share = self.anchor.row, self.anchor.share
        point = self.heights.top(row) + round(share * self.heights.height(row))
        return max(0, min(self.max_value, MARGIN + point - self.anchor.y))

    def hold(self, value: int) -> None:
        """The first row in sight whose height is known: what comes into sight above it must not move it."""
        rows = self.rows_in_sight(value)
        row = next((row for row in rows if self.heights.is_known(row)), rows.start)
        self.anchor = Anchor(row, self.top_of(row, value))

    def rows_in_sight(self, value: int) -> range:
        if not self.rows:
            return range(0)
        bottom = value + self.window_height
        return range(self.heights.row_at(value - MARGIN), self.heights.row_at(bottom - MARGIN) + 1)

    def top_of(self, row: int, value: int) -> int:
        """Where it stands in the window. The row after the last one is what waits to be sent."""
        return MARGIN + self.heights.top(row) - value

    def _by_share(self, anchor: Anchor) -> Anchor:
        """The same place in the text, however high it will be."""
        height = self.heights.height(anchor.row)
        if anchor.y >= 0 or anchor.share or not height:
            return anchor
        return Anchor(anchor.row, 0, share=min(1.0, -anchor.y / height))


def _num_same(some: Iterable[Turn], others: Iterable[Turn]) -> int:
    """How many they begin with that are the same."""
    num_same = 0
    for one, other in zip(some, others, strict=False):
        if one is not other:
            break
        num_same += 1
    return num_same
