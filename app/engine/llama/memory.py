"""What a model and its context take, as llama.cpp tells it in its log: after a load, and without one.

The thread that loads.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

import llama_cpp as lib

from app.engine.errors import EngineError
from app.engine.llama.library import Native, library
from app.engine.types import MemoryNeed

# As in: load_tensors:   CPU_Mapped model buffer size =   372.65 MiB
BUFFER = re.compile(r"(\S+) +(model|LoRA|compute|output) buffer size = +([\d.]+) MiB")
# As in: llama_kv_cache: size =  448.00 MiB (  4096 cells, 28 layers, 8/1 seqs). Also of what is only planned.
CACHE = re.compile(r"^llama_(?:kv_cache|memory_recurrent)\w*: size = +([\d.]+) MiB")
MAPPED = "_Mapped"
MIB = 1 << 20


def memory_taken(lines: Iterable[str], model_bytes: int) -> MemoryNeed:
    """By the lines that were logged since a load began. `model_bytes` are all weights, each once."""
    sizes = {"model": 0, "LoRA": 0, "output": 0}
    mapped = caches = 0
    compute: dict[str, int] = {}  # of each device the last one: it is made anew when adapters are set
    for line in lines:
        if cache := CACHE.search(line):
            caches += _bytes(cache[1])
        elif buffer := BUFFER.search(line):
            device, kind, size = buffer[1], buffer[2], _bytes(buffer[3])
            if kind == "compute":
                compute[device] = size
            elif device.endswith(MAPPED):
                mapped += size
            else:
                sizes[kind] += size
    # Weights that were copied into another order are not read from their pages in the file any more.
    weights = max(mapped, min(mapped + sizes["model"], model_bytes)) if mapped else sizes["model"]
    return MemoryNeed(
        weights_bytes=weights + sizes["LoRA"],
        kv_bytes=caches,
        compute_bytes=sum(compute.values()),
        output_bytes=sizes["output"],
    )


def _bytes(mebibytes: str) -> int:
    return round(float(mebibytes) * MIB)


def context_need(
    path: Path, model_params: lib.llama_model_params, context_params: lib.llama_context_params
) -> MemoryNeed:
    """What a context would take, weights not counted: the library plans it all and takes almost nothing.

    It reads the vocabulary again, which may take half a second. Nothing where the library cannot plan: what
    is wrong is told when it is done in earnest.
    """
    log = library()
    before = log.buffers.copy()
    log.buffers.clear()
    model_params.no_alloc, model_params.load_mode = True, lib.LLAMA_LOAD_MODE_NONE
    with contextlib.suppress(EngineError):
        model_pointer = lib.llama_model_load_from_file(os.fsencode(path), model_params)
        with Native("model", model_pointer, lib.llama_model_free) as model:
            context = lib.llama_init_from_model(model.pointer, context_params)
            Native("context", context, lib.llama_free).close()
    need = memory_taken(log.buffers.copy(), 0)
    log.buffers.clear()
    log.buffers.extend(before)
    log.recent.clear()
    return need
