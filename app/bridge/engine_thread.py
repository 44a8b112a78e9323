"""One model, one thread: opens the model, then runs its engine loop until it is stopped.

The object itself lives on the GUI thread; only `run` and what it calls is the engine thread. Knows
nothing of chats and never decides anything.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QThread, Signal

from app import paths
from app.engine.commands import Command
from app.engine.errors import EngineError, ModelLoadCancelledError
from app.engine.types import LoadParams, Request, Speed, StepReport

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.loop import EngineLoop
    from app.engine.prompt import PromptBuilder

log = logging.getLogger(__name__)
T = TypeVar("T")

OpenBackend = Callable[[LoadParams, Callable[[float], bool]], "AbstractContextManager[Backend]"]

# The native library is written for the 8 MB of a main thread; some systems give others as little as 512 KB.
STACK_BYTES = 64 * 2**20


def open_native_backend(
    params: LoadParams, on_progress: Callable[[float], bool]
) -> AbstractContextManager[Backend]:
    """Loads the native library on the thread that uses it, so that the window need not wait for it."""
    from app.engine.probe import open_probed_backend

    return open_probed_backend(params, on_progress)


class EngineThread(QThread):
    """Signals leave from the engine thread, so they reach their receivers queued. Never delete it running."""

    progressed = Signal(float)  # 0..1
    loaded = Signal(object)  # ModelInfo
    reported = Signal()  # there is something to take
    failed = Signal(object)  # str: the model did not load, or its engine is gone; at most once

    def __init__(
        self,
        params: LoadParams,
        parent: QObject | None = None,
        open_backend: OpenBackend = open_native_backend,
    ) -> None:
        super().__init__(parent)
        self.params = params
        self._open_backend = open_backend
        self._loop: EngineLoop | None = None
        self._stop_requested = threading.Event()
        self.setObjectName(f"engine {params.path.name}")
        self.setStackSize(STACK_BYTES)

    # Any thread, once `loaded` was seen.

    def submit(self, request: Request) -> None:
        self._running_loop().submit(request)

    def abort(self, request_id: str) -> None:
        self._running_loop().abort(request_id)

    def abort_all(self) -> None:
        self._running_loop().abort_all()

    def forget(self, chat_id: str) -> None:
        self._running_loop().forget(chat_id)

    def fork(self, chat_id: str, new_chat_id: str) -> None:
        self._running_loop().fork(chat_id, new_chat_id)

    def set_front(self, chat_id: str | None) -> None:
        self._running_loop().set_front(chat_id)

    def set_speed(self, speed: Speed) -> None:
        self._running_loop().set_speed(speed)

    def post(self, command: Command) -> None:
        self._running_loop().post(command)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        return self._running_loop().use_prompts(work)

    # Any thread, any time.

    def take_reports(self) -> list[StepReport]:
        return self._loop.take_reports() if self._loop else []

    def stop(self) -> None:
        """Calls off a load or ends the loop; `finished` follows soon."""
        self._stop_requested.set()
        if self._loop:
            self._loop.stop()

    def _running_loop(self) -> EngineLoop:
        assert self._loop, "nothing can be asked of an engine before it is loaded"
        return self._loop

    # The engine thread only.

    def run(self) -> None:
        threading.current_thread().name = self.objectName()
        try:
            with self._open_backend(self.params, self._on_progress) as backend:
                self._run_engine(backend)
        except ModelLoadCancelledError:
            log.info("Loading %s was called off.", self.params.path)
        except EngineError as error:
            log.error("%s: %s", self.params.path, error)
            self.failed.emit(str(error))
        except Exception:
            sys.excepthook(*sys.exc_info())
            self.failed.emit("The engine stopped because of an error in Skein itself. Load the model again.")

    def _run_engine(self, backend: Backend) -> None:
        from app.engine.engine import Engine
        from app.engine.hibernation import HibernatedChats
        from app.engine.loop import SWITCH_INTERVAL_S, EngineLoop

        sys.setswitchinterval(SWITCH_INTERVAL_S)
        hibernated = HibernatedChats(folder=paths.private_dir(paths.cache_dir()))
        loop = EngineLoop(Engine(backend, hibernated, verify=self.params.verify), self.reported.emit)
        self._loop = loop
        if self._stop_requested.is_set():  # a stop that came before there was a loop
            loop.stop()
        else:
            self.loaded.emit(backend.model)
        loop.run()  # also when it ends at once: it is what closes the engine

    def _on_progress(self, fraction: float) -> bool:
        self.progressed.emit(fraction)
        return not self._stop_requested.is_set()
