"""The first thread that computes owns the context; a second one would corrupt it."""

from __future__ import annotations

import threading


class OwningThread:
    """Of one context."""

    def __init__(self) -> None:
        self._id: int | None = None

    def check(self) -> None:
        self._id = self._id or threading.get_ident()
        assert self._id == threading.get_ident(), "llama.cpp was called from a second thread"
