"""The rows of one step: which token of which sequence, at which position, with or without logits.

One owner, one set of arrays for the life of the engine: nothing to allocate or free between steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from app.engine.sequence import Sequence


@dataclass(frozen=True, slots=True)
class BatchSpan:
    """The rows `first_row … first_row + num_rows - 1` are `seq`'s, at positions from `first_pos` on."""

    seq: Sequence
    seq_id: int
    first_row: int
    first_pos: int
    num_rows: int
    wants_logits: bool
    is_prefill: bool

    @property
    def last_row(self) -> int:
        return self.first_row + self.num_rows - 1


class Batch:
    """Arrays of shape (capacity,) of which the first `num_rows` count; each row belongs to one sequence."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.token_ids: npt.NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.positions: npt.NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.seq_ids: npt.NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.wants_logits: npt.NDArray[np.int8] = np.zeros(capacity, np.int8)
        self.num_rows = 0
        self.spans: list[BatchSpan] = []

    @property
    def is_current(self) -> bool:
        """There are rows, and every sequence still stands where it stood when they were added."""
        return bool(self.spans) and all(
            span.seq.slot is not None
            and span.seq.slot.seq_id == span.seq_id
            and span.seq.num_computed_tokens == span.first_pos
            for span in self.spans
        )

    def clear(self) -> None:
        self.num_rows = 0
        self.spans.clear()

    def add(self, seq: Sequence, num_rows: int) -> None:
        """Append the next `num_rows` tokens that `seq` has not computed yet.

        The one place where positions come from: a token's position is its index in its sequence.
        """
        assert seq.slot is not None
        assert 0 < num_rows <= min(seq.num_pending_tokens, self.capacity - self.num_rows)
        first_pos, end_pos = seq.num_computed_tokens, seq.num_computed_tokens + num_rows
        rows = slice(self.num_rows, self.num_rows + num_rows)
        self.token_ids[rows] = seq.token_ids[first_pos:end_pos]
        self.positions[rows] = range(first_pos, end_pos)
        self.seq_ids[rows] = seq.slot.seq_id
        self.wants_logits[rows] = 0
        wants_logits = end_pos == len(seq.token_ids)
        self.wants_logits[rows.stop - 1] = wants_logits
        self.spans.append(
            BatchSpan(
                seq, seq.slot.seq_id, rows.start, first_pos, num_rows, wants_logits, not seq.is_decoding
            )
        )
        self.num_rows = rows.stop
