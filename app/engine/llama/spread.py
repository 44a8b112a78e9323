"""The workers that a model's layers are spread over. The thread that loads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from app.engine.llama.native_library import described_device
from app.engine.llama.rpc import Rpc
from app.protocol.errors import ModelLoadError
from app.system.said import said


def worker_devices(addresses: Sequence[str]) -> list[ctypes.c_void_p]:
    """Connects to workers that were checked before: one that does not answer aborts the process."""
    rpc = Rpc()
    devices = []
    for address in addresses:
        if not (found := rpc.devices_of(address)):
            raise ModelLoadError(said("The worker {address} has no device to compute on.", address=address))
        devices += found
    return devices


def worker_bytes(addresses: Sequence[str]) -> int:
    """Their free memory in total."""
    return sum(described_device(device).free_bytes for device in worker_devices(addresses))
