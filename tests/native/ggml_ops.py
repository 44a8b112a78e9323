"""Single operations of ggml's CPU backend, on arrays, with any number of threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, takewhile
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt
from gguf import GGMLQuantizationType as Type
from llama_cpp.llama_cpp import _lib

from app.engine.llama.native_library import library

Floats = npt.NDArray[np.float32]
Blocks = npt.NDArray[np.uint8]
MEMORY_BYTES = 64 << 20
CPU = 0  # of enum ggml_backend_dev_type


class _InitParams(ctypes.Structure):
    _fields_ = (
        ("mem_size", ctypes.c_size_t),
        ("mem_buffer", ctypes.c_void_p),
        ("no_alloc", ctypes.c_bool),
    )


def quantized(values: Floats, kind: Type) -> Blocks:
    """By llama.cpp itself, as the rows of a GGUF: (rows, width) as (rows, bytes)."""
    library()
    block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    num_rows, width = values.shape
    blocks = np.zeros((num_rows, width // block * block_bytes), np.uint8)
    importance = np.ones(width, np.float32)
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in (values, blocks, importance)]
    sizes = map(ctypes.c_int64, (0, num_rows, width))
    _lib.ggml_quantize_chunk.restype = ctypes.c_size_t
    num_bytes = _lib.ggml_quantize_chunk(ctypes.c_int(kind), *addresses[:2], *sizes, addresses[2])
    assert num_bytes == blocks.nbytes
    return blocks


def multiplied(weights: Blocks, kind: Type, x: Floats, num_threads: int) -> Floats:
    """`x` (rows, width) times each row of `weights`: (rows, number of weights' rows)."""
    with opened_context() as context:
        matrix = context.matrix(kind, x.shape[-1], weights)
        result = context.call("ggml_mul_mat", matrix, context.tensor(Type.F32, x))
        context.compute(result, num_threads)
        return context.floats(result, (len(x), len(weights)))


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
    with opened_context() as context:
        result = attention_of(context, q, k, v, sees, kind)
        if sinks is not None:
            _lib.ggml_flash_attn_ext_add_sinks(result, context.tensor(Type.F32, sinks[None]))
        context.compute(result, num_threads)
        return context.floats(result, (q.shape[1], q.shape[0], q.shape[2]))


def attention_of(
    context: Context,
    q: Floats,
    k: npt.NDArray[Any],
    v: npt.NDArray[Any],
    sees: npt.NDArray[np.bool_],
    kind: Type,
) -> ctypes.c_void_p:
    """Still to be computed; shapes as of `flash_attention`."""
    inputs = [context.tensor(Type.F32, q), context.tensor(kind, k), context.tensor(kind, v)]
    inputs.append(context.tensor(Type.F16, np.where(sees, np.float16(0), np.float16(-np.inf))))
    scale = 1 / np.sqrt(q.shape[-1])
    return context.call("ggml_flash_attn_ext", *inputs, *map(ctypes.c_float, (scale, 0, 0)))


class Context:
    """A graph's tensors. Those of `matrix` are in buffers of their own."""

    def __init__(self, memory_bytes: int) -> None:
        library()
        self._pointer = _pointer("ggml_init", _InitParams(memory_bytes, None, False))
        self._device = _pointer("ggml_backend_dev_by_type", ctypes.c_int(CPU))
        self._matrices: list[tuple[ctypes.c_void_p, ctypes.c_void_p]] = []

    def free(self) -> None:
        for context, buffer in self._matrices:
            _lib.ggml_backend_buffer_free(buffer)
            _lib.ggml_free(context)
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

    def matrix(self, kind: Type, width: int, weights: Blocks, *, is_tied: bool = False) -> ctypes.c_void_p:
        """Weights, where llama.cpp's loader puts a model's: interleaved if the CPU has kernels for that.

        `is_tied`: they are the token embeddings, too, whose rows are read and never interleaved.
        """
        usual = _pointer("ggml_backend_dev_buffer_type", self._device)
        for kind_of_buffer in (usual,) if is_tied else (*self._extra_buffer_types(), usual):
            context = _pointer("ggml_init", _InitParams(1 << 12, None, True))
            sizes = ctypes.c_int64(width), ctypes.c_int64(len(weights))
            tensor = _pointer("ggml_new_tensor_2d", context, ctypes.c_int(kind), *sizes)
            buffer = _pointer("ggml_backend_alloc_ctx_tensors_from_buft", context, kind_of_buffer)
            self._matrices.append((context, buffer))
            x = self.call("ggml_new_tensor_1d", ctypes.c_int(Type.F32), sizes[0])
            if _lib.ggml_backend_dev_supports_op(self._device, self.call("ggml_mul_mat", tensor, x)):
                address, num_bytes = ctypes.c_void_p(weights.ctypes.data), ctypes.c_size_t(weights.nbytes)
                _lib.ggml_backend_tensor_set(tensor, address, ctypes.c_size_t(0), num_bytes)
                return tensor
        raise AssertionError(f"the CPU cannot multiply {kind.name}")

    def _extra_buffer_types(self) -> list[ctypes.c_void_p]:
        listed = self._proc("ggml_backend_dev_get_extra_bufts", ctypes.POINTER(ctypes.c_void_p))
        found = listed(self._device, 0)  # ends with NULL
        return [ctypes.c_void_p(address) for address in takewhile(bool, (found[i] for i in count()))]

    def floats(self, tensor: ctypes.c_void_p, shape: tuple[int, ...]) -> Floats:
        data = ctypes.cast(_pointer("ggml_get_data", tensor), ctypes.POINTER(ctypes.c_float))
        return np.ctypeslib.as_array(data, shape).copy()

    def compute(self, result: ctypes.c_void_p, num_threads: int) -> None:
        with self.computation([result], num_threads) as compute:
            compute()

    @contextmanager
    def computation(
        self, results: Sequence[ctypes.c_void_p], num_threads: int
    ) -> Iterator[Callable[[], None]]:
        """To compute `results` any number of times."""
        size = ctypes.c_size_t(2 * len(results) + 64)
        graph = self.call("ggml_new_graph_custom", size, ctypes.c_bool(False))
        for result in results:
            _lib.ggml_build_forward_expand(graph, result)
        backend = _pointer("ggml_backend_dev_init", self._device, None)
        self._proc("ggml_backend_set_n_threads", None)(backend, num_threads)

        def compute() -> None:
            assert _lib.ggml_backend_graph_compute(backend, graph) == 0

        try:
            yield compute
        finally:
            _lib.ggml_backend_free(backend)

    def _proc(self, name: str, result: Any) -> Any:
        registry = _pointer("ggml_backend_dev_backend_reg", self._device)
        address = _pointer("ggml_backend_reg_get_proc_address", registry, name.encode()).value
        return ctypes.CFUNCTYPE(result, ctypes.c_void_p, ctypes.c_int)(address or 0)


@contextmanager
def opened_context(memory_bytes: int = MEMORY_BYTES) -> Iterator[Context]:
    context = Context(memory_bytes)
    try:
        yield context
    finally:
        context.free()


def _pointer(function: str, *arguments: object) -> ctypes.c_void_p:
    native = getattr(_lib, function)
    native.restype = ctypes.c_void_p
    pointer = ctypes.c_void_p(native(*arguments))
    assert pointer.value, f"{function} returned NULL"
    return pointer
