"""What is read from llama.cpp's log of a load, also where there are devices that this machine lacks."""

from __future__ import annotations

import ctypes

import pytest

from app.engine.llama import native_library as library_module
from app.engine.llama.memory import HERE, memory_taken, total
from app.engine.llama.native_library import gpus
from app.protocol.model import Device, DeviceKind, MemoryNeed, ModelInfo
from tests.fakes import model_info

pytestmark = pytest.mark.native

MIB = 1 << 20
CACHES = "llama_kv_cache: size =   96.00 MiB (  8192 cells,  12 layers,  4/1 seqs), K (f16):   48.00 MiB"
LOADS = {
    "weights in the file's pages, some copied into another order": (
        """load_tensors:   CPU_Mapped model buffer size =   100.00 MiB
        load_tensors:  CPU_REPACK model buffer size =    60.00 MiB
        llama_context:        CPU  output buffer size =     2.00 MiB
        sched_reserve:        CPU compute buffer size =     7.00 MiB""",
        {HERE: MemoryNeed(100 * MIB, 96 * MIB, 7 * MIB, 2 * MIB, mapped_bytes=40 * MIB)},
    ),
    "a GPU": (
        """load_tensors:   CPU_Mapped model buffer size =    10.00 MiB
        load_tensors:        CUDA0 model buffer size =    90.00 MiB
        llama_context:  CUDA_Host  output buffer size =     2.00 MiB
        llama_kv_cache:      CUDA0 KV buffer size =    96.00 MiB
        sched_reserve:      CUDA0 compute buffer size =    30.00 MiB
        sched_reserve:  CUDA_Host compute buffer size =     5.00 MiB
        sched_reserve:      CUDA0 compute buffer size =    31.00 MiB""",
        {
            HERE: MemoryNeed(10 * MIB, 0, 5 * MIB, 2 * MIB, mapped_bytes=10 * MIB),
            "CUDA0": MemoryNeed(90 * MIB, 96 * MIB, 31 * MIB),
        },
    ),
    "another machine": (
        """load_tensors:   CPU_Mapped model buffer size =    30.00 MiB
        load_tensors: RPC0[10.0.0.2:50052] model buffer size =    70.00 MiB
        llama_kv_cache:        CPU KV buffer size =    32.00 MiB
        llama_kv_cache: RPC0[10.0.0.2:50052] KV buffer size =    64.00 MiB
        sched_reserve: RPC0[10.0.0.2:50052] compute buffer size =     6.00 MiB""",
        {
            HERE: MemoryNeed(30 * MIB, 32 * MIB, mapped_bytes=30 * MIB),
            "10.0.0.2:50052": MemoryNeed(70 * MIB, 64 * MIB, 6 * MIB),
        },
    ),
}


@pytest.mark.parametrize("load", LOADS)
def test_every_device_has_its_part(load: str) -> None:
    lines, expected = LOADS[load]
    assert memory_taken([*lines.splitlines(), CACHES], 100 * MIB) == expected


def test_what_a_model_gives_back_is_told_by_device_without_the_pages_of_its_file() -> None:
    taken = memory_taken([*LOADS["a GPU"][0].splitlines(), CACHES], 100 * MIB)
    model: ModelInfo = model_info(memory=total(taken), memory_elsewhere=(("CUDA0", taken["CUDA0"]),))
    assert model.held_bytes == {"": 7 * MIB, "CUDA0": 217 * MIB}


@pytest.mark.parametrize(
    ("kinds", "taken"),
    [
        ("cpu", ()),
        ("cpu integrated", (1,)),
        ("gpu integrated gpu cpu", (0, 2)),
    ],
)
def test_a_gpu_that_uses_the_machines_memory_is_taken_where_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch, kinds: str, taken: tuple[int, ...]
) -> None:
    devices = [Device(f"D{number}", "", DeviceKind(kind)) for number, kind in enumerate(kinds.split())]
    pointers = [ctypes.c_void_p(number) for number in range(len(devices))]
    monkeypatch.setattr(library_module, "device_pointers", lambda: pointers)
    monkeypatch.setattr(library_module, "described_device", lambda pointer: devices[pointer.value or 0])
    assert gpus() == tuple(devices[number] for number in taken)
