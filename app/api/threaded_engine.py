"""A model and its engine on a thread of their own, seen from an asyncio loop. Qt-free.

The counterpart of the window's `EngineThread` and `Engines`, for one model.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import TypeVar

from app.engine.prompts.prompt_builder import PromptBuilder
from app.engine.running import RunningEngine
from app.protocol.commands import Command
from app.protocol.errors import EngineError, ModelLoadCancelledError
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport

T = TypeVar("T")

log = logging.getLogger(__name__)

STACK_BYTES = 64 << 20  # the native library is written for the 8 MB of a main thread

OnProgress = Callable[[float], bool]
# Takes the callbacks for load progress and for reports.
OpenedEngine = AbstractContextManager[tuple[ModelInfo, RunningEngine]]
OpenEngine = Callable[[OnProgress, Callable[[], None]], OpenedEngine]
OnReports = Callable[[Sequence[StepReport]], None]


class ThreadedEngine:
    """Loads once. `ended` has the error that ended the engine, or None after `stop`.

    Made and used on the thread of the asyncio loop.
    """

    is_asleep = False

    def __init__(self, open_engine: OpenEngine) -> None:
        self._on_reports: OnReports = lambda _reports: None
        self._asyncio_loop = asyncio.get_running_loop()
        self._open_engine = open_engine
        self._engine: RunningEngine | None = None
        self._loaded: asyncio.Future[ModelInfo] = self._asyncio_loop.create_future()
        self.ended: asyncio.Future[EngineError | None] = self._asyncio_loop.create_future()
        self._stop_requested = threading.Event()
        self._thread = threading.Thread(target=self._run, name="skein-engine")

    @property
    def model(self) -> ModelInfo | None:
        """None before it is loaded, and when the engine has ended."""
        return self._loaded.result() if self._loaded.done() and not self.ended.done() else None

    async def start(self, on_reports: OnReports) -> ModelInfo:
        """Returns when the model is loaded. Raises EngineError if it cannot be."""
        self._on_reports = on_reports
        former = threading.stack_size(STACK_BYTES)
        try:
            self._thread.start()
        finally:
            threading.stack_size(former)
        await asyncio.wait((self._loaded, self.ended), return_when=asyncio.FIRST_COMPLETED)
        if not self._loaded.done():
            raise self.ended.result() or ModelLoadCancelledError("The load was called off.")
        return self._loaded.result()

    @property
    def is_called_off(self) -> bool:
        return self._stop_requested.is_set()

    def call_off(self) -> None:
        """Ends a load or the loop, soon."""
        self._stop_requested.set()
        if self._engine:
            self._engine.stop()

    async def stop(self) -> None:
        """Ends a load or the loop, and returns when the thread has ended."""
        self.call_off()
        if self._thread.ident is not None:
            await self.ended
            self._thread.join()

    def post(self, command: Command) -> None:
        self._running().post(command)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        return self._running().use_prompts(work)

    def _running(self) -> RunningEngine:
        assert self._engine, "nothing can be asked of an engine before it is loaded"
        return self._engine

    def _deliver(self) -> None:
        self._on_reports(self._running().take_reports())

    # The engine thread only.

    def _run(self) -> None:
        error: EngineError | None = None
        try:
            with self._open_engine(self._on_progress, self._on_reports_ready) as (model, engine):
                self._run_engine(model, engine)
        except ModelLoadCancelledError:
            log.info("The load was called off.")
        except EngineError as reason:
            error = reason
        except Exception:  # the root of this thread: our bug must reach the callers that wait
            log.exception("the engine failed")
            error = EngineError("The engine stopped because of an error in Skein itself.")
        self._call_in_loop(self.ended.set_result, error)

    def _run_engine(self, model: ModelInfo, engine: RunningEngine) -> None:
        self._engine = engine
        if self._stop_requested.is_set():  # a stop that came before there was an engine
            engine.stop()
        else:
            self._call_in_loop(self._loaded.set_result, model)
        engine.run()

    def _on_reports_ready(self) -> None:
        self._call_in_loop(self._deliver)

    def _on_progress(self, _fraction: float) -> bool:
        return not self._stop_requested.is_set()

    def _call_in_loop(self, callback: Callable[..., object], *arguments: object) -> None:
        self._asyncio_loop.call_soon_threadsafe(callback, *arguments)
