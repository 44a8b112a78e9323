"""Which sequences wait for their pictures and sounds to be encoded.

A sequence gets a slot only when all rows are there that it will have to compute, so nobody who runs waits for
an encoding. Engine thread only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.protocol.errors import RequestError
from app.protocol.events import Encoded
from app.protocol.media import Encoding

if TYPE_CHECKING:
    from app.engine.cells.event_log import EventLog
    from app.engine.media.encoder import EncodingProgress, MediaEncoder
    from app.engine.media.rows import Chunk
    from app.engine.sequence import Sequence


class AwaitedMedia:
    def __init__(self, encoder: MediaEncoder | None, event_log: EventLog) -> None:
        self._encoder, self._event_log = encoder, event_log
        self._waiting: dict[Sequence, set[Chunk]] = {}
        self._failures: dict[Sequence, str] = {}

    def is_ready(self, seq: Sequence, num_cached: int) -> bool:
        """Whether it has all rows that it needs behind its first `num_cached` tokens; they are asked for."""
        if not seq.chunks:
            return True
        missing = {chunk for chunk in seq.chunks if chunk.end > num_cached and chunk not in seq.rows}
        waited = self._waiting.pop(seq, set())
        try:
            missing -= {chunk for chunk in missing if self._take(seq, chunk, was_waited_for=chunk in waited)}
        except RequestError as error:
            self._failures[seq] = str(error)
            return False
        if missing:
            self._waiting[seq] = missing
        return not missing

    def is_waiting(self, seq: Sequence) -> bool:
        """Until an encoding has ended, nothing can be done for it."""
        encoder = self._encoder
        if encoder is None or seq not in self._waiting:
            return False
        return any(encoder.is_encoding(chunk.media) for chunk in self._waiting[seq])

    def has_asked(self, seq: Sequence) -> bool:
        """Rows of it were not there when it was last looked at."""
        return seq in self._waiting

    def take_failures(self) -> dict[Sequence, str]:
        """Sequences that will never be ready, and why, since the last call."""
        failures, self._failures = self._failures, {}
        return failures

    def forget(self, seq: Sequence) -> None:
        """It has ended: what only it waits for is not encoded any more."""
        seq.rows.clear()
        self._failures.pop(seq, None)
        missing = self._waiting.pop(seq, set())
        wanted = {chunk.media for chunks in self._waiting.values() for chunk in chunks}
        for media in {chunk.media for chunk in missing} - wanted:
            assert self._encoder is not None
            self._encoder.cancel(media)

    def encodings(self) -> tuple[Encoding, ...]:
        if not self._waiting or self._encoder is None:
            return ()
        progress = self._encoder.current()
        return tuple(_encoding(seq, missing, progress) for seq, missing in self._waiting.items())

    def _take(self, seq: Sequence, chunk: Chunk, *, was_waited_for: bool) -> bool:
        """Raises RequestError."""
        assert self._encoder is not None, "a prompt with pictures is built by its encoder"
        encoded = self._encoder.take(chunk.media)
        if encoded is None:
            return False
        seq.rows[chunk] = encoded.rows[chunk.index]
        ms = encoded.ms if was_waited_for else 0.0
        num_cells = chunk.part.num_rows
        self._event_log.add(Encoded(None, seq.request.chat_id, chunk.media.sha256, num_cells, ms))
        return True


def _encoding(seq: Sequence, missing: set[Chunk], progress: EncodingProgress) -> Encoding:
    num_here = sum(chunk.part.num_rows for chunk in seq.rows)
    current = sum(chunk.part.num_rows for chunk in missing if chunk.media.sha256 == progress.sha256)
    return Encoding(
        seq.request.request_id,
        seq.request.chat_id,
        progress.sha256,
        num_here + min(progress.num_rows, current),
        num_here + sum(chunk.part.num_rows for chunk in missing),
        progress.elapsed_s,
    )
