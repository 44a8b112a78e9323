"""A draft model: it continues the answers of a large model, which then only verifies these tokens.

Its cells mirror those of the large model, slot by slot: stale ones are removed, and missing ones are computed
for all chats together. A chat without room gets no draft. Engine thread only.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from app.engine.batch import Batch
from app.engine.cells.prefix import common_prefix

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.sequence import Sequence

# A token less likely than this is not drafted, nor any after it. llama-server calls it p_min.
MIN_PROBABILITY = 0.75
FEW = 16  # missing tokens up to which a chat is drafted at once; after each step one or two are missing
FIRST_READ = 32  # tokens, before the time of one is known


class Draft(NamedTuple):
    """The draft tokens, the number of decodes, and the time of one."""

    token_ids: dict[Sequence, list[int]]
    num_decodes: int = 0
    decode_ms: float = 0.0


class DraftModel:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._model = backend.model
        self._batch = Batch(backend.model.n_batch)
        # The tokens in its cells, by the seq_id of the large model's slot, least recently used first.
        self._held: dict[int, list[int]] = {seq_id: [] for seq_id in range(backend.model.n_seq_max)}
        self._read_ms = 0.0  # a token
        for seq_id in self._held:
            self._truncate(seq_id, 0)  # left by a former engine

    @property
    def name(self) -> str:
        return self._model.name

    def propose(self, wanted: dict[Sequence, int], read_ms: float) -> Draft:
        """Drafts up to so many tokens for each answer; with 0, only its cells are kept.

        Spends about `read_ms` on text that it has not read yet. Raises EngineError or BadLogitsError when it
        cannot go on, DecodeInterruptedError when it need not.
        """
        for seq in wanted:
            self._drop_what_differs(seq)
        fitting = self._with_room(wanted)
        self._read([seq for seq in fitting if self._num_missing(seq) > FEW], read_ms)
        return self._write({seq: wanted[seq] for seq in self._ready(fitting)})

    def _write(self, numbers: dict[Sequence, int]) -> Draft:
        """One token of each answer a decode, as long as the next token is likely enough."""
        started, num_decodes = time.perf_counter(), 0
        proposed: dict[Sequence, list[int]] = {seq: [] for seq in numbers}
        new = {seq: self._missing(seq) for seq in numbers}
        while new:
            rows, new = self._decode(new), {}
            num_decodes += 1
            for seq, row in rows.items():
                token_id, probability = self._backend.likeliest(row)
                if probability < MIN_PROBABILITY or self._backend.is_end_of_generation(token_id):
                    continue
                proposed[seq].append(token_id)
                if len(proposed[seq]) < numbers[seq]:
                    new[seq] = [token_id]
        took_ms = (time.perf_counter() - started) * 1000
        return Draft(proposed, num_decodes, took_ms / max(num_decodes, 1))

    def _read(self, unread: list[Sequence], read_ms: float) -> None:
        """Prefill the next missing tokens of each, those with the fewest first."""
        left = int(read_ms / self._read_ms) if self._read_ms else FIRST_READ
        left = min(max(left, FEW), self._batch.capacity)
        parts: dict[Sequence, list[int]] = {}
        for seq in sorted(unread, key=self._num_missing):
            if part := self._missing(seq)[:-1][:left]:  # the last one is for the decode that has logits
                parts[seq] = part
                left -= len(part)
        if not parts:
            return
        started = time.perf_counter()
        self._decode(parts)
        self._read_ms = (time.perf_counter() - started) * 1000 / self._batch.num_rows

    def _decode(self, new: dict[Sequence, list[int]]) -> dict[Sequence, int]:
        """Compute these tokens after the held ones. Returns the row of each last token, which has logits."""
        self._batch.clear()
        for seq in sorted(new, key=_seq_id):
            self._batch.add_tokens(seq, len(self._held[_seq_id(seq)]), new[seq], wants_logits=True)
        try:
            self._backend.decode(self._batch)
        finally:  # it may have been interrupted: the library knows which are in
            for seq, token_ids in new.items():
                held = self._held[_seq_id(seq)]
                held += token_ids
                del held[self._backend.pos_max(_seq_id(seq)) + 1 :]
        return {span.seq: span.last_row for span in self._batch.spans}

    # What it holds.

    def _missing(self, seq: Sequence) -> list[int]:
        return seq.token_ids[len(self._held[_seq_id(seq)]) :]

    def _num_missing(self, seq: Sequence) -> int:
        return len(seq.token_ids) - len(self._held[_seq_id(seq)])

    def _drop_what_differs(self, seq: Sequence) -> None:
        """Remove rejected draft tokens, or all that another chat left in this slot."""
        seq_id = _seq_id(seq)
        held = self._held.pop(seq_id)
        self._held[seq_id] = held  # the newest use
        num_kept = common_prefix(held, seq.token_ids)
        if num_kept < len(held):
            self._truncate(seq_id, num_kept)

    def _truncate(self, seq_id: int, num_tokens: int) -> None:
        """Where a window has moved past them, all are read again."""
        if not self._backend.truncate(seq_id, num_tokens):
            num_tokens = 0
            self._backend.truncate(seq_id, num_tokens)
        del self._held[seq_id][num_tokens:]

    def _with_room(self, wanted: dict[Sequence, int]) -> list[Sequence]:
        """The chats it can read and has cells for, shortest first. Evicts the cells of idle chats."""
        running = set(map(_seq_id, wanted))
        fitting: list[Sequence] = []
        num_taken = 0
        asked = (seq for seq, number in wanted.items() if number)
        for seq in sorted(asked, key=lambda seq: len(seq.token_ids)):
            num_tokens = len(seq.token_ids) + wanted[seq]
            num_new = num_tokens - len(self._held[_seq_id(seq)])
            if self._can_read(seq, num_tokens) and self._find_room(num_taken + num_new, running):
                fitting.append(seq)
                num_taken += num_new
        return fitting

    def _can_read(self, seq: Sequence, num_tokens: int) -> bool:
        """Its vocabulary may be shorter, and so may its context."""
        is_known = max(self._missing(seq)) < self._model.n_vocab
        return is_known and num_tokens <= self._model.max_sequence_tokens

    def _find_room(self, num_cells: int, running: set[int]) -> bool:
        for seq_id, held in self._held.items():
            if held and seq_id not in running and self._num_free < num_cells:
                self._truncate(seq_id, 0)
        return self._num_free >= num_cells

    @property
    def _num_free(self) -> int:
        return self._model.n_ctx - sum(map(len, self._held.values()))

    def _ready(self, fitting: list[Sequence]) -> list[Sequence]:
        """The chats with few missing tokens, as many as fit into one batch."""
        ready: list[Sequence] = []
        num_rows = 0
        for seq in fitting:
            num_missing = self._num_missing(seq)
            if num_missing <= FEW and num_rows + num_missing <= self._batch.capacity:
                ready.append(seq)
                num_rows += num_missing
        return ready


def _seq_id(seq: Sequence) -> int:
    assert seq.slot is not None
    return seq.slot.seq_id
