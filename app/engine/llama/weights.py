"""A model's weights: the adapters that modify them, whether they can be mapped, and what their types promise.

The thread that loads.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import llama_cpp as lib
from llama_cpp.llama_cpp import _lib

from app.engine.llama.mapped_files import parts_of
from app.engine.llama.native_library import Native, library
from app.protocol.errors import ModelLoadError
from app.protocol.load import FlashAttention, LoadParams, LoraAdapter
from app.protocol.model import LibraryInfo
from app.system.llama_library import llama_patches
from app.system.said import said


@contextlib.contextmanager
def loaded_adapters(model: Native, adapters: Sequence[LoraAdapter]) -> Iterator[list[Native]]:
    """LoRA adapters. All of them apply to the whole context, each with its own strength.

    They are loaded before the context is made, since its graphs depend on them. Raises ModelLoadError.
    """
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(_load(model, adapter)) for adapter in adapters]


def _load(model: Native, adapter: LoraAdapter) -> Native:
    library().recent.clear()
    name = adapter.path.name
    pointer = lib.llama_adapter_lora_init(model.pointer, os.fsencode(adapter.path))
    if not pointer:
        raise ModelLoadError(
            said(
                "{name} cannot be used as an adapter of this model: {reason}. "
                "Remove it from the model's settings, or choose one that was made for this model.",
                name=name,
                reason=library().reason() or said("the file is damaged or of an unknown kind"),
            )
        )
    native = Native("adapter", pointer, lib.llama_adapter_lora_free)
    if lib.llama_adapter_get_alora_n_invocation_tokens(pointer):
        native.close()
        raise ModelLoadError(
            said(
                "{name} is an activated LoRA, which Skein does not support. Remove it from the model's "
                "settings.",
                name=name,
            )
        )
    return native


def use_adapters(context: Native, natives: Sequence[Native], adapters: Sequence[LoraAdapter]) -> None:
    """A decode follows at once: it reserves the compute buffers anew, which are larger now."""
    if not natives:
        return
    pointers = (lib.llama_adapter_lora_p_ctypes * len(natives))(*(native.pointer for native in natives))
    scales = (ctypes.c_float * len(natives))(*(adapter.scale for adapter in adapters))
    lib.llama_set_adapters_lora(context.pointer, pointers, len(natives), scales)
    token = (ctypes.c_int32 * 1)()
    lib.llama_decode(context.pointer, lib.llama_batch_get_one(token, 1))
    lib.llama_memory_clear(lib.llama_get_memory(context.pointer), True)


MAX_TAIL_BYTES = 1 << 30


class _InitParams(ctypes.Structure):
    """gguf_init_params"""

    _fields_ = (("no_alloc", ctypes.c_bool), ("context", ctypes.c_void_p))


def has_long_tail(path: Path) -> bool:
    """Whether a file of the model goes on long after its weights: mapped, all of it would be read.

    Raises OSError.
    """
    return any(
        part.stat().st_size > MAX_TAIL_BYTES and _tail_bytes(part) > MAX_TAIL_BYTES for part in parts_of(path)
    )


def _tail_bytes(path: Path) -> int:
    with _header(path) as header:
        return path.stat().st_size - _weights_end(header) if header else 0


def tensors_of(path: Path) -> frozenset[str]:
    """The names of all weights, in all parts of a model."""
    names: set[bytes] = set()
    for part in parts_of(path):
        with _header(part) as header:
            number = _lib.gguf_get_n_tensors(header) if header else 0
            names.update(_lib.gguf_get_tensor_name(header, ctypes.c_int64(n)) for n in range(number))
    return frozenset(name.decode("utf-8", "replace") for name in names)


@contextlib.contextmanager
def _header(path: Path) -> Iterator[ctypes.c_void_p | None]:
    """None where the library cannot read it: it says so when it is loaded."""
    _declare()
    pointer = _lib.gguf_init_from_file(os.fsencode(path), _InitParams(no_alloc=True))
    try:
        yield ctypes.c_void_p(pointer) if pointer else None
    finally:
        _lib.gguf_free(ctypes.c_void_p(pointer))


def _weights_end(header: ctypes.c_void_p) -> int:
    numbers = map(ctypes.c_int64, range(_lib.gguf_get_n_tensors(header)))
    ends = (_lib.gguf_get_tensor_offset(header, n) + _lib.gguf_get_tensor_size(header, n) for n in numbers)
    return int(_lib.gguf_get_data_offset(header)) + max(ends, default=0)


def _declare() -> None:
    _lib.gguf_init_from_file.argtypes = (ctypes.c_char_p, _InitParams)
    _lib.gguf_init_from_file.restype = ctypes.c_void_p
    _lib.gguf_free.restype = None
    _lib.gguf_get_n_tensors.restype = ctypes.c_int64
    _lib.gguf_get_tensor_name.restype = ctypes.c_char_p
    for name in ("gguf_get_tensor_offset", "gguf_get_tensor_size", "gguf_get_data_offset"):
        getattr(_lib, name).restype = ctypes.c_size_t


PATCHES = frozenset(("attention", "q4-k", "k-quants", "one-row", "positions"))
# As llama.cpp names them. One row of Q2_K, Q3_K, IQ4_XS and smaller IQ types has an order of sums of its own.
WEIGHTS = frozenset(
    (
        *("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl", "mxfp4"),
        *("q4_K", "q5_K", "q6_K", "f16", "bf16", "f32"),
    )
)
# As in: llama_model_loader: - type q5_0:  133 tensors
WEIGHTS_LINE = re.compile(r"^llama_model_loader: - type +(\S+): +\d+ tensors$")


def has_patches() -> bool:
    return PATCHES.issubset(llama_patches())


def is_same_alone(lines: Iterable[str], library: LibraryInfo, params: LoadParams) -> bool:
    """Whether a row's logits are the same, to the last bit, alone and among others.

    They are by the patches in packaging/llama_cpp, for the types of weights for which
    tests/native/test_same_alone.py shows it. `lines` were logged while the model loaded.
    """
    weights = {match[1] for line in lines if (match := WEIGHTS_LINE.match(line))}
    is_by_our_kernels = has_patches() and "AVX2" in library.features and not library.gpus
    is_as_tested = not (params.workers or params.adapters)
    has_attention = params.flash_attention is not FlashAttention.OFF
    return bool(weights) and weights <= WEIGHTS and is_by_our_kernels and is_as_tested and has_attention
