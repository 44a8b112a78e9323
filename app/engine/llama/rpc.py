"""llama.cpp's RPC: the server lends this machine to others, the client spreads layers over other machines.

A worker that does not answer, or is lost, aborts the process: `children/workers.py` has the checks before,
and `children/engine_child.py` is where this runs. Any thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_cpp.llama_cpp import _lib

from app.engine.llama.native_library import described_device, device_pointers, library
from app.protocol.errors import ModelLoadError
from app.protocol.model import DeviceKind
from app.system.keepalive import keep_alive
from app.system.llama_library import library_folder, missing
from app.system.said import said

MODULE = "ggml-rpc"
SILENCE_S, KNOCK_EVERY_S = 10, 5  # until a machine that has vanished counts as lost


class Rpc:
    """Raises ModelLoadError where llama.cpp was built without it."""

    def __init__(self) -> None:
        library()
        for name in ("ggml_backend_reg_by_name", "ggml_backend_load"):
            getattr(_lib, name).restype = ctypes.c_void_p
        registered = _lib.ggml_backend_reg_by_name(b"RPC") or _load_module()
        if not registered:
            raise ModelLoadError(
                missing(
                    said("work on several machines"),
                    said(
                        "This build of llama.cpp has no RPC backend. Set Skein up again with packaging/run."
                    ),
                )
            )
        self._registered = ctypes.c_void_p(registered)

    def devices_of(self, address: str) -> list[ctypes.c_void_p]:
        """Connects, and keeps the connection. Aborts the process if no worker answers."""
        add = self._function("ggml_backend_rpc_add_server", ctypes.c_void_p, ctypes.c_char_p)
        server = ctypes.c_void_p(add(address.encode()))
        _lib.ggml_backend_reg_dev_get.restype = ctypes.c_void_p
        _lib.ggml_backend_reg_dev_count.restype = ctypes.c_size_t
        count = _lib.ggml_backend_reg_dev_count(server) if server.value else 0
        return [
            ctypes.c_void_p(_lib.ggml_backend_reg_dev_get(server, ctypes.c_size_t(index)))
            for index in range(count)
        ]

    def serve(self, address: str, cache_dir: Path | None, n_threads: int) -> None:
        """Lends this machine's devices to one client after the other. Returns only on failure."""
        start = self._function(
            "ggml_backend_rpc_start_server",
            None,
            *(ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t),
            ctypes.POINTER(ctypes.c_void_p),
        )
        devices = lent_devices()
        array = (ctypes.c_void_p * len(devices))(*devices)
        cache = os.fsencode(cache_dir) if cache_dir else None
        start(address.encode(), cache, n_threads, len(devices), array)

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        _lib.ggml_backend_reg_get_proc_address.restype = ctypes.c_void_p
        pointer = _lib.ggml_backend_reg_get_proc_address(self._registered, name.encode())
        return ctypes.CFUNCTYPE(result, *arguments)(pointer)


def _load_module() -> int | None:
    """Loads the RPC backend where it is a separate library."""
    for path in sorted(library_folder().glob(f"*{MODULE}.*")):
        if loaded := _lib.ggml_backend_load(os.fsencode(path)):
            return int(loaded)
    return None


def lent_devices() -> list[ctypes.c_void_p]:
    """The GPUs of this machine, or its CPU if it has none."""
    devices = device_pointers()
    kinds = [described_device(device).kind for device in devices]
    gpus = [
        device
        for device, kind in zip(devices, kinds, strict=True)
        if kind in (DeviceKind.GPU, DeviceKind.INTEGRATED)
    ]
    return gpus or [device for device, kind in zip(devices, kinds, strict=True) if kind is DeviceKind.CPU]


def watch_connections() -> None:
    """Turns on TCP keepalive for this process: a machine that vanishes does not close its connections."""
    for descriptor in range(3, 1024):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                with socket.socket(fileno=os.dup(descriptor)) as connection:
                    keep_alive(connection, SILENCE_S, KNOCK_EVERY_S)


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
