"""Models that turn texts into vectors or rank them, in one child process: apart from the chats' engine.

A child, because such a file may end its process, and because only a process can stand back for the engine's
steps. It starts with the first question and ends when nothing was asked for a while. Any thread.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.protocol.errors import EngineError
from app.system.said import said
from app.system.worker import Worker, WorkerEndedError, WorkerRefusedError

if TYPE_CHECKING:
    from app.engine.llama.embedder import Vectors

MAX_CPU_S = 1200.0  # of an answer, on all threads, with the load of the model
STUCK_S = 60.0  # without any processor time
IDLE_S = 60.0
GONE = said("Its process ended unexpectedly. The file may be damaged, or need more memory than is free.")


class TextModels:
    """One question at a time; others wait. Every question raises EngineError, with a sentence."""

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._worker = Worker("app.engine.children.text_child")
        self._turn = threading.Lock()
        self._timer: threading.Timer | None = None

    def embed(self, model: Path, texts: Sequence[str]) -> Vectors:
        """Shape (number of texts, n_embd), each of length one. Of a text that is too long, its beginning."""
        return self._ask({"do": "embed", "model": str(model), "texts": list(texts)})

    def rank(self, model: Path, query: str, texts: Sequence[str]) -> Vectors:
        """Shape (number of texts,): the higher, the better it answers the query."""
        question = {"do": "rank", "model": str(model), "query": query, "texts": list(texts)}
        return self._ask(question)[:, 0]

    def rest(self) -> None:
        """Ends the child; the next question starts it again."""
        self._worker.kill()

    def close(self) -> None:
        """Also ends what is being computed. Nothing is answered any more."""
        self._worker.close()
        with self._turn:
            self._stop_timer()

    def _ask(self, question: dict[str, Any]) -> Vectors:
        import numpy as np

        with self._turn:
            self._stop_timer()
            try:
                answer, (data,) = self._worker.ask(question, on_news=_Patience(self._worker), every_s=STUCK_S)
            except WorkerRefusedError as refusal:
                raise EngineError(str(refusal)) from None
            except WorkerEndedError as error:
                raise EngineError(GONE) from error
            if not self._worker.is_closed:
                self._timer = threading.Timer(self._idle_s, self.rest)
                self._timer.daemon = True
                self._timer.start()
        return np.frombuffer(data, np.float32).reshape(answer["shape"])

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


class _Patience:
    """Raises WorkerEndedError when called after MAX_CPU_S, or when none went by since the last call.

    On a busy machine a process that stands back may take minutes over a second of work.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._seen_s: list[float] = []  # of processor time

    def __call__(self, _news: object) -> None:
        import psutil  # which takes time, and few questions get here

        with contextlib.suppress(psutil.Error):  # it is gone
            times = psutil.Process(self._worker.pid).cpu_times()
            self._seen_s.append(times.user + times.system)
            is_stuck = len(self._seen_s) > 1 and self._seen_s[-1] == self._seen_s[-2]
            if is_stuck or self._seen_s[-1] - self._seen_s[0] > MAX_CPU_S:
                raise WorkerEndedError
