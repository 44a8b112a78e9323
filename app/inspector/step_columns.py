"""The steps of a recording as arrays, and the excerpt of them that a chart shows.

Kept beside the reports, so that drawing ten thousand steps never touches these. Knows no widget. GUI thread.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from app.inspector.stalls import Before, deliver_ms, has_run, worst_of
from app.protocol.report import StepReport

PREFILL, DECODE, DRAFTED = KINDS = range(3)
MAX_ROWS = 2**16 - 1  # of one sequence in one step; more are drawn as this many
FIGURES = np.dtype(
    [
        ("number", "i8"),  # of the report in its recording
        ("step", "i8"),
        ("schedule_ms", "f4"),
        ("decode_ms", "f4"),
        ("sample_ms", "f4"),
        ("deliver_ms", "f4"),
        ("usual_ms", "f8"),  # see `Before`
        ("num_rows", "i4"),
        ("stall", "u1"),
    ]
)
Ints = npt.NDArray[np.intp]
# Steps in a column, and how many pixels wide it is.
ZOOMS: tuple[tuple[int, int], ...] = (
    *((steps, 1) for steps in (64, 32, 16, 8, 4, 2)),
    *((1, width) for width in (1, 2, 3, 4, 6, 9, 14, 20, 32)),
)
USUAL_ZOOM = ZOOMS.index((1, 4))


class StepColumns:
    """The newest `max_steps` steps that ran, oldest first."""

    def __init__(self, max_steps: int) -> None:
        self._max_steps = max_steps
        # Twice the capacity: when full, the newest half moves to the front, so the data stay contiguous.
        self._figures = np.zeros(2 * max_steps, FIGURES)
        self._rows = np.zeros((2 * max_steps, 0, len(KINDS)), np.uint16)
        self._begin = self._end = 0
        self._num_appended = 0
        self._before = Before()

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def figures(self) -> npt.NDArray[np.void]:
        """One row of `FIGURES` for each step. Valid until the next one is appended."""
        return self._figures[self._begin : self._end]

    @property
    def rows(self) -> npt.NDArray[np.uint16]:
        """Shape (steps, sequences, 3): each sequence's rows of prompt, answer and draft tokens."""
        return self._rows[self._begin : self._end]

    @property
    def first(self) -> int:
        """How many steps were dropped: the index of the oldest among all ever added."""
        return self._num_appended - len(self)

    def append(self, number: int, report: StepReport) -> None:
        if has_run(report):
            self._make_room(report)
            at = self._end
            self._figures[at] = (
                number,
                report.step,
                report.schedule_ms,
                report.decode_ms,
                report.sample_ms,
                deliver_ms(report),
                self._before.usual_ms,
                report.num_rows,
                worst_of(report, self._before),
            )
            rows = self._rows[at]
            rows[:] = 0
            for span in report.spans:
                num_rows = min(span.num_rows - span.num_drafted, MAX_ROWS)
                rows[span.seq_id, PREFILL if span.is_prefill else DECODE] = num_rows
                rows[span.seq_id, DRAFTED] = min(span.num_drafted, MAX_ROWS)
            self._end += 1
            self._num_appended += 1
            self._begin = max(self._begin, self._end - self._max_steps)
        self._before = self._before.after(report)

    def index_of(self, step: int) -> int | None:
        """Where the step with this number stands, if it is still there."""
        at = int(np.searchsorted(self.figures["step"], step))
        return at if at < len(self) and self.figures["step"][at] == step else None

    def _make_room(self, report: StepReport) -> None:
        if self._end == len(self._figures):
            self._figures[: len(self)] = self.figures
            self._rows[: len(self)] = self.rows
            self._begin, self._end = 0, len(self)
        num_seqs = max((span.seq_id + 1 for span in report.spans), default=0)
        if num_seqs > self._rows.shape[1]:
            missing = num_seqs - self._rows.shape[1]
            self._rows = np.pad(self._rows, ((0, 0), (0, missing), (0, 0)))


def tallest(values: npt.NDArray[np.float32], first: int, per_column: int) -> Ints:
    """The index of the highest value in each column: no slow step vanishes between fast ones.

    A column is `per_column` values whose places begin at a multiple of it; `values[0]` has place `first`.
    """
    if per_column == 1:
        return np.arange(len(values))
    before = first % per_column
    padded = _in_columns(values, before, per_column, -np.inf)
    found: Ints = padded.argmax(axis=1) + np.arange(len(padded)) * per_column - before
    return np.minimum(np.maximum(found, 0), len(values) - 1)


def worst(values: npt.NDArray[np.uint8], first: int, per_column: int) -> npt.NDArray[np.uint8]:
    """The highest value in each column; columns as in `tallest`."""
    if per_column == 1:
        return values
    highest: npt.NDArray[np.uint8] = _in_columns(values, first % per_column, per_column, 0).max(axis=1)
    return highest


def _in_columns(values: npt.NDArray[Any], before: int, per_column: int, filler: float) -> npt.NDArray[Any]:
    after = -(before + len(values)) % per_column
    return np.pad(values, (before, after), constant_values=filler).reshape(-1, per_column)


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
        """The highest step of each column, which stands for it, counted from the first in view."""
        return tallest(self.heights, self._place, self.steps_per_column)

    @cached_property
    def stalls(self) -> npt.NDArray[np.uint8]:
        """The worst stall in each column."""
        return worst(self.figures["stall"], self._place, self.steps_per_column)

    @property
    def rows(self) -> npt.NDArray[np.uint16]:
        """Rows of the step that stands for each column: shape (columns, sequences, 3)."""
        return self.columns.rows[self.steps][self.shown]

    def figure(self, name: str) -> npt.NDArray[Any]:
        """A figure of the step that stands for each column."""
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
