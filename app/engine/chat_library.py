"""llama.cpp's chat layer, which knows how each model family writes tool calls and reasoning.

It is a library of its own that packaging/build_llama.py makes beside llama.cpp's. What it is given is
strangers': call it in a child process only (`chat_child`). One thread.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

from app.system.llama_library import chat_folders

NAME = "libskein-chat" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

_found: Path | None = None


class ChatLibraryError(Exception):
    """The library's own words about what it cannot do."""


def library_path() -> Path | None:
    """None: it is not there, or not yet, because it is still being compiled."""
    global _found
    if _found is None:
        _found = next(filter(Path.exists, (folder / NAME for folder in chat_folders())), None)
    return _found


class ChatLibrary:
    """Values in, values out; what they are stands in packaging/llama_cpp/chat/chat.cpp."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.skein_chat.restype = ctypes.c_void_p
        self._library.skein_chat.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self._library.skein_chat_free.restype = None
        self._library.skein_chat_free.argtypes = [ctypes.c_void_p]

    def __call__(self, do: str, **values: Any) -> dict[str, Any]:
        """Raises ChatLibraryError."""
        request = json.dumps({"do": do, **values}, ensure_ascii=False).encode("utf-8", "replace")
        pointer = self._library.skein_chat(request, len(request))
        if not pointer:
            raise MemoryError
        try:
            reply: dict[str, Any] = json.loads(ctypes.string_at(pointer))
        finally:
            self._library.skein_chat_free(pointer)
        if "error" in reply:
            raise ChatLibraryError(reply["error"])
        return reply
