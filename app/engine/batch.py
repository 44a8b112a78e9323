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
    num_drafted: int = 0  # the last rows: guesses at the tokens behind the sequence's own

    @property
    def last_row(self) -> int:
        return self.first_row + self.num_rows - 1

    @property
    def sampled_rows(self) -> range:
        """Those that have logits: that of the sequence's newest token, then one for each guess."""
        return range(self.last_row - self.num_drafted, self.last_row + 1) if self.wants_logits else range(0)


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

    def add(self, seq: Sequence, num_rows: int, drafted: list[int] | None = None) -> None:
        """Append the next `num_rows` tokens that `seq` has not computed yet, then guesses at those behind."""
        assert 0 < num_rows <= seq.num_pending_tokens
        first_pos, end_pos = seq.num_computed_tokens, seq.num_computed_tokens + num_rows
        wants_logits = end_pos == len(seq.token_ids)
        assert wants_logits or not drafted
        token_ids = seq.token_ids[first_pos:end_pos] + (drafted or [])
        self.add_tokens(seq, first_pos, token_ids, wants_logits=wants_logits, num_drafted=len(drafted or ()))

    def add_tokens(
        self, seq: Sequence, first_pos: int, token_ids: list[int], *, wants_logits: bool, num_drafted: int = 0
    ) -> None:
        """The one place where positions come from: a token's position is its index in its sequence."""
        assert seq.slot is not None
        assert 0 < len(token_ids) <= self.capacity - self.num_rows
        rows = slice(self.num_rows, self.num_rows + len(token_ids))
        self.token_ids[rows] = token_ids
        self.positions[rows] = range(first_pos, first_pos + len(token_ids))
        self.seq_ids[rows] = seq.slot.seq_id
        self.wants_logits[rows] = 0
        span = BatchSpan(
            seq=seq,
            seq_id=seq.slot.seq_id,
            first_row=rows.start,
            first_pos=first_pos,
            num_rows=len(token_ids),
            wants_logits=wants_logits,
            is_prefill=not seq.is_decoding,
            num_drafted=num_drafted,
        )
        self.wants_logits[rows.stop - 1 - num_drafted : rows.stop] = wants_logits
        self.spans.append(span)
        self.num_rows = rows.stop
