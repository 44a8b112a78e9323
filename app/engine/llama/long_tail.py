"""Whether a model file goes on long after its weights: mapped, all of it would be read into memory."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from llama_cpp.llama_cpp import _lib

from app.engine.llama.mapped_files import parts_of

MAX_TAIL_BYTES = 1 << 30


class _InitParams(ctypes.Structure):
    """gguf_init_params"""

    _fields_ = (("no_alloc", ctypes.c_bool), ("context", ctypes.c_void_p))


def has_long_tail(path: Path) -> bool:
    """Of any of its parts. Raises OSError."""
    return any(
        part.stat().st_size > MAX_TAIL_BYTES and _tail_bytes(part) > MAX_TAIL_BYTES for part in parts_of(path)
    )


def _tail_bytes(path: Path) -> int:
    """0 where the library cannot read it: it says so when it is loaded."""
    _declare()
    header = _lib.gguf_init_from_file(os.fsencode(path), _InitParams(no_alloc=True))
    if not header:
        return 0
    try:
        return path.stat().st_size - _weights_end(ctypes.c_void_p(header))
    finally:
        _lib.gguf_free(ctypes.c_void_p(header))


def _weights_end(header: ctypes.c_void_p) -> int:
    numbers = map(ctypes.c_int64, range(_lib.gguf_get_n_tensors(header)))
    ends = (_lib.gguf_get_tensor_offset(header, n) + _lib.gguf_get_tensor_size(header, n) for n in numbers)
    return int(_lib.gguf_get_data_offset(header)) + max(ends, default=0)


def _declare() -> None:
    _lib.gguf_init_from_file.argtypes = (ctypes.c_char_p, _InitParams)
    _lib.gguf_init_from_file.restype = ctypes.c_void_p
    _lib.gguf_free.restype = None
    _lib.gguf_get_n_tensors.restype = ctypes.c_int64
    for name in ("gguf_get_tensor_offset", "gguf_get_tensor_size", "gguf_get_data_offset"):
        getattr(_lib, name).restype = ctypes.c_size_t
