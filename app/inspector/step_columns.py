"""The steps of a recording as arrays, so that a chart of ten thousand steps can be drawn.

Kept beside the reports, so that drawing never touches them. Knows no widget. GUI thread.
"""

import numpy as np
import numpy.typing as npt

from app.inspector.stalls import Before, deliver_ms, has_run, worst_of
from app.protocol.report import StepReport

PREFILL, DECODE, DRAFTED = KINDS = range(3)
MAX_ROWS = 2**16 - 1  # of one sequence in one step; more are drawn as so many
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
