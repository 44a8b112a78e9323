"""One model, one thread: opens the model, then runs its engine loop until it is stopped.

The object itself lives on the GUI thread; only `run` and what it calls is the engine thread. Knows
nothing of chats and never decides anything.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from app.protocol.commands import Command
from app.protocol.errors import EngineCrashedError, EngineError, ModelLoadCancelledError, NoRoomYetError
from app.protocol.load import CellStore, LoadParams, Speed
from app.protocol.model import Device
from app.protocol.report import StepReport
from app.protocol.request import Request
from app.system import paths
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.engine_process import EngineProcess
    from app.engine.loop import EngineLoop
    from app.engine.prompt import PromptBuilder

log = logging.getLogger(__name__)
T = TypeVar("T")

Fitter = Callable[[LoadParams, Sequence[Device]], LoadParams]
OpenBackend = Callable[[LoadParams, Callable[[float], bool], Fitter], "AbstractContextManager[Backend]"]

# The native library is written for the 8 MB of a main thread; some systems give others as little as 512 KB.
STACK_BYTES = 64 * 2**20
REST_MS = 33  # between two wake-ups of the window: a screen shows no more than 30 to 60 pictures a second


def open_native_backend(
    params: LoadParams, on_progress: Callable[[float], bool], fit: Fitter
) -> AbstractContextManager[Backend]:
    """Loads the native library on the thread that uses it, so that the window need not wait for it."""
    from app.engine.probe import open_probed_backend

    return open_probed_backend(params, on_progress, fit)


class EngineThread(QThread):
    """Its signals reach their receivers queued: the thread emits them, or `_published`, which wakes us.

    Never delete it running.
    """

    progressed = Signal(float)  # 0..1
    loaded = Signal(object)  # ModelInfo
    reported = Signal()  # there is something to take: after a quiet time at once, then not too often
    failed = Signal(object)  # str: the model did not load, or its engine is gone; at most once
    _published = Signal()

    def __init__(
        self,
        params: LoadParams,
        parent: QObject | None = None,
        open_backend: OpenBackend = open_native_backend,
    ) -> None:
        super().__init__(parent)
        self.params = params
        self._open_backend = open_backend
        # What will be free, too, once the engine before this one has ended: by devices' names.
        self.coming_bytes: Mapping[str, int] = {}
        # Once `failed` was seen: the load may begin again when that is free.
        self.needs_room = False
        self._loop: EngineLoop | EngineProcess | None = None
        # Once `failed` was seen: how to load the model again, if its engine has crashed and that may help.
        self.recovery: LoadParams | None = None
        self._stop_requested = threading.Event()
        self._has_news = False
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._tell)
        self._published.connect(self._on_published)
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

    def keep_cells(self, store: CellStore | None) -> None:
        self._running_loop().keep_cells(store)

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

    def let_go(self) -> None:
        """Once it has ended and all was taken: of the engine nothing is left in memory."""
        self._loop = None

    def _running_loop(self) -> EngineLoop | EngineProcess:
        assert self._loop, "nothing can be asked of an engine before it is loaded"
        return self._loop

    # The GUI thread.

    @Slot()
    def _on_published(self) -> None:
        self._has_news = True
        if not self._rest.isActive():
            self._tell()

    @Slot()
    def _tell(self) -> None:
        if self._has_news:
            self._has_news = False
            self._rest.start()
            self.reported.emit()

    # The engine thread only.

    def run(self) -> None:
        threading.current_thread().name = self.objectName()
        try:
            if self.params.workers or self.params.own_process:
                self._run_process()
                return
            with self._open_backend(self.params, self._on_progress, self._fitted) as backend:
                if self._stop_requested.is_set():  # while the context was made, which nothing interrupts
                    raise ModelLoadCancelledError(said("Loading was cancelled."))
                self._run_engine(backend)
        except ModelLoadCancelledError:
            log.info("Loading %s was called off.", self.params.path)
        except NoRoomYetError as error:
            log.info("%s", error)
            self.needs_room = True
            self.failed.emit(str(error))
        except EngineError as error:
            log.error("%s: %s", self.params.path, error)
            if isinstance(error, EngineCrashedError):
                self.recovery = self.params.without_workers(error.lost_workers)
            self.failed.emit(str(error))
        except Exception:
            sys.excepthook(*sys.exc_info())
            self.failed.emit("The engine stopped because of an error in Skein itself. Load the model again.")

    def _run_engine(self, backend: Backend) -> None:
        from app.engine.engine import Engine
        from app.engine.hibernation import HibernatedChats
        from app.engine.loop import SWITCH_INTERVAL_S, EngineLoop

        sys.setswitchinterval(SWITCH_INTERVAL_S)
        hibernated = HibernatedChats(folder=paths.private_dir_if_possible(paths.cache_dir()))
        loop = EngineLoop(Engine(backend, hibernated, verify=self.params.verify), self._published.emit)
        self._loop = loop
        if self._stop_requested.is_set():  # a stop that came before there was a loop
            loop.stop()
        else:
            self.loaded.emit(backend.model)
        loop.run()  # also when it ends at once: it is what closes the engine

    def _fitted(self, params: LoadParams, gpus: Sequence[Device]) -> LoadParams:
        """Raises ModelLoadError for what would take the machine down."""
        from app.models.memory_fit import fitted

        return fitted(params, gpus, coming=self.coming_bytes)

    def _fitted_with(self, params: LoadParams, workers: Sequence[Device]) -> LoadParams:
        """For an engine in a process of its own."""
        from app.engine.llama.library import gpus, library
        from app.models.memory_fit import fitted

        library()
        return fitted(params, gpus(), workers=workers, coming=self.coming_bytes)

    def _run_process(self) -> None:
        """The engine is in a process that it may take with it; this thread listens to that."""
        from app.engine.engine_process import EngineProcess

        process = EngineProcess(self.params, self._on_progress, self._published.emit, self._fitted_with)
        with process.loaded() as model:
            self._loop = process
            if self._stop_requested.is_set():
                process.stop()
            else:
                self.loaded.emit(model)
            process.run()

    def _on_progress(self, fraction: float) -> bool:
        self.progressed.emit(fraction)
        return not self._stop_requested.is_set()
