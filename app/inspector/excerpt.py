"""The steps of a recording that are in view: the columns of a timeline, as numbers.

Works on numbers alone. GUI thread, since the recording changes there.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from app.inspector.stacked_columns import tallest, worst
from app.inspector.step_columns import StepColumns

# Steps in a column, and how many pixels wide it is.
ZOOMS: tuple[tuple[int, int], ...] = (
    *((steps, 1) for steps in (64, 32, 16, 8, 4, 2)),
    *((1, width) for width in (1, 2, 3, 4, 6, 9, 14, 20, 32)),
)
USUAL_ZOOM = ZOOMS.index((1, 4))


class Height(StrEnum):
    """What the height of a column means."""

    MILLISECONDS = "ms"
    TOKENS = "tokens"


@dataclass(frozen=True)
class Excerpt:
    """`left` is the first column in view, counted from the first step there ever was.

    So a column keeps its steps while others come and go.
    """

    columns: StepColumns
    left: int
    zoom: int
    width: int  # pixels
    height_of: Height = Height.MILLISECONDS

    @property
    def steps_per_column(self) -> int:
        return ZOOMS[self.zoom][0]

    @property
    def column_width(self) -> int:
        return ZOOMS[self.zoom][1]

    @property
    def num_fitting(self) -> int:
        return max(1, self.width // self.column_width)

    @property
    def least_left(self) -> int:
        return self.columns.first // self.steps_per_column

    @property
    def most_left(self) -> int:
        end = -(-(self.columns.first + len(self.columns)) // self.steps_per_column)
        return max(self.least_left, end - self.num_fitting)

    @property
    def has_all(self) -> bool:
        """Everything fits: scrolling or zooming out would show nothing more."""
        end = (self.least_left + self.num_fitting) * self.steps_per_column
        return self.columns.first + len(self.columns) <= end

    @cached_property
    def begin(self) -> int:
        """The first step in view, as a row of the recording's columns."""
        return max(0, self.left * self.steps_per_column - self.columns.first)

    @cached_property
    def steps(self) -> slice:
        """Rows of the recording's columns. One column more than fits: part of it may be seen."""
        end = (self.left + self.num_fitting + 1) * self.steps_per_column - self.columns.first
        return slice(self.begin, max(self.begin, min(end, len(self.columns))))

    @cached_property
    def figures(self) -> npt.NDArray[np.void]:
        return self.columns.figures[self.steps]

    @cached_property
    def heights(self) -> npt.NDArray[np.float32]:
        name = "decode_ms" if self.height_of is Height.MILLISECONDS else "num_rows"
        return self.figures[name].astype(np.float32)

    @cached_property
    def shown(self) -> npt.NDArray[np.intp]:
        """Of each column the step that stands for it, the highest, counted from the first in view."""
        return tallest(self.heights, self._place, self.steps_per_column)

    @cached_property
    def stalls(self) -> npt.NDArray[np.uint8]:
        """Of each column the worst."""
        return worst(self.figures["stall"], self._place, self.steps_per_column)

    @property
    def rows(self) -> npt.NDArray[np.uint16]:
        """Of the step that stands for each column: shape (columns, sequences, 2)."""
        return self.columns.rows[self.steps][self.shown]

    def figure(self, name: str) -> npt.NDArray[Any]:
        """Of the step that stands for each column."""
        return self.figures[name][self.shown]

    def index_at(self, x: float) -> int | None:
        """The row of the recording's columns whose column is at this pixel."""
        column = int(x // self.column_width)
        return int(self.shown[column]) + self.begin if 0 <= column < len(self.shown) else None

    def x_of(self, index: int) -> int:
        """Where the column of this row begins, perhaps out of view."""
        return (self.column_of(index) - self.left) * self.column_width

    def column_of(self, index: int) -> int:
        return (self.columns.first + index) // self.steps_per_column

    @property
    def _place(self) -> int:
        return self.columns.first + self.begin
