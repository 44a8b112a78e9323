"""Single operations of ggml's CPU backend, on arrays, with any number of threads."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt
from gguf import GGMLQuantizationType as Type
from llama_cpp.llama_cpp import _lib

from app.engine.llama.native_library import library

Floats = npt.NDArray[np.float32]
MEMORY_BYTES = 64 << 20
CPU = 0  # of enum ggml_backend_dev_type


class _InitParams(ctypes.Structure):
    _fields_ = (
        ("mem_size", ctypes.c_size_t),
        ("mem_buffer", ctypes.c_void_p),
        ("no_alloc", ctypes.c_bool),
    )


def stored(values: Floats, kind: Type) -> npt.NDArray[Any]:
    """As a KV cache of this type holds them, by rows of the last axis."""
    return values.astype(np.float16) if kind == Type.F16 else gguf.quants.quantize(values, kind)


def read_back(values: npt.NDArray[Any], kind: Type) -> Floats:
    return values.astype(np.float32) if kind == Type.F16 else gguf.quants.dequantize(values, kind)


def flash_attention(
    q: Floats,
    k: npt.NDArray[Any],
    v: npt.NDArray[Any],
    sees: npt.NDArray[np.bool_],
    kind: Type,
    num_threads: int,
    sinks: Floats | None = None,
) -> Floats:
    """Shapes: q (heads, rows, size), k and v (KV heads, cells, stored size), sees (rows, cells), sinks
    (heads,).

    Returns (rows, heads, size).
    """
    mask = np.where(sees, np.float16(0), np.float16(-np.inf))
    scale = 1 / np.sqrt(q.shape[-1])
    with _context() as context:
        inputs = [context.tensor(Type.F32, q), context.tensor(kind, k), context.tensor(kind, v)]
        inputs.append(context.tensor(Type.F16, mask))
        result = context.call("ggml_flash_attn_ext", *inputs, *map(ctypes.c_float, (scale, 0, 0)))
        if sinks is not None:
            _lib.ggml_flash_attn_ext_add_sinks(result, context.tensor(Type.F32, sinks[None]))
        context.compute(result, num_threads)
        return context.floats(result, (q.shape[1], q.shape[0], q.shape[2]))


class _Context:
    def __init__(self) -> None:
        library()
        self._pointer = _pointer("ggml_init", _InitParams(MEMORY_BYTES, None, False))

    def free(self) -> None:
        _lib.ggml_free(self._pointer)

    def call(self, function: str, *arguments: object) -> ctypes.c_void_p:
        return _pointer(function, self._pointer, *arguments)

    def tensor(self, kind: Type, values: npt.NDArray[Any]) -> ctypes.c_void_p:
        """Its last axis is ggml's first one."""
        values = np.ascontiguousarray(values)
        block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
        width = values[0].nbytes // int(np.prod(values.shape[1:-1])) // block_bytes * block
        sizes = [width, *values.shape[-2::-1], 1, 1][:4]
        tensor = self.call("ggml_new_tensor_4d", ctypes.c_int(kind), *map(ctypes.c_int64, sizes))
        ctypes.memmove(_pointer("ggml_get_data", tensor), values.ctypes.data, values.nbytes)
        return tensor

    def floats(self, tensor: ctypes.c_void_p, shape: tuple[int, ...]) -> Floats:
        data = ctypes.cast(_pointer("ggml_get_data", tensor), ctypes.POINTER(ctypes.c_float))
        return np.ctypeslib.as_array(data, shape).copy()

    def compute(self, result: ctypes.c_void_p, num_threads: int) -> None:
        graph = self.call("ggml_new_graph")
        _lib.ggml_build_forward_expand(graph, result)
        device = _pointer("ggml_backend_dev_by_type", ctypes.c_int(CPU))
        backend = _pointer("ggml_backend_dev_init", device, None)
        name = b"ggml_backend_set_n_threads"
        set_threads = _pointer(
            "ggml_backend_reg_get_proc_address", _pointer("ggml_backend_dev_backend_reg", device), name
        )
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)(set_threads.value)(backend, num_threads)
        code = _lib.ggml_backend_graph_compute(backend, graph)
        _lib.ggml_backend_free(backend)
        assert code == 0


@contextmanager
def _context() -> Iterator[_Context]:
    context = _Context()
    try:
        yield context
    finally:
        context.free()


def _pointer(function: str, *arguments: object) -> ctypes.c_void_p:
    native = getattr(_lib, function)
    native.restype = ctypes.c_void_p
    pointer = ctypes.c_void_p(native(*arguments))
    assert pointer, f"{function} returned NULL"
    return pointer
