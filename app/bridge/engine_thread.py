"""One model, one thread: opens the model, then runs its engine loop until it is stopped.

The object itself lives on the GUI thread; only `run` and what it calls is the engine thread. Knows
nothing of chats and never decides anything.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from app.engine.turns import StepTurns
from app.models.memory_fit import fitted
from app.protocol.commands import Command
from app.protocol.errors import EngineCrashedError, EngineError, ModelLoadCancelledError, NoRoomYetError
from app.protocol.load import LoadParams
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport
from app.system import paths

if TYPE_CHECKING:
    from app.engine.opening import OpenBackend
    from app.engine.prompts.prompt_builder import PromptBuilder
    from app.engine.running import RunningEngine

log = logging.getLogger(__name__)
T = TypeVar("T")

# The native library is written for the 8 MB of a main thread; some systems give others as little as 512 KB.
STACK_BYTES = 64 * 2**20
REST_MS = 33  # between two wake-ups of the window: a screen shows no more than 30 to 60 pictures a second


class EngineThread(QThread):
    """Its signals reach their receivers queued: the thread emits them, or `_published`, which wakes us.

    Never delete it running.
    """

    progressed = Signal(float)  # 0..1, for each percent
    loaded = Signal(object)  # ModelInfo
    reported = Signal()  # reports are ready: at once after a pause, then at most every REST_MS
    failed = Signal(object)  # str: the model did not load, or its engine is gone; at most once
    _published = Signal()

    def __init__(
        self,
        params: LoadParams,
        parent: QObject | None = None,
        open_backend: OpenBackend | None = None,
        turns: StepTurns | None = None,
    ) -> None:
        """With `turns`, no other engine that has them computes at the same time."""
        super().__init__(parent)
        self.params = params
        self._open_backend = open_backend
        self._turns = turns or StepTurns()
        # Memory that the former engine will free when it has ended, by device name.
        self.reclaimable_bytes: Mapping[str, int] = {}
        # After `failed`: whether to load again once that memory is free.
        self.needs_room = False
        self._engine: RunningEngine | None = None
        # Once `failed` was seen: how to load the model again, if its engine has crashed and that may help.
        self.recovery: LoadParams | None = None
        self._stop_requested = threading.Event()
        self._percent = 0  # of the load, as told last
        self._has_reports = False
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._emit_reported)
        self._published.connect(self._on_published)
        self.setObjectName(f"engine {params.path.name}")
        self.setStackSize(STACK_BYTES)

    # Any thread, once `loaded` was seen.

    def post(self, command: Command) -> None:
        self._running().post(command)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        return self._running().use_prompts(work)

    # Any thread, any time.

    def take_reports(self) -> list[StepReport]:
        return self._engine.take_reports() if self._engine else []

    def stop(self) -> None:
        """Calls off a load or ends the loop; `finished` follows soon."""
        self._stop_requested.set()
        if self._engine:
            self._engine.stop()

    def let_go(self) -> None:
        """To be called once it has ended and its reports were taken: frees the engine."""
        self._engine = None

    def _running(self) -> RunningEngine:
        assert self._engine, "nothing can be asked of an engine before it is loaded"
        return self._engine

    # The GUI thread.

    @Slot()
    def _on_published(self) -> None:
        self._has_reports = True
        if not self._rest.isActive():
            self._emit_reported()

    @Slot()
    def _emit_reported(self) -> None:
        if self._has_reports:
            self._has_reports = False
            self._rest.start()
            self.reported.emit()

    # The engine thread only.

    def run(self) -> None:
        threading.current_thread().name = self.objectName()
        try:
            self._run_engine()
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

    def _run_engine(self) -> None:
        with self._opened() as (model, engine):
            self._engine = engine
            if self._stop_requested.is_set():  # while the context was made, which nothing interrupts
                engine.stop()
            else:
                self.loaded.emit(model)
            engine.run()  # also when it ends at once: it is what closes the engine

    def _opened(self) -> AbstractContextManager[tuple[ModelInfo, RunningEngine]]:
        from app.protocol.wire import REPORT

        REPORT.prepare()  # for the window's recording
        if self.params.server:
            from app.remote.opening import open_remote

            return open_remote(self.params, self._on_progress, self._published.emit)
        # Here, so that the window need not wait for the native library.
        from app.engine.cells.hibernation import HibernatedChats
        from app.engine.children.probe import open_probed_backend
        from app.engine.loop import SWITCH_INTERVAL_S
        from app.engine.opening import open_engine

        sys.setswitchinterval(SWITCH_INTERVAL_S)
        fit = partial(fitted, reclaimable=self.reclaimable_bytes)
        hibernated = HibernatedChats(folder=paths.private_dir_if_possible(paths.cache_dir()))
        open_backend = self._open_backend or open_probed_backend
        turn = partial(self._turns.turn, self.params.address)
        return open_engine(
            self.params, self._on_progress, self._published.emit, fit, hibernated, open_backend, turn
        )

    def _on_progress(self, fraction: float) -> bool:
        percent = int(100 * fraction)
        if percent > self._percent:  # it is called for each of some hundred tensors, and each is drawn
            self._percent = percent
            self.progressed.emit(fraction)
        return not self._stop_requested.is_set()
