"""Reads what llama.cpp's KV cells really hold from the head of a saved state.

The library has no call for it, but a state begins with every cell's position and holders, and a buffer that
ends there avoids copying tensors. Engine thread only.

The format is that of `llama_kv_cache::state_write`, in words of 4 bytes: the number of streams; for each
stream the number of its cells, then for each cell its position, the number of its holders, `num_extra` words,
and the holders. An empty stream ends there; any other is followed by its tensors.
"""

from __future__ import annotations

import ctypes

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from app.engine.backend import UsedCells
from app.engine.cells.ledger import num_words, words_and_bits
from app.engine.llama.native_library import Native
from app.protocol.errors import PositionMismatchError
from app.protocol.model import ModelInfo

M_ROPE_TYPES = (8, 40)  # LLAMA_ROPE_TYPE_MROPE, _IMROPE: each cell has two more positions and a token id
MAX_HEADER_BYTES = 128  # a whole state begins with the architecture's name
SEQUENCE_HEADER_BYTES = 8  # a magic number and the seq_id
UNWRITTEN = -1  # no count is negative

Words = npt.NDArray[np.int32]


class CellReader:
    """Reads every used cell of one context."""

    def __init__(self, model: Native, context: Native, info: ModelInfo) -> None:
        self._context = context
        self._memory = lib.llama_get_memory(context.pointer)
        self._n_ctx, self._n_seq_max = info.n_ctx, info.n_seq_max
        self._num_streams = 1 if info.is_unified else info.n_seq_max
        self._num_extra = 3 if lib.llama_model_rope_type(model.pointer) in M_ROPE_TYPES else 0
        # A recurrent memory writes down another format.
        self._has_cells = _empty_streams(context, self._num_streams)

    def read(self) -> UsedCells | None:
        """All used cells in the library's order; None for memory without a cell for each token."""
        if not self._has_cells:
            return None
        if self._num_streams == 1:
            return self._read(None, sum(map(self._num_tokens, range(self._n_seq_max))))
        # Between the streams of the whole state lie tensors, so each sequence is read alone.
        sequences = [self._read(seq_id, self._num_tokens(seq_id)) for seq_id in range(self._n_seq_max)]
        return joined(sequences)

    def is_plausible(self, state: npt.NDArray[np.uint8]) -> bool:
        """Whether the head of a sequence's state names each position from 0 on once.

        The library takes any position, and cells at negative ones could never be cleared again. Cells of a
        picture may share one: `SlotMemory` compares them with its tokens.
        """
        words = np.frombuffer(state, np.int32, state.size // 4)[SEQUENCE_HEADER_BYTES // 4 :]
        if words.size < 2:
            return False
        if not self._has_cells:
            return bool(words[1] >= 0)
        if words[0] != self._num_streams:
            return False
        positions = read_positions(words, self._num_extra)
        if positions is None or not positions.size:
            return positions is not None
        if self._num_extra:
            return int(positions.min()) == 0
        return np.array_equal(np.sort(positions), np.arange(positions.size))

    def positions_in(self, state: npt.NDArray[np.uint8]) -> Words | None:
        """The positions in a plausible sequence's state, in its order."""
        if not self._has_cells:
            return None
        words = np.frombuffer(state, np.int32, state.size // 4)[SEQUENCE_HEADER_BYTES // 4 :]
        positions = read_positions(words, self._num_extra)
        assert positions is not None, "a state that was restored is plausible"
        return positions

    def _num_tokens(self, seq_id: int) -> int:
        return int(lib.llama_memory_seq_pos_max(self._memory, seq_id)) + 1

    def _read(self, seq_id: int | None, num_expected: int) -> UsedCells:
        """With a buffer for the expected cells; larger ones are needed only if there are more."""
        size = 1 + self._num_streams + num_expected * (3 + self._num_extra)
        most = 1 + self._num_streams + self._n_ctx * (2 + self._num_extra + self._n_seq_max)
        while size <= 2 * most:
            words = _state(self._context, seq_id, size)[1]
            cells = read_cells(words, self._num_extra, self._n_seq_max)
            if cells is not None:
                return cells
            size *= 2
        raise PositionMismatchError("llama.cpp's account of its KV cells is not as expected.")


def has_one_kind_of_cells(context: Native, num_streams: int) -> bool:
    """Whether a fresh context's memory is nothing but cells of one token each. No model flag shows it."""
    header_bytes, _ = _state(context, None, 1)
    num_bytes = header_bytes + 4 * (1 + num_streams)
    return _empty_streams(context, num_streams) and lib.llama_state_get_size(context.pointer) == num_bytes


def read_cells(words: Words, num_extra: int, n_seq_max: int) -> UsedCells | None:
    """The cells of the first stream that has any; None if the words end before they do."""
    left, words = _first_stream(words)
    runs = [UsedCells(np.zeros(0, np.int32), np.zeros((0, num_words(n_seq_max)), np.uint64))]
    while left:
        run = _run_of_cells(words, num_extra, left)
        if run is None:
            return None
        runs.append(UsedCells(run[:, 0], _holders(run[:, 2 + num_extra :], n_seq_max)))
        left -= len(run)
        words = words[run.size :]
    return joined(runs)


def read_positions(words: Words, num_extra: int) -> Words | None:
    """The positions of a single sequence's cells; None if the words end before they do."""
    num_cells, words = _first_stream(words)
    width = 3 + num_extra
    if not 0 <= num_cells * width <= words.size:
        return None
    rows = words[: num_cells * width].reshape(num_cells, width)
    return rows[:, 0] if (rows[:, 1] == 1).all() else None


def _first_stream(words: Words) -> tuple[int, Words]:
    """How many cells the first stream has that is not empty, and the words from there on."""
    num_streams = int(words[0])
    filled = np.flatnonzero(words[1 : 1 + num_streams])
    if not filled.size:
        return 0, words[:0]
    at = 1 + int(filled[0])
    return int(words[at]), words[at + 1 :]


def joined(parts: list[UsedCells]) -> UsedCells:
    if not parts:
        return UsedCells(np.zeros(0, np.int32), np.zeros((0, 1), np.uint64))
    return UsedCells(
        np.concatenate([part.pos for part in parts]), np.concatenate([part.holders for part in parts])
    )


def _holders(seq_ids: Words, n_seq_max: int) -> npt.NDArray[np.uint64]:
    """One bit for each of the ids in a row."""
    word_of, bit_of = words_and_bits(n_seq_max)
    holders = np.zeros((len(seq_ids), num_words(n_seq_max)), np.uint64)
    for column in seq_ids.T:
        holders[np.arange(len(column)), word_of[column]] |= bit_of[column]
    return holders


def _run_of_cells(words: Words, num_extra: int, num_cells: int) -> Words | None:
    """One row for each of the next cells that have equally many holders; None if not one is complete."""
    if words.size < 2 or words[1] < 1 or num_cells < 0:
        return None
    num_holders = int(words[1])
    width = 2 + num_extra + num_holders
    num_rows = min(num_cells, words.size // width)
    rows = words[: num_rows * width].reshape(num_rows, width)
    others = np.flatnonzero(rows[:, 1] != num_holders)
    rows = rows[: others[0]] if others.size else rows
    return None if not rows.size or (rows[:, 2 + num_extra :] == UNWRITTEN).any() else rows


def _empty_streams(context: Native, num_streams: int) -> bool:
    """Whether a fresh context's state is, or begins with, that many streams without cells."""
    _, words = _state(context, None, 1 + num_streams)
    return bool(words.tolist() == [num_streams] + [0] * num_streams)


def _state(context: Native, seq_id: int | None, num_words: int) -> tuple[int, Words]:
    """The first words of the whole state or of one sequence's, and the size of the header before them."""
    data = np.full(MAX_HEADER_BYTES + 4 * num_words, UNWRITTEN, np.int8)
    pointer = data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
    if seq_id is None:
        lib.llama_state_get_data(context.pointer, pointer, data.size)
        header_bytes = 4 + int(data[:4].view(np.uint32)[0])
    else:
        lib.llama_state_seq_get_data(context.pointer, pointer, data.size, seq_id)
        header_bytes = SEQUENCE_HEADER_BYTES
    assert header_bytes <= MAX_HEADER_BYTES
    return header_bytes, np.frombuffer(data, np.int32, num_words, header_bytes)
