"""The native library: initialised once per process, its log, and owners of its pointers.

Facts about the library in this folder hold for llama-cpp-python 0.3.36. Any thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import logging
import os
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import llama_cpp as lib
import numpy as np
import numpy.typing as npt
from llama_cpp.llama_cpp import _lib

from app.protocol.errors import DecodeError, EngineError
from app.protocol.model import Device, DeviceKind, LibraryInfo
from app.system.freed_memory import keep_little
from app.system.llama_library import library_folder, llama_patches
from app.system.said import said

log = logging.getLogger(__name__)

# Provoked by `cell_reader`, whose buffer is smaller than a whole state.
END_OF_HEAD = "error saving state: unexpectedly reached end of buffer"
# A warning for each matrix of an adapter whose weights were copied into another order. That is harmless.
ADAPTER_AS_IT_IS = "cannot use buft 'CPU_REPACK', fallback to CPU"

MAX_UNTAKEN_LINES = 100
MAX_LOAD_LINES = 500
MAX_LINE_BYTES = 2000  # names from model files are in them
MAX_DEBUG_LINE_BYTES = 16_000  # some show every cell
DEBUG = 1  # ggml's level
DEVICE_KINDS = tuple(DeviceKind)  # in the order of enum ggml_backend_dev_type

native_objects: Counter[str] = Counter()  # live ones by kind, for the leak tests and the inspector


@cache
def library() -> NativeLog:
    """Initialise llama.cpp once per process, and keep its callbacks alive."""
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # else an abort forks a debugger
    keep_little()
    native_log = NativeLog()
    _load_cpu_variants(library_folder())
    lib.llama_backend_init()
    return native_log


def _load_cpu_variants(folder: Path) -> None:
    """In a portable build, loads the module for this CPU; other builds have none.

    Called before `llama_backend_init`, which would search the working directory.
    """
    if next(folder.glob("*ggml-cpu-*"), None):
        # Only llama_cpp's own handle has ggml's symbols.
        _lib.ggml_backend_load_all_from_path(str(folder).encode())


def library_info() -> LibraryInfo:
    """The version and features that ggml reports. After `library`."""
    for name in ("ggml_version", "ggml_commit"):
        getattr(_lib, name).restype = ctypes.c_char_p
    described = lib.llama_print_system_info().decode("utf-8", "replace")  # "CPU : SSE3 = 1 | AVX = 1 | "
    return LibraryInfo(
        f"{_lib.ggml_version().decode()} ({_lib.ggml_commit().decode()})",
        tuple(re.findall(r"(\w+) = 1", described)),
        tuple(described_device(device) for device in device_pointers()),
        llama_patches(),
    )


def device_pointers() -> list[ctypes.c_void_p]:
    """Pointers to all devices of this machine, in the library's order. After `library`."""
    _lib.ggml_backend_dev_get.restype = ctypes.c_void_p
    _lib.ggml_backend_dev_count.restype = ctypes.c_size_t
    count = _lib.ggml_backend_dev_count()
    return [ctypes.c_void_p(_lib.ggml_backend_dev_get(ctypes.c_size_t(index))) for index in range(count)]


def gpus() -> tuple[Device, ...]:
    """The GPUs that the library uses by default. After `library`."""
    return library_info().gpus


def described_device(device: ctypes.c_void_p) -> Device:
    for name in ("ggml_backend_dev_name", "ggml_backend_dev_description"):
        getattr(_lib, name).restype = ctypes.c_char_p
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    _lib.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
    kind = _lib.ggml_backend_dev_type(device)
    return Device(
        printable(_lib.ggml_backend_dev_name(device).decode("utf-8", "replace")),
        printable(_lib.ggml_backend_dev_description(device).decode("utf-8", "replace")),
        DEVICE_KINDS[kind] if kind < len(DEVICE_KINDS) else DeviceKind.ACCELERATOR,
        total.value,
        free.value,
    )


class NativeLog:
    """llama.cpp's log, line by line. Its callback may run on any thread, so it only appends."""

    def __init__(self) -> None:
        self.recent: deque[str] = deque(maxlen=50)  # warnings and errors, for messages to the user
        self._untaken: deque[str] = deque(maxlen=MAX_UNTAKEN_LINES)  # warnings and errors, for the inspector
        self.loaded: deque[str] = deque(maxlen=MAX_LOAD_LINES)  # sizes of buffers, types of weights
        self.callback = lib.llama_log_callback(self._on_log)  # a collected callback would crash the process
        lib.llama_log_set(self.callback, ctypes.c_void_p(0))

    def _on_log(self, level: int, text: bytes | None, _user_data: object) -> None:
        most = MAX_DEBUG_LINE_BYTES if level == DEBUG else MAX_LINE_BYTES
        line = printable((text or b"")[:most].decode("utf-8", "replace"))
        if not line or line.endswith((END_OF_HEAD, ADAPTER_AS_IT_IS)):
            return
        if level >= 3 and level != 5:
            self.recent.append(line)
            self._untaken.append(line)
        elif "MiB" in line or ": - type " in line:
            self.loaded.append(line)
        log.debug("%s", line)

    def take_lines(self) -> list[str]:
        """The last hundred warnings and errors since the last call. No lock: one writer, one reader."""
        lines: list[str] = []
        while self._untaken:
            lines.append(self._untaken.popleft())
        return lines

    def reason(self) -> str:
        """The most telling line since the last `recent.clear()`."""
        errors = [line for line in self.recent if "error" in line.lower() or "fail" in line.lower()]
        lines = errors or list(self.recent)
        return lines[0].split(": ", 1)[-1] if lines else ""


def failed_step(code: int) -> DecodeError:
    """What `llama_decode` returned, other than 0, 1 and 2."""
    text = said(
        "llama.cpp failed to compute a step (code {code}). {reason}", code=code, reason=library().reason()
    )
    return DecodeError(text, code)


def printable(text: str) -> str:
    """Removes control characters: names from model files reach the log, and may reach a terminal."""
    text = text.strip()
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text).strip()


class Native:
    """A pointer that is freed exactly once."""

    def __init__(self, kind: str, pointer: object, free: Callable[[object], None]) -> None:
        if not pointer:  # ctypes gives NULL as a falsy pointer object, not as None
            raise EngineError(
                said("llama.cpp could not create a {kind}: {reason}", kind=kind, reason=library().reason())
            )
        self._kind, self._pointer, self._free = kind, pointer, free
        native_objects[kind] += 1

    @property
    def pointer(self) -> object:
        assert self._pointer is not None, f"this {self._kind} was freed"
        return self._pointer

    def close(self) -> None:
        if self._pointer is not None:
            pointer, self._pointer = self._pointer, None
            self._free(pointer)
            native_objects[self._kind] -= 1

    def __enter__(self) -> Native:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def array_pointer(array: npt.NDArray[np.generic], c_type: type[ctypes._SimpleCData[int]]) -> object:
    return array.ctypes.data_as(ctypes.POINTER(c_type))


class OwningThread:
    """The first thread that computes owns the context; a second one would corrupt it."""

    def __init__(self) -> None:
        self._id: int | None = None

    def check(self) -> None:
        self._id = self._id or threading.get_ident()
        assert self._id == threading.get_ident(), "llama.cpp was called from a second thread"


class AbortFlag:
    """Interrupts a decode from any thread without the GIL.

    llama.cpp asks its abort callback after each graph node. A Python function there would wait for the GIL
    hundreds of times a step, so the callback is C's `atoi` and the flag is the text it reads.
    """

    def __init__(self, context: Native) -> None:
        self._context = context
        self._text = ctypes.create_string_buffer(b"0", 8)
        libc = ctypes.CDLL(ctypes.util.find_library("msvcrt" if os.name == "nt" else "c"))
        self._callback = ctypes.cast(libc.atoi, lib.ggml_abort_callback)
        self._connect(self._text)

    # Any thread.

    @property
    def is_set(self) -> bool:
        return self._text.value == b"1"

    def set(self) -> None:
        self._text.value = b"1"

    def clear(self) -> None:
        self._text.value = b"0"

    # The engine thread only.

    @contextlib.contextmanager
    def ignored(self) -> Iterator[None]:
        """Within the block, the flag can be set but has no effect."""
        never = ctypes.create_string_buffer(b"0", 8)
        self._connect(never)
        try:
            yield
        finally:
            self._connect(self._text)

    def _connect(self, text: ctypes.Array[ctypes.c_char]) -> None:
        lib.llama_set_abort_callback(self._context.pointer, self._callback, ctypes.addressof(text))
