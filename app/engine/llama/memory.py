"""The memory of a model and its context, parsed from llama.cpp's log: after a load, or of a plan.

The thread that loads.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import llama_cpp as lib

from app.engine.llama.native_library import Native, library
from app.protocol.errors import EngineError
from app.protocol.model import MemoryNeed

# As in: load_tensors:   CPU_Mapped model buffer size =   372.65 MiB
# As in: llama_kv_cache: size =  448.00 MiB (  4096 cells, 28 layers, 8/1 seqs). Also of what is only planned.
CACHE = re.compile(r"^llama_(?:kv_cache|memory_recurrent)\w*: size = +([\d.]+) MiB")
BUFFER = re.compile(r"(\S+) +(model|LoRA|KV|RS|compute|output) buffer size = +([\d.]+) MiB")
# Parts of a device's name, where its buffers are kept in this machine's own memory.
MAPPED, HOSTED = "_Mapped", "_Host"
WORKER = re.compile(r"RPC\d+\[(.+)\]")
HERE = "CPU"
MIB = 1 << 20


class _Held:
    """What one device holds."""

    def __init__(self) -> None:
        self.sizes = Counter[str]()
        self.mapped = 0
        self.compute: dict[str, int] = {}  # by kind, the last line counts: adapters reallocate them

    def add(self, name: str, kind: str, num_bytes: int) -> None:
        if kind == "compute":
            self.compute[name] = num_bytes
        elif name.endswith(MAPPED):
            self.mapped += num_bytes
        else:
            self.sizes["KV" if kind == "RS" else kind] += num_bytes

    def need(self, model_bytes: int) -> MemoryNeed:
        copied = self.sizes["model"]
        # Repacked weights are not read from the mapped file any more.
        weights = max(self.mapped, min(self.mapped + copied, model_bytes)) if self.mapped else copied
        return MemoryNeed(
            weights_bytes=weights + self.sizes["LoRA"],
            kv_bytes=self.sizes["KV"],
            compute_bytes=sum(self.compute.values()),
            output_bytes=self.sizes["output"],
            mapped_bytes=max(weights - copied, 0) if self.mapped else 0,
        )


def memory_taken(lines: Iterable[str], model_bytes: int) -> dict[str, MemoryNeed]:
    """By device, HERE first, from the lines logged since a load began.

    `model_bytes` are all weights, each once.
    """
    here = _Held()
    devices = defaultdict[str, _Held](_Held, {HERE: here})
    caches = 0
    for line in lines:
        if cache := CACHE.search(line):
            caches += _bytes(cache[1])
        elif buffer := BUFFER.search(line):
            devices[_device_of(buffer[1])].add(buffer[1], buffer[2], _bytes(buffer[3]))
    elsewhere = [held.sizes for held in devices.values() if held is not here]
    here.sizes["KV"] = max(caches - sum(sizes["KV"] for sizes in elsewhere), 0)
    model_bytes = max(model_bytes - sum(sizes["model"] for sizes in elsewhere), 0)
    return {name: held.need(model_bytes) for name, held in devices.items()}


def _device_of(name: str) -> str:
    """Buffers have names of their own, such as CPU_REPACK, CUDA_Host, MTL0_Mapped or RPC0[10.0.0.2:50052]."""
    if worker := WORKER.match(name):
        return worker[1]
    is_here = name.startswith(HERE) or name.endswith(HOSTED)
    return HERE if is_here else name.removesuffix(MAPPED)


def _bytes(mebibytes: str) -> int:
    return round(float(mebibytes) * MIB)


def total(by_device: Mapping[str, MemoryNeed]) -> MemoryNeed:
    return sum(by_device.values(), MemoryNeed())


def context_need(
    path: Path, model_params: lib.llama_model_params, context_params: lib.llama_context_params
) -> dict[str, MemoryNeed]:
    """What a context would take, without the weights: the library only plans it and allocates almost nothing.

    It reads the vocabulary again, which may take half a second. Empty where the library cannot plan it: the
    real load reports the error.
    """
    log = library()
    before = log.loaded.copy()
    log.loaded.clear()
    model_params.no_alloc, model_params.load_mode = True, lib.LLAMA_LOAD_MODE_NONE
    with contextlib.suppress(EngineError):
        model_pointer = lib.llama_model_load_from_file(os.fsencode(path), model_params)
        with Native("model", model_pointer, lib.llama_model_free) as model:
            context = lib.llama_init_from_model(model.pointer, context_params)
            Native("context", context, lib.llama_free).close()
    need = memory_taken(log.loaded.copy(), 0)
    log.loaded.clear()
    log.loaded.extend(before)
    log.recent.clear()
    return need
