"""How a model's layers are spread over this machine and its workers. The thread that loads."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from llama_cpp.llama_cpp import _lib

from app.engine.errors import ModelLoadError
from app.engine.llama.library import described_device, device_pointers
from app.engine.llama.rpc import Rpc
from app.engine.types import DeviceKind
from app.free_memory import free_memory_bytes
from app.said import said

UINT32 = 4  # enum gguf_type
GPUS = (DeviceKind.GPU, DeviceKind.INTEGRATED)


class _InitParams(ctypes.Structure):
    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))


def worker_devices(addresses: Sequence[str]) -> list[ctypes.c_void_p]:
    """Connects to workers that are known to answer: else the process ends."""
    rpc = Rpc()
    devices = []
    for address in addresses:
        if not (found := rpc.devices_of(address)):
            raise ModelLoadError(said("The worker {address} has nothing to compute on.", address=address))
        devices += found
    return devices


def local_gpus() -> list[ctypes.c_void_p]:
    return [device for device in device_pointers() if described_device(device).kind in GPUS]


def worker_bytes(addresses: Sequence[str]) -> int:
    """Memory that is free on them."""
    return sum(described_device(device).free_bytes for device in worker_devices(addresses))


def num_layers_elsewhere(path: Path, addresses: Sequence[str]) -> int:
    """As many as the workers' share of all free memory, and one for each device at least.

    The output counts as a layer, as it does for the library.
    """
    num_layers = num_blocks(path) + 1
    devices = worker_devices(addresses)
    there, here = worker_bytes(addresses), free_memory_bytes()
    share = round(num_layers * there / max(there + here, 1))
    return min(max(share, len(devices)), num_layers)


def num_blocks(path: Path) -> int:
    """From the header of a model that can be loaded; 0 if it does not say."""
    with _header(path) as header:
        architecture = _lib.gguf_find_key(header, b"general.architecture")
        if architecture < 0:
            return 0
        _lib.gguf_get_val_str.restype = ctypes.c_char_p
        name = _lib.gguf_get_val_str(header, ctypes.c_int64(architecture))
        key = _lib.gguf_find_key(header, name + b".block_count")
        if key < 0 or _lib.gguf_get_kv_type(header, ctypes.c_int64(key)) != UINT32:
            return 0
        _lib.gguf_get_val_u32.restype = ctypes.c_uint32
        return int(_lib.gguf_get_val_u32(header, ctypes.c_int64(key)))


@contextmanager
def _header(path: Path) -> Iterator[ctypes.c_void_p]:
    _lib.gguf_init_from_file.restype = ctypes.c_void_p
    _lib.gguf_init_from_file.argtypes = (ctypes.c_char_p, _InitParams)
    _lib.gguf_find_key.restype = ctypes.c_int64
    header = ctypes.c_void_p(_lib.gguf_init_from_file(os.fsencode(path), _InitParams(True, None)))
    if not header.value:
        raise ModelLoadError(said("{name} has a damaged header. Download it again.", name=path.name))
    try:
        yield header
    finally:
        _lib.gguf_free(header)
