"""Nodes of a running graph as numpy arrays, read in an eval callback. The thread of the context."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt
from llama_cpp.llama_cpp import _lib

MAX_SRC, NAME_BYTES, OP_PARAMS = 10, 64, 16
F32, F16 = 0, 1  # enum ggml_type
FLASH_ATTENTION, SOFT_MAX = "FLASH_ATTN_EXT", "SOFT_MAX"
_LAYER = re.compile(rb"(?:-|_l)(\d+)")

Floats = npt.NDArray[np.float32]


class _Tensor(ctypes.Structure):
    """`struct ggml_tensor` of ggml.h."""


_Tensor._fields_ = [
    ("type", ctypes.c_int),
    ("buffer", ctypes.c_void_p),
    ("ne", ctypes.c_int64 * 4),
    ("nb", ctypes.c_size_t * 4),
    ("op", ctypes.c_int),
    ("op_params", ctypes.c_int32 * OP_PARAMS),
    ("flags", ctypes.c_int32),
    ("src", ctypes.POINTER(_Tensor) * MAX_SRC),
    ("view_src", ctypes.POINTER(_Tensor)),
    ("view_offs", ctypes.c_size_t),
    ("data", ctypes.c_void_p),
    ("name", ctypes.c_char * NAME_BYTES),
    ("extra", ctypes.c_void_p),
    ("padding", ctypes.c_char * 8),
]


class _TypeTraits(ctypes.Structure):
    _fields_ = [
        ("type_name", ctypes.c_char_p),
        ("blck_size", ctypes.c_int64),
        ("blck_size_interleave", ctypes.c_int64),
        ("type_size", ctypes.c_size_t),
        ("is_quantized", ctypes.c_bool),
        ("to_float", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)),
        ("from_float_ref", ctypes.c_void_p),
    ]


class Node:
    """One tensor of the graph. `array` copies it, wherever it lies."""

    def __init__(self, pointer: int | None, tensor: Any = None) -> None:
        """At an address, or one that is there already."""
        self._tensor = tensor if tensor is not None else _Tensor.from_address(pointer or 0)
        self._pointer = ctypes.byref(self._tensor)

    @property
    def name(self) -> bytes:
        return bytes(self._tensor.name)

    @property
    def layer(self) -> int | None:
        """As it is named, or one that it is a view of."""
        found = _LAYER.search(self.name)
        return int(found[1]) if found else None

    @property
    def op(self) -> str:
        return _op_name(self._tensor.op)

    @property
    def shape(self) -> tuple[int, ...]:
        """As ggml has it, the innermost first."""
        return tuple(self._tensor.ne)

    @property
    def float_params(self) -> tuple[float, ...]:
        return tuple(np.frombuffer(self._tensor.op_params, np.float32).tolist())

    def source(self, number: int) -> Node | None:
        source = self._tensor.src[number]
        return Node(None, source.contents) if source else None

    def array(self) -> Floats:
        """The shape is that of numpy, the innermost last, without leading ones beyond three."""
        tensor, traits = self._tensor, _traits(self._tensor.type)
        length, rows = tensor.ne[0], tuple(tensor.ne[axis] for axis in (3, 2, 1))
        row_bytes = length // traits.blck_size * traits.type_size
        assert tensor.nb[0] == traits.type_size, "its rows lie together"
        strides = tuple(tensor.nb[axis] for axis in (3, 2, 1))
        num_bytes = row_bytes + sum((n - 1) * stride for n, stride in zip(rows, strides, strict=True))
        raw = np.empty(num_bytes, np.uint8)
        _lib.ggml_backend_tensor_get(
            self._pointer, ctypes.c_void_p(raw.ctypes.data), ctypes.c_size_t(0), ctypes.c_size_t(num_bytes)
        )
        packed = np.ascontiguousarray(
            np.lib.stride_tricks.as_strided(raw, (*rows, row_bytes), (*strides, 1), writeable=False)
        )
        values = _as_floats(packed, tensor.type, traits, int(np.prod(rows)) * length)
        return np.asarray(values.reshape(*rows, length)[0], np.float32)

    def write(self, rows: Floats) -> None:
        """Replaces all values of one whose type is F32 and that lies together."""
        assert self._tensor.type == F32
        assert rows.dtype == np.float32
        assert rows.flags.c_contiguous
        assert rows.size == int(np.prod(self.shape)), "all of it"
        _lib.ggml_backend_tensor_set(
            self._pointer,
            ctypes.c_void_p(rows.ctypes.data),
            ctypes.c_size_t(0),
            ctypes.c_size_t(rows.nbytes),
        )


def _as_floats(packed: npt.NDArray[np.uint8], kind: int, traits: _TypeTraits, count: int) -> Floats:
    if kind == F32:
        return packed.view(np.float32)
    if kind == F16:
        return packed.view(np.float16).astype(np.float32)
    values = np.empty(count, np.float32)
    traits.to_float(packed.ctypes.data, values.ctypes.data, count)
    return values


@cache
def _op_name(op: int) -> str:
    _lib.ggml_op_name.restype = ctypes.c_char_p
    name = _lib.ggml_op_name(ctypes.c_int(op))
    return bytes(name).decode() if name else ""


@cache
def _traits(kind: int) -> _TypeTraits:
    _lib.ggml_get_type_traits.restype = ctypes.POINTER(_TypeTraits)
    traits: _TypeTraits = _lib.ggml_get_type_traits(ctypes.c_int(kind)).contents
    return traits


EvalCallback = lib.ggml_backend_sched_eval_callback
