"""An engine in a child process: a `RunningEngine`, as is an `EngineLoop`.

For engines that may crash their process, as when a worker is lost. Knows no Qt.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Never, TypeVar

from app.engine.children.probe import Fitter, OnProgress, probe_files, unchanged
from app.engine.children.workers import MAX_WORKERS, RemoteWorker, WorkerState, ask, lost
from app.engine.prompts.prompt_builder import PromptBuilder
from app.engine.prompts.prompts_elsewhere import GONE, Answer, PromptsElsewhere
from app.engine.running import CommandLoop
from app.protocol.commands import Command
from app.protocol.errors import EngineCrashedError, EngineError, ModelLoadCancelledError, ModelLoadError
from app.protocol.load import LoadParams
from app.protocol.model import Device, ModelInfo
from app.protocol.wire import COMMAND, LOAD_PARAMS, MODEL, ReportReader
from app.system.machine import free_memory_bytes
from app.system.said import Said, said
from app.system.worker import Worker, WorkerEndedError, WorkerRefusedError

log = logging.getLogger(__name__)
T = TypeVar("T")

POLL_S = 0.05
WORKER_PATIENCE_S = 10.0
END_S = 2.0  # to end after `stop`: a step on other machines cannot be interrupted
PROBE_SHARE = 0.3  # of the progress


class EngineProcess(CommandLoop[Never]):
    """Entering `loaded` loads the model. `run` then takes the child's messages until it ends."""

    def __init__(
        self,
        params: LoadParams,
        on_progress: OnProgress,
        on_reports_ready: Callable[[], None],
        fit: Fitter = unchanged,
    ) -> None:
        """`fit` gets the parameters and the workers, and says how to load, or raises ModelLoadError."""
        super().__init__(lambda: None, on_reports_ready)
        self._params = params
        self._fit = fit
        self._on_progress = on_progress
        self._reader = ReportReader()
        self._worker = Worker("app.engine.children.engine_child", keeps_log=True, is_once=True)
        self._progress = PROBE_SHARE
        self._stop_by: float | None = None  # time.monotonic()
        self._prompts = PromptsElsewhere(self._ask)
        # What is posted is written on a thread, so that a child that does not read never blocks the caller.
        self._writer = ThreadPoolExecutor(1, "engine writer")

    # Any thread.

    def post(self, command: Command) -> None:
        self._tell({"do": "post"}, *COMMAND.packed(command))

    def stop(self) -> None:
        self._stop_by = time.monotonic() + END_S
        self._tell({"do": "stop"})

    def _tell(self, message: dict[str, Any], *parts: bytes) -> None:
        with contextlib.suppress(RuntimeError):  # it has ended
            self._writer.submit(self._worker.tell, message, *parts)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """`work` is called here; its calls on the builder run in the child."""
        return self._prompts.use(work)

    # The engine thread only.

    @contextlib.contextmanager
    def loaded(self) -> Iterator[ModelInfo]:
        """Start the child and load the model in it. It does not outlive the block. Raises ModelLoadError."""
        self._probe_file()
        workers = self._workers()
        self._params = self._fit(self._params, workers)
        try:
            yield replace(self._loaded_model(), workers=tuple(workers))
        finally:
            self._worker.close()
            self._writer.shutdown()
            self._prompts.close()

    def run(self) -> None:
        """Returns when the engine has ended. Raises EngineError when it has failed or crashed."""
        try:
            self._worker.ask({"do": "run"}, on_news=self._take, every_s=POLL_S)
        except WorkerRefusedError as refusal:
            raise EngineError(str(refusal)) from None
        except WorkerEndedError as error:
            if self._stop_by is None:
                raise self._crash(error) from None

    def _loaded_model(self) -> ModelInfo:
        load, params = {"do": "load", "log_level": log.getEffectiveLevel()}, LOAD_PARAMS.packed(self._params)
        try:
            _, model = self._worker.ask(load, *params, on_news=self._on_load_news, every_s=POLL_S)
        except WorkerRefusedError as refusal:
            raise ModelLoadError(str(refusal)) from None
        except WorkerEndedError as error:
            raise ModelLoadError(str(self._crash(error))) from None
        return MODEL.unpacked(model)

    def _on_load_news(self, news: dict[str, Any]) -> None:
        if "progress" in news:
            self._progress = PROBE_SHARE + (1 - PROBE_SHARE) * news["progress"]
        self._check_cancelled(self._progress)
        _log(news)

    def _probe_file(self) -> None:
        """Skips a file larger than this machine's memory: loading it in the child is test enough."""
        with contextlib.suppress(OSError):  # then the load says so
            if self._params.path.stat().st_size < free_memory_bytes():
                probe_files(self._params, lambda done: self._on_progress(done * PROBE_SHARE))

    def _workers(self) -> list[Device]:
        """Asks all workers. Raises ModelLoadError if one does not answer."""
        workers = self._params.workers
        if len(workers) > MAX_WORKERS:
            raise ModelLoadError(
                said("A model can be spread over at most {number} workers.", number=MAX_WORKERS)
            )
        devices = []
        for address in workers:
            worker = self._asked(address)
            if worker.state is not WorkerState.READY:
                raise ModelLoadError(worker.refusal)
            devices.append(worker.device)
        return devices

    def _asked(self, address: str) -> RemoteWorker:
        """Waits for a worker that serves another engine: mostly it is our former one."""
        deadline = time.monotonic() + WORKER_PATIENCE_S
        while True:
            self._check_cancelled(PROBE_SHARE)
            worker = ask(address)
            if worker.state is not WorkerState.BUSY or time.monotonic() > deadline:
                return worker
            time.sleep(POLL_S)

    def _check_cancelled(self, progress: float) -> None:
        if not self._on_progress(progress):
            raise ModelLoadCancelledError(said("Loading {name} was cancelled.", name=self._params.path.name))

    def _take(self, news: dict[str, Any], *reports: bytes) -> None:
        for report in self._reader.unpacked(reports) if reports else ():
            self.put_report(report)
        _log(news)
        if self._stop_by is not None and time.monotonic() >= self._stop_by:
            self._worker.kill()

    def _crash(self, error: WorkerEndedError) -> EngineCrashedError:
        lines, exit_code = error.last_lines, error.exit_code
        log.error("%s: its engine ended with %d.\n%s", self._params.path, exit_code, "\n".join(lines))
        lost_workers = lost(self._params.workers)
        return EngineCrashedError(_crash_message(lost_workers, error), lost_workers)

    def _ask(self, name: str, arguments: list[bytes]) -> Answer:
        """On the prompt thread."""
        try:
            return self._worker.ask({"do": "prompts", "name": name}, *arguments)
        except WorkerEndedError:
            raise EngineError(GONE) from None


def _log(news: dict[str, Any]) -> None:
    if "log" in news:
        name, level, text = news["log"]
        logging.getLogger(name).log(level, "%s", text)


def _crash_message(lost_workers: tuple[str, ...], error: WorkerEndedError) -> Said:
    if len(lost_workers) == 1:
        return said(
            "The worker {address}, which held part of the model, no longer responds.",
            address=lost_workers[0],
        )
    if lost_workers:
        return said(
            "The workers {addresses}, which held parts of the model, no longer respond.",
            addresses=", ".join(lost_workers),
        )
    how = error.signal_name
    if how == "SIGKILL":
        return said("The system killed the engine, most likely because it ran out of memory.")
    return said(
        "The engine crashed ({how}: {last_words}).",
        how=how or said("exit code {code}", code=error.exit_code),
        last_words=error.last_lines[-1] if error.last_lines else said("no output"),
    )
