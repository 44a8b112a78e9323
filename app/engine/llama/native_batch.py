"""A batch as llama.cpp takes it. The engine thread only."""

from __future__ import annotations

import ctypes

import llama_cpp as lib

from app.engine.batch import Batch


class NativeBatch:
    """A `llama_batch` over the arrays of a `Batch`: nothing to copy or free, one sequence a row."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        int_array = ctypes.c_int32 * batch.capacity
        seq_ids = int_array.from_buffer(batch.seq_ids)
        first = ctypes.addressof(seq_ids)
        pointers = (ctypes.c_void_p * batch.capacity)(
            *range(first, first + ctypes.sizeof(seq_ids), ctypes.sizeof(ctypes.c_int32))
        )
        num_seq_ids = int_array(*[1] * batch.capacity)
        wants_logits = (ctypes.c_int8 * batch.capacity).from_buffer(batch.wants_logits)
        self._kept = pointers, num_seq_ids
        self.native = lib.llama_batch(
            n_tokens=0,
            token=_pointer(int_array.from_buffer(batch.token_ids)),
            embd=None,
            pos=_pointer(int_array.from_buffer(batch.positions)),
            n_seq_id=_pointer(num_seq_ids),
            seq_id=ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
            logits=ctypes.cast(wants_logits, ctypes.POINTER(ctypes.c_int8)),
        )


def _pointer(array: ctypes.Array[ctypes.c_int32]) -> object:
    return ctypes.cast(array, ctypes.POINTER(ctypes.c_int32))
