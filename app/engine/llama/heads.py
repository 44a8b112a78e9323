"""The heads with which a model drafts for itself: the NextN blocks of its file, which llama.cpp calls MTP.

A head makes the next token but one out of a token and the hidden row of the token before it, in a second
context on the same weights. Its cells follow those of the main context call by call, and hidden rows wait
here until it reads them. Where rows are lost it goes on with less: its tokens are only proposals.
The engine thread only, but for `interrupt` and `resume`. As llama.cpp does it in common/speculative.cpp.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from app.engine.batch import Batch
from app.engine.llama.logits import Logits
from app.engine.llama.native_batch import NativeBatch
from app.engine.llama.native_library import AbortFlag, Native, OwningThread, failed_step
from app.protocol.errors import DecodeInterruptedError

if TYPE_CHECKING:
    from app.protocol.model import ModelInfo

    Row = npt.NDArray[np.float32]

MOST_BATCHES = 4  # so many batches of hidden rows wait at most, of all sequences together
FLOATS = ctypes.POINTER(ctypes.c_float)


class LlamaHeads:
    """The second context, and the hidden rows that it has not read yet."""

    def __init__(
        self, model: Native, main: Native, context: Native, native: ModuleType, info: ModelInfo
    ) -> None:
        """`native` has the functions for hidden rows, `info` is of the main context."""
        self._main, self._context, self._lib = main, context, native
        self._main_memory, self._memory = (lib.llama_get_memory(one.pointer) for one in (main, context))
        self.num_in_chain = int(lib.llama_model_n_layer_nextn(model.pointer))
        self._batch = Batch(info.n_batch)
        self._native_batch = NativeBatch(self._batch)
        self._native = self._native_batch.native
        self._rows = np.zeros((info.n_batch, lib.llama_model_n_embd_out(model.pointer)), np.float32)
        self._native.embd = self._rows.ctypes.data_as(FLOATS)
        self._waiting: defaultdict[int, list[Row]] = defaultdict(list)  # by seq_id, up to its last position
        self._guessed: defaultdict[int, list[tuple[int, Row]]] = defaultdict(list)  # tokens behind that
        self._abort_flag = AbortFlag(context)
        self._logits = Logits(context, info.n_vocab, OwningThread().check)
        native.llama_set_embeddings_nextn(main.pointer, True, False)  # of every row
        native.llama_set_embeddings_nextn(context.pointer, True, True)  # of rows with logits

    # Any thread.

    def interrupt(self) -> None:
        self._abort_flag.set()

    def resume(self) -> None:
        self._abort_flag.clear()

    # The engine thread only: what happens to the main context.

    def note_decoded(self, batch: Batch, code: int) -> None:
        """What `llama_decode` has returned for it."""
        if code or batch.media:
            for span in batch.spans:
                self._waiting[span.seq_id].clear()
            return
        rows = self._copied(self._lib.llama_get_embeddings_nextn(self._main.pointer), batch.num_rows)
        for span in batch.spans:
            self._waiting[span.seq_id] += [*rows[span.first_row : span.first_row + span.num_rows]]
        while (excess := sum(map(len, self._waiting.values())) - MOST_BATCHES * len(self._rows)) > 0:
            del max(self._waiting.values(), key=len)[:excess]

    def note_cut(self, seq_id: int, before: int) -> None:
        """The last positions of a sequence were dropped; `before` was its last one."""
        last, waiting = self._last_position(seq_id), self._waiting[seq_id]
        del waiting[max(len(waiting) - (before - last), 0) if last >= 0 else 0 :]
        self._cut(seq_id, last + 1)

    def note_shared(self, source: int, target: int, end: int) -> None:
        lib.llama_memory_seq_cp(self._memory, source, target, 0, end)
        waiting, num_behind = self._waiting[source], self._last_position(source) + 1 - end
        self._waiting[target] = waiting[: max(len(waiting) - num_behind, 0)]

    def forget(self, seq_id: int) -> None:
        self._waiting[seq_id].clear()
        self._cut(seq_id, 0)

    # Reading and drafting.

    def num_held(self, seq_id: int) -> int:
        """The first position to read. Cells before a gap are dropped: positions must follow each other."""
        num_held = int(lib.llama_memory_seq_pos_max(self._memory, seq_id)) + 1
        first = self._first_waiting(seq_id)
        if num_held < first:
            self._cut(seq_id, 0)
        return max(num_held, first)

    def read(self, new: Mapping[int, list[int]]) -> None:
        """Compute the next tokens, by seq_id, that the main context has computed.

        Raises DecodeInterruptedError or DecodeError.
        """
        parts = {seq_id: (self.num_held(seq_id), token_ids) for seq_id, token_ids in new.items()}
        for head in range(self.num_in_chain):
            self._decode(parts, head)
        for seq_id in new:
            num_read = self.num_held(seq_id) - 1 - self._first_waiting(seq_id)
            del self._waiting[seq_id][: max(num_read, 0)]  # the next token goes with the last row

    def guess(self, new: Mapping[int, int]) -> dict[int, int]:
        """Compute one more token of each sequence. Returns, by seq_id, the row of the batch with its logits.

        The first one follows all that the main context has computed. Raises as `read`.
        """
        depth, parts = 0, dict[int, tuple[int, list[int]]]()
        for seq_id, token_id in new.items():
            guessed, first = self._guessed[seq_id], self._last_position(seq_id) + 1
            depth = len(guessed)
            if self.num_in_chain > 1:  # each head has cells of its own, and needs all tokens of the draft
                parts[seq_id] = first, [*(token for token, _ in guessed), token_id]
            else:
                parts[seq_id] = first + depth, [token_id]
        rows = self._decode(parts, depth if self.num_in_chain > 1 else 0, wants_logits=True)
        self._logits.note_decoded([*rows.values()])
        for seq_id, row in rows.items():
            hidden = self._copied(self._lib.llama_get_embeddings_nextn_ith(self._context.pointer, row), 1)
            self._guessed[seq_id].append((new[seq_id], hidden[0]))
        return rows

    def likeliest(self, row: int) -> tuple[int, float]:
        return self._logits.likeliest(row)

    def drop_guesses(self, seq_ids: Iterable[int]) -> None:
        for seq_id in seq_ids:
            self._cut(seq_id, self._last_position(seq_id) + 1)

    def _decode(
        self, parts: Mapping[int, tuple[int, list[int]]], head: int, *, wants_logits: bool = False
    ) -> dict[int, int]:
        """Tokens of each sequence from a position on. Returns the last row of each."""
        batch, last_rows, row = self._batch, dict[int, int](), 0
        for seq_id, (first, token_ids) in sorted(parts.items()):
            lib.llama_memory_seq_rm(self._memory, seq_id, first, -1)  # of another head in the chain
            for position, token_id in enumerate(token_ids, first):
                batch.token_ids[row], batch.positions[row] = token_id, position
                batch.seq_ids[row], batch.wants_logits[row] = seq_id, False
                self._rows[row] = self._hidden_row(seq_id, position - 1)
                last_rows[seq_id], row = row, row + 1
            batch.wants_logits[row - 1] = wants_logits
        self._native.n_tokens = row
        self._logits.forget()
        self._lib.llama_set_nextn_layer_offset(self._context.pointer, head)
        code = lib.llama_decode(self._context.pointer, self._native)
        if code in (1, 2):
            raise DecodeInterruptedError("the heads were interrupted, or have no room")
        if code:
            raise failed_step(code)
        return last_rows

    def _hidden_row(self, seq_id: int, position: int) -> Row | float:
        """Zeros for one that is lost, as before the first token."""
        waiting, at = self._waiting[seq_id], position - self._first_waiting(seq_id)
        if at < 0:
            return 0.0
        return waiting[at] if at < len(waiting) else self._guessed[seq_id][at - len(waiting)][1]

    def _copied(self, pointer: ctypes._Pointer[ctypes.c_float], num_rows: int) -> Row:
        copied = ctypes.string_at(pointer, num_rows * self._rows[0].nbytes)
        return np.frombuffer(copied, np.float32).reshape(num_rows, -1)

    def _cut(self, seq_id: int, end: int) -> None:
        lib.llama_memory_seq_rm(self._memory, seq_id, end, -1)
        self._guessed.pop(seq_id, None)

    def _first_waiting(self, seq_id: int) -> int:
        return self._last_position(seq_id) + 1 - len(self._waiting[seq_id])

    def _last_position(self, seq_id: int) -> int:
        return int(lib.llama_memory_seq_pos_max(self._main_memory, seq_id))
