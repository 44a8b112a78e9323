"""The heads with which a model drafts for itself: the NextN blocks of its file, which llama.cpp calls MTP.

A head makes the next token but one out of a token and the hidden row of the token before it, in a second
context on the same weights. Its cells follow those of the main context call by call, and hidden rows wait
here until it reads them. Where rows are lost, a head goes on with less: its tokens are only proposals.
The engine thread only, but for `interrupt` and `resume`. As llama.cpp does it in common/speculative.cpp.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import ModuleType

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from app.engine.batch import Batch
from app.engine.llama.logits import Logits
from app.engine.llama.native_batch import NativeBatch
from app.engine.llama.native_library import AbortFlag, Native, OwningThread, failed_step
from app.protocol.errors import DecodeInterruptedError, EngineError
from app.protocol.model import ModelInfo

Rows = list[tuple[int, npt.NDArray[np.float32]]]  # tokens, and the hidden row of each

FLOATS = ctypes.POINTER(ctypes.c_float)
MOST_BATCHES = 4  # so many batches of hidden rows wait at most, of all sequences together
LONG_UNUSED = 1000  # steps without a draft, after which rows beyond those are dropped instead of read


class LlamaHeads:
    """The second context, and what it has not read yet."""

    def __init__(
        self, model: Native, main: Native, context: Native, native: ModuleType, info: ModelInfo, number: int
    ) -> None:
        """`native` has the functions for hidden rows, `info` is the main context's."""
        self._main, self._context, self._lib = main, context, native
        self._main_memory, self._memory = (lib.llama_get_memory(one.pointer) for one in (main, context))
        self.num_in_chain = number  # heads, each for one further token; 1: the same one makes them all
        self._n_embd = int(lib.llama_model_n_embd_out(model.pointer))
        self._batch = Batch(info.n_batch)
        self._native_batch = NativeBatch(self._batch)
        self._hidden_rows = np.zeros((info.n_batch, self._n_embd), np.float32)  # those of the batch
        self._native_batch.native.embd = self._hidden_rows.ctypes.data_as(FLOATS)
        self._no_row = np.zeros(self._n_embd, np.float32)
        self._first_positions: dict[int, int] = {}  # in the batch, by seq_id
        self._waiting: defaultdict[int, Rows] = defaultdict(list)  # by seq_id, up to its last position
        self._guessed: defaultdict[int, Rows] = defaultdict(list)  # behind that
        self._most_waiting = MOST_BATCHES * info.n_batch
        self._num_unused = 0
        self._abort_flag = AbortFlag(context)
        self._logits = Logits(context, info.n_vocab, OwningThread().check)
        native.llama_set_embeddings_nextn(main.pointer, True, False)  # of every row
        native.llama_set_embeddings_nextn(context.pointer, True, True)  # of rows with logits

    @property
    def rows_bytes(self) -> int:
        """What hidden rows take at most: those that wait, and those of the last decode."""
        return (MOST_BATCHES + 1) * self._hidden_rows.nbytes

    # Any thread.

    def interrupt(self) -> None:
        self._abort_flag.set()

    def resume(self) -> None:
        self._abort_flag.clear()

    # The engine thread only: what happens to the main context.

    def note_decoded(self, batch: Batch) -> None:
        """All rows of `batch` were computed: keep their hidden rows."""
        pointer = self._lib.llama_get_embeddings_nextn(self._main.pointer)
        if batch.media or not pointer:
            self.note_lost(batch)
            return
        copied = ctypes.string_at(pointer, batch.num_rows * self._no_row.nbytes)
        rows = np.frombuffer(copied, np.float32).reshape(batch.num_rows, self._n_embd)
        for span in batch.spans:
            part = slice(span.first_row, span.first_row + span.num_rows)
            self._waiting[span.seq_id].extend(zip(batch.token_ids[part], rows[part], strict=True))
        self._num_unused += 1
        self._make_room()

    def note_lost(self, batch: Batch) -> None:
        """Some rows of `batch` may be in the main context, and their hidden rows are unknown."""
        for span in batch.spans:
            self._waiting.pop(span.seq_id, None)

    def note_cut(self, seq_id: int, before: int) -> None:
        """The main context dropped the last positions of a sequence; `before` was its last one."""
        last, waiting = self._last_position(seq_id), self._waiting[seq_id]
        num_left = len(waiting) - (before - last) if last >= 0 else 0
        del waiting[max(num_left, 0) :]
        self._cut(seq_id, last + 1)

    def note_shared(self, source: int, target: int, end: int) -> None:
        lib.llama_memory_seq_cp(self._memory, source, target, 0, end)
        num_behind = self._last_position(source) + 1 - end
        waiting = self._waiting[source]
        self._waiting[target] = waiting[: max(len(waiting) - num_behind, 0)]

    def note_shifted(self, seq_id: int, start: int, end: int, before: int) -> None:
        """The main context dropped positions start … end - 1, and moved those behind them down."""
        if before + 1 - len(self._waiting[seq_id]) < end:
            self._waiting[seq_id].clear()
        if lib.llama_memory_can_shift(self._memory):
            lib.llama_memory_seq_rm(self._memory, seq_id, start, end)
            lib.llama_memory_seq_add(self._memory, seq_id, end, -1, start - end)
        else:
            self._cut(seq_id, 0)

    def forget_all(self) -> None:
        lib.llama_memory_clear(self._memory, False)
        self._waiting.clear()

    def give_up(self) -> None:
        """They failed: hidden rows are no longer computed for them."""
        self._lib.llama_set_embeddings_nextn(self._main.pointer, False, False)
        self.forget_all()

    # Reading and drafting.

    def can_guess(self, seq_id: int) -> bool:
        """The hidden row of its last token is known."""
        return bool(self._waiting[seq_id])

    def num_held(self, seq_id: int) -> int:
        """The first position to read. Cells before a gap are dropped: positions must follow each other."""
        num_held = int(lib.llama_memory_seq_pos_max(self._memory, seq_id)) + 1
        first = self._first_waiting(seq_id)
        if num_held < first:
            self._cut(seq_id, 0)
        return max(num_held, first)

    def read(self, new: Mapping[int, list[int]]) -> None:
        """Compute, by seq_id, the next tokens that the main context has computed.

        Raises DecodeInterruptedError or DecodeError.
        """
        self._fill({seq_id: (self.num_held(seq_id), token_ids) for seq_id, token_ids in new.items()})
        for head in range(self.num_in_chain):
            self._decode(head)
        for seq_id in new:
            num_read = self.num_held(seq_id) - 1 - self._first_waiting(seq_id)
            del self._waiting[seq_id][: max(num_read, 0)]  # the next one goes with the last row

    def guess(self, new: Mapping[int, int]) -> dict[int, int]:
        """Compute one more token of each sequence. Returns, by seq_id, the row of the batch with its logits.

        The first one follows all that the main context has computed. Raises as `read`.
        """
        self._num_unused = 0
        depth = max(len(self._guessed[seq_id]) for seq_id in new)
        parts = {}
        for seq_id, token_id in new.items():
            begun = [token for token, _ in self._guessed[seq_id]] if self.num_in_chain > 1 else []
            parts[seq_id] = self._last_position(seq_id) + 1 + depth - len(begun), [*begun, token_id]
        rows = self._fill(parts)
        for row in rows.values():
            self._batch.wants_logits[row] = 1
        self._decode(depth if self.num_in_chain > 1 else 0)
        self._logits.note_decoded([*rows.values()])
        for seq_id, row in rows.items():
            pointer = self._lib.llama_get_embeddings_nextn_ith(self._context.pointer, row)
            hidden = np.frombuffer(ctypes.string_at(pointer, self._no_row.nbytes), np.float32)
            self._guessed[seq_id].append((new[seq_id], hidden))
        return rows

    def likeliest(self, row: int) -> tuple[int, float]:
        return self._logits.likeliest(row)

    def drop_guesses(self, seq_ids: Iterable[int]) -> None:
        for seq_id in seq_ids:
            self._cut(seq_id, self._last_position(seq_id) + 1)

    def _make_room(self) -> None:
        """Read rows chunk by chunk as there become too many, or drop the oldest if nobody drafts."""
        while (excess := sum(map(len, self._waiting.values())) - self._most_waiting) > 0:
            seq_id = max(self._waiting, key=lambda seq_id: len(self._waiting[seq_id]))
            waiting = self._waiting[seq_id]
            if self._num_unused > LONG_UNUSED:
                del waiting[:excess]
                continue
            at = self.num_held(seq_id) - self._first_waiting(seq_id)
            try:
                self.read({seq_id: [token for token, _ in waiting[at : at + self._batch.capacity]]})
            except EngineError:
                waiting.clear()

    def _fill(self, parts: Mapping[int, tuple[int, list[int]]]) -> dict[int, int]:
        """Put tokens into the batch, of each sequence from a position on. Returns the last row of each."""
        batch, last_rows, row = self._batch, {}, 0
        self._first_positions = {seq_id: first for seq_id, (first, _) in parts.items()}
        for seq_id, (first, token_ids) in sorted(parts.items()):
            for position, token_id in enumerate(token_ids, first):
                batch.token_ids[row], batch.positions[row] = token_id, position
                batch.seq_ids[row], batch.wants_logits[row] = seq_id, 0
                self._hidden_rows[row] = self._hidden_row(seq_id, position - 1)
                last_rows[seq_id], row = row, row + 1
        self._native_batch.native.n_tokens = batch.num_rows = row
        return last_rows

    def _hidden_row(self, seq_id: int, position: int) -> npt.NDArray[np.float32]:
        """Zeros for one that is lost, as before the first token."""
        waiting = self._waiting[seq_id]
        at = position - self._first_waiting(seq_id)
        if at < 0:
            return self._no_row
        return waiting[at][1] if at < len(waiting) else self._guessed[seq_id][at - len(waiting)][1]

    def _decode(self, head: int) -> None:
        if self.num_in_chain > 1:  # each has cells of its own, of the same positions
            for seq_id, first in self._first_positions.items():
                lib.llama_memory_seq_rm(self._memory, seq_id, first, -1)
            self._lib.llama_set_nextn_layer_offset(self._context.pointer, head)
        self._logits.forget()
        code = lib.llama_decode(self._context.pointer, self._native_batch.native)
        if code in (1, 2):
            raise DecodeInterruptedError("the heads were interrupted, or have no room")
        if code:
            raise failed_step(code)

    def _cut(self, seq_id: int, end: int) -> None:
        lib.llama_memory_seq_rm(self._memory, seq_id, end, -1)
        self._guessed.pop(seq_id, None)

    def _first_waiting(self, seq_id: int) -> int:
        return self._last_position(seq_id) + 1 - len(self._waiting[seq_id])

    def _last_position(self, seq_id: int) -> int:
        return int(lib.llama_memory_seq_pos_max(self._main_memory, seq_id))
