"""Models that turn texts into vectors or rank them, in one child process: apart from the chats' engine.

A child, because such a file may end its process, and because only a process can stand back for the engine's
steps. It starts with the first question and ends when nothing was asked for a while. Any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.engine.limited_child import LimitedChild, LimitReachedError
from app.protocol.errors import EngineError
from app.system.said import said, unpacked

if TYPE_CHECKING:
    from app.engine.llama.embedder import Vectors

MAX_CPU_S = 1200.0  # of an answer, on all threads, with the load of the model
IDLE_S = 60.0
GONE = said("Its process ended unexpectedly. The file may be damaged, or need more memory than is free.")


class TextModels:
    """One question at a time; others wait. Every question raises EngineError, with a sentence."""

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._child = LimitedChild("app.engine.text_child", max_cpu_s=MAX_CPU_S)
        self._turn = threading.Lock()
        self._timer: threading.Timer | None = None
        self._is_closed = False

    def embed(self, model: Path, texts: Sequence[str]) -> Vectors:
        """Shape (number of texts, n_embd), each of length one. Of a text that is too long, its beginning."""
        return self._ask({"do": "embed", "model": str(model), "texts": list(texts)})

    def rank(self, model: Path, query: str, texts: Sequence[str]) -> Vectors:
        """Shape (number of texts,): the higher, the better it answers the query."""
        question = {"do": "rank", "model": str(model), "query": query, "texts": list(texts)}
        return self._ask(question)[:, 0]

    def rest(self) -> None:
        """Ends the child; the next question starts it again."""
        self._child.end()

    def close(self) -> None:
        """Also ends what is being computed. Nothing is answered any more."""
        self._is_closed = True
        self._child.close()
        with self._turn:
            self._stop_timer()

    def _ask(self, question: dict[str, Any]) -> Vectors:
        import numpy as np

        with self._turn:
            self._stop_timer()
            try:
                answer, data = self._child.ask(question)
            except LimitReachedError as error:
                raise EngineError(GONE) from error
            if not self._is_closed:
                self._timer = threading.Timer(self._idle_s, self.rest)
                self._timer.daemon = True
                self._timer.start()
        if "refusal" in answer:
            raise EngineError(unpacked(answer["refusal"]))
        return np.frombuffer(data, np.float32).reshape(answer["shape"])

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
