"""The geometry of a chat's page: where each turn is, and which are visible.

Rows have the heights they were measured with, or estimates. When a measured height replaces an estimate, or
the page's width changes, the anchor stays in place. Knows no widgets. GUI thread.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import is_, truth

from PySide6.QtCore import QRect
from PySide6.QtGui import QFontMetrics

from app.chats.chat import Turn
from app.look.fonts import reading_font
from app.ui.base.proportions import COLUMN_MARGIN as MARGIN
from app.ui.base.proportions import column_left, column_width
from app.ui.message.safe_browser import LINE_HEIGHT
from app.ui.transcript.row_heights import LineFit, RowHeights

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
