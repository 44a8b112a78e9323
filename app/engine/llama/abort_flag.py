"""Ends a running decode from another thread."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import os
from collections.abc import Iterator

import llama_cpp as lib

from app.engine.llama.native_library import Native


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
