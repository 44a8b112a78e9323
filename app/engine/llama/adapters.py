"""LoRA adapters: small files that modify a model's weights.

All of them apply to the whole context, each with its own strength. The thread that loads.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator, Sequence

import llama_cpp as lib

from app.engine.llama.native_library import Native, library
from app.protocol.errors import ModelLoadError
from app.protocol.load import LoraAdapter
from app.system.said import said


@contextlib.contextmanager
def loaded_adapters(model: Native, adapters: Sequence[LoraAdapter]) -> Iterator[list[Native]]:
    """Load them before the context is made, since its graphs depend on them. Raises ModelLoadError."""
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
