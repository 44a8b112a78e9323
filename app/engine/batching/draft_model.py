"""What drafts: a small model, or the heads of the model itself, which then only verifies these tokens.

The cells of either mirror those of the model, slot by slot, and missing ones are computed for all chats
together. A chat without room gets no draft. Engine thread only.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from app.engine.batch import Batch
from app.engine.cells.prefix import common_prefix
from app.protocol.load import MAX_DRAFTED_TOKENS
from app.system.said import said

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.backend import Backend, Heads
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


class DraftSource(ABC):
    most = MAX_DRAFTED_TOKENS  # for one answer in one step

    def __init__(self, backend: Backend, likeliest: Callable[[int], tuple[int, float]]) -> None:
        self._backend, self._likeliest, self._capacity = backend, likeliest, backend.model.n_batch
        self._read_ms = 0.0  # a token

    @abstractmethod
    def farewell(self, reason: str) -> str:
        """What is told when it is switched off."""

    def propose(self, wanted: dict[Sequence, int], read_ms: float) -> Draft:
        """Drafts up to so many tokens for each answer; with 0, only its cells are kept.

        Spends about `read_ms` on text that it has not read yet. Raises EngineError or BadLogitsError when it
        cannot go on, DecodeInterruptedError when it need not.
        """
        fitting = self._fitting(wanted)
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
                token_id, probability = self._likeliest(row)
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
        left = min(max(left, FEW), self._capacity)
        parts: dict[Sequence, list[int]] = {}
        for seq in sorted(unread, key=self._num_missing):
            if part := self._missing(seq)[:-1][:left]:  # the last one is for the decode that has logits
                parts[seq] = part
                left -= len(part)
        if not parts:
            return
        started = time.perf_counter()
        self._prefill(parts)
        self._read_ms = (time.perf_counter() - started) * 1000 / sum(map(len, parts.values()))

    def _ready(self, fitting: list[Sequence]) -> list[Sequence]:
        """The chats with few missing tokens, as many as fit into one batch."""
        ready: list[Sequence] = []
        num_rows = 0
        for seq in fitting:
            num_missing = self._num_missing(seq)
            if num_missing <= FEW and num_rows + num_missing <= self._capacity:
                ready.append(seq)
                num_rows += num_missing
        return ready

    def _missing(self, seq: Sequence) -> list[int]:
        return seq.token_ids[self._num_held(seq) :]

    def _num_missing(self, seq: Sequence) -> int:
        return len(seq.token_ids) - self._num_held(seq)

    @abstractmethod
    def _fitting(self, wanted: dict[Sequence, int]) -> list[Sequence]:
        """The chats for which it can draft, the first ones first. Drops what it holds of others."""

    @abstractmethod
    def _num_held(self, seq: Sequence) -> int: ...

    @abstractmethod
    def _prefill(self, new: dict[Sequence, list[int]]) -> None: ...

    @abstractmethod
    def _decode(self, new: dict[Sequence, list[int]]) -> dict[Sequence, int]:
        """Compute these tokens after the held ones. Returns the row of each last token, which has logits."""


class DraftHeads(DraftSource):
    """The model's own heads. What they hold changes with the cells of the model itself."""

    def __init__(self, backend: Backend, heads: Heads) -> None:
        super().__init__(backend, heads.likeliest)
        self._heads = heads
        if heads.num_in_chain > 1:
            self.most = min(heads.num_in_chain, self._capacity // backend.model.n_seq_max)

    def farewell(self, reason: str) -> str:
        return said("The heads of the model have been switched off. {reason}", reason=reason)

    def propose(self, wanted: dict[Sequence, int], read_ms: float) -> Draft:
        try:
            return super().propose(wanted, read_ms)
        finally:
            self._heads.drop_guesses(map(_seq_id, wanted))

    def _fitting(self, wanted: dict[Sequence, int]) -> list[Sequence]:
        return sorted((seq for seq, number in wanted.items() if number), key=self._num_missing)

    def _num_held(self, seq: Sequence) -> int:
        return self._heads.num_held(_seq_id(seq))

    def _prefill(self, new: dict[Sequence, list[int]]) -> None:
        self._heads.read({_seq_id(seq): token_ids for seq, token_ids in new.items()})

    def _decode(self, new: dict[Sequence, list[int]]) -> dict[Sequence, int]:
        if known := {seq: token_ids[:-1] for seq, token_ids in new.items() if len(token_ids) > 1}:
            self._prefill(known)
        rows = self._heads.guess({_seq_id(seq): token_ids[-1] for seq, token_ids in new.items()})
        return {seq: rows[_seq_id(seq)] for seq in new}


class DraftModel(DraftSource):
    """A small model of the same vocabulary, with a context of its own."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, backend.likeliest)
        self._model = backend.model
        self._batch = Batch(backend.model.n_batch)
        # The tokens in its cells, by the seq_id of the large model's slot, least recently used first.
        self._held: dict[int, list[int]] = {seq_id: [] for seq_id in range(backend.model.n_seq_max)}
        for seq_id in self._held:
            self._truncate(seq_id, 0)  # left by a former engine

    def farewell(self, reason: str) -> str:
        name = self._model.name
        return said("The draft model {name} has been switched off. {reason}", name=name, reason=reason)

    def _fitting(self, wanted: dict[Sequence, int]) -> list[Sequence]:
        for seq in wanted:
            self._drop_what_differs(seq)
        return self._with_room(wanted)

    def _num_held(self, seq: Sequence) -> int:
        return len(self._held[_seq_id(seq)])

    def _prefill(self, new: dict[Sequence, list[int]]) -> None:
        self._decode(new)

    def _decode(self, new: dict[Sequence, list[int]]) -> dict[Sequence, int]:
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


def _seq_id(seq: Sequence) -> int:
    assert seq.slot is not None
    return seq.slot.seq_id
