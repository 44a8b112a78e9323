"""The rows of one step: which token of which sequence, at which position, with or without logits.

One owner and one set of arrays for the life of the engine: nothing is allocated or freed between steps.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.media.rows import plane_places
from app.protocol.report import Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from app.engine.sequence import Sequence


@dataclass(frozen=True, slots=True, eq=False)
class MediaRows:
    """The embeddings of a step, of shape (rows, width of the model's input), and where they stand.

    `places` are the four positions of a model with planes, else one of them counts. With `is_whole` each row
    sees all others.
    """

    embeddings: npt.NDArray[np.float32]
    places: npt.NDArray[np.int32]
    is_whole: bool


@dataclass(eq=False, slots=True)  # not frozen, which would double the time it takes to make one
class BatchSpan:
    """The rows `first_row … first_row + num_rows - 1` are `seq`'s: its tokens from `first_token` on, at
    positions from `first_pos` on.
    """

    seq: Sequence
    seq_id: int
    first_row: int
    first_pos: int
    num_rows: int
    wants_logits: bool
    is_prefill: bool
    num_drafted: int = 0  # the last rows: draft tokens after the sequence's own
    first_token: int = 0

    @property
    def last_row(self) -> int:
        return self.first_row + self.num_rows - 1

    @property
    def sampled_rows(self) -> range:
        """The rows with logits: that of the sequence's newest token, then one for each draft token."""
        end = self.first_row + self.num_rows
        return range(end - 1 - self.num_drafted, end) if self.wants_logits else range(0)


class Batch:
    """Arrays of shape (capacity,) of which the first `num_rows` count; each row belongs to one sequence.

    All are int32 but `wants_logits`, which is int8: the library reads them where they are. They are memory
    views because a few numbers are read and written far faster through those than through numpy.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.token_ids = memoryview(array("i", bytes(4 * capacity)))
        self.positions = memoryview(array("i", bytes(4 * capacity)))
        self.seq_ids = memoryview(array("i", bytes(4 * capacity)))
        self.wants_logits = memoryview(array("b", bytes(capacity)))
        self.num_rows = 0
        self.spans: list[BatchSpan] = []
        self.media: MediaRows | None = None  # all rows are a picture's or a sound's

    @property
    def is_current(self) -> bool:
        """There are rows, and no sequence has advanced since they were added."""
        return bool(self.spans) and all(
            span.seq.slot is not None
            and span.seq.slot.seq_id == span.seq_id
            and span.seq.num_computed_tokens == span.first_token
            for span in self.spans
        )

    def reported(self, num_accepted: Mapping[int, int], hashes: Mapping[int, bytes]) -> tuple[Span, ...]:
        """What a report tells of it. `num_accepted` draft tokens and `hashes` of logits, by seq_id."""
        return tuple(
            [
                self._reported(span, num_accepted.get(span.seq_id, 0), hashes.get(span.seq_id, b""))
                for span in self.spans
            ]
        )

    def clear(self) -> None:
        self.num_rows = 0
        self.spans.clear()
        self.media = None

    def add_media(self, seq: Sequence, num_rows: int) -> None:
        """The next rows of the picture or sound that `seq` has come to. They stand alone in a step."""
        chunk, first = seq.next_chunk, seq.num_computed_tokens
        assert chunk is not None
        assert not self.num_rows
        start, end = first - chunk.first, first - chunk.first + num_rows
        assert end <= chunk.part.num_rows
        wants_logits = first + num_rows == len(seq.token_ids)
        first_pos = seq.position_of(chunk.first)
        self.media = MediaRows(
            seq.rows[chunk][start:end], plane_places(chunk, first_pos, start, num_rows), chunk.part.is_whole
        )
        self.add_tokens(seq, first, seq.token_ids[first : first + num_rows], wants_logits=wants_logits)
        for row, position in enumerate(self.media.places[0].tolist()):
            self.positions[row] = position

    def add(self, seq: Sequence, num_rows: int, drafted: list[int] | None = None) -> None:
        """Append the next `num_rows` tokens that `seq` has not computed yet, then draft tokens."""
        first = seq.num_computed_tokens
        end = first + num_rows
        assert first < end <= len(seq.token_ids)
        wants_logits = end == len(seq.token_ids)
        assert wants_logits or not drafted
        token_ids = seq.token_ids[first:end] + (drafted or [])
        self.add_tokens(seq, first, token_ids, wants_logits=wants_logits, num_drafted=len(drafted or ()))

    def add_tokens(
        self, seq: Sequence, first: int, token_ids: list[int], *, wants_logits: bool, num_drafted: int = 0
    ) -> None:
        """The one place where positions come from: a token's position is its index in its sequence, but for
        pictures before it that take fewer positions than rows.
        """
        assert seq.slot is not None
        first_pos = seq.position_of(first)
        num_rows, seq_id, first_row = len(token_ids), seq.slot.seq_id, self.num_rows
        end_row = first_row + num_rows
        assert first_row < end_row <= self.capacity
        first_with_logits = end_row - 1 - num_drafted if wants_logits else end_row
        for row, token_id in enumerate(token_ids, first_row):
            self.token_ids[row] = token_id
            self.positions[row] = first_pos + row - first_row
            self.seq_ids[row] = seq_id
            self.wants_logits[row] = row >= first_with_logits
        is_prefill = not seq.is_decoding
        self.spans.append(
            BatchSpan(
                seq, seq_id, first_row, first_pos, num_rows, wants_logits, is_prefill, num_drafted, first
            )
        )
        self.num_rows = end_row

    def _reported(self, span: BatchSpan, num_accepted: int, logits_hashes: bytes) -> Span:
        request = span.seq.request
        return Span(
            seq_id=span.seq_id,
            chat_id=request.chat_id,
            request_id=request.request_id,
            first_pos=span.first_pos,
            num_rows=span.num_rows,
            wants_logits=span.wants_logits,
            num_generated_tokens=span.seq.num_generated_tokens,
            max_tokens=request.max_tokens,
            is_prefill=span.is_prefill,
            token_bytes=self.token_ids[span.first_row : span.first_row + span.num_rows].tobytes(),
            num_drafted=span.num_drafted,
            num_kept=num_accepted,
            is_ahead=span.seq.is_ahead,
            logits_hashes=logits_hashes,
        )
