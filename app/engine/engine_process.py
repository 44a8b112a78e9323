"""An engine in a child process: a `RunningEngine`, as is an `EngineLoop`.

For engines that may crash their process, as when a worker is lost. Knows no Qt.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import pickle
import queue
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import IO, Any, TypeVar, cast

from app.engine.probe import last_lines, probe, probe_adapter, signal_name, unchanged
from app.engine.prompt_builder import PromptBuilder
from app.engine.workers import MAX_WORKERS, RemoteWorker, WorkerState, ask, lost
from app.protocol.commands import Command
from app.protocol.errors import EngineCrashedError, EngineError, ModelLoadCancelledError, ModelLoadError
from app.protocol.load import LoadParams
from app.protocol.model import Device, ModelInfo
from app.protocol.report import HibernatedChat, StepReport
from app.system import child_process
from app.system.memory import free_memory_bytes
from app.system.said import Said, said

log = logging.getLogger(__name__)
T = TypeVar("T")

OnProgress = Callable[[float], bool]
Message = tuple[str, Any]
Fitter = Callable[[LoadParams, Sequence[Device]], LoadParams]

POLL_S = 0.05
WORKER_PATIENCE_S = 10.0
END_S = 2.0  # to end after `stop`: a step on other machines cannot be interrupted
PROBE_SHARE = 0.3  # of the progress
GONE = said("The engine stopped.")


@dataclass(frozen=True, slots=True)
class Stop:
    """To the child: end the loop."""


@dataclass(frozen=True, slots=True)
class UsePrompts:
    """To the child: call a method of its PromptBuilder or, without arguments, read a property."""

    number: int  # of the answer
    name: str
    arguments: tuple[Any, ...]


class EngineProcess:
    """Entering `loaded` loads the model. `run` then takes the child's messages until it ends."""

    def __init__(
        self,
        params: LoadParams,
        on_progress: OnProgress,
        on_reports_ready: Callable[[], None],
        fit: Fitter = unchanged,
    ) -> None:
        """`fit` gets the parameters and the workers, and says how to load, or raises ModelLoadError."""
        self._params = params
        self._fit = fit
        self._on_progress = on_progress
        self._on_reports_ready = on_reports_ready
        self._reports: deque[StepReport] = deque()
        self._hibernated: tuple[HibernatedChat, ...] = ()  # as told last: reports come without
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._child: child_process.Child | None = None
        self._letters: queue.SimpleQueue[object] = queue.SimpleQueue()  # for the child; None: no more
        self._stop_by: float | None = None  # time.monotonic()
        self._is_gone = False
        self._failure = ""
        self._prompt_thread = ThreadPoolExecutor(1, "prompts elsewhere")
        self._numbers = itertools.count()
        self._answers: dict[int, Future[Any]] = {}  # what the child has been asked

    # Any thread.

    def post(self, command: Command) -> None:
        """Queued, so that a child that does not read never blocks the caller."""
        self._letters.put(command)

    def stop(self) -> None:
        self._stop_by = time.monotonic() + END_S
        self._letters.put(Stop())

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """`work` is called here; its calls on the builder run in the child."""
        try:
            return self._prompt_thread.submit(work, cast(PromptBuilder, _PromptsElsewhere(self._ask)))
        except RuntimeError:  # the thread has ended
            future: Future[T] = Future()
            future.set_exception(EngineError(GONE))
            return future

    def take_reports(self) -> list[StepReport]:
        reports = []
        while self._reports:
            reports.append(self._reports.popleft())
        return reports

    # The engine thread only.

    @contextlib.contextmanager
    def loaded(self) -> Iterator[ModelInfo]:
        """Start the child and load the model in it. It does not outlive the block. Raises ModelLoadError."""
        self._probe_file()
        workers = self._workers()
        self._params = self._fit(self._params, workers)
        with tempfile.TemporaryFile() as native_log:
            self._child = child_process.start("app.engine.engine_child", native_log, leads_group=True)
            reader = threading.Thread(target=self._read, args=(self._child.stdout,), name="engine reader")
            writer = threading.Thread(target=self._write, args=(self._child.stdin,), name="engine writer")
            self._letters.put((self._params, log.getEffectiveLevel()))
            reader.start()
            writer.start()
            try:
                yield replace(self._await_model(native_log), workers=tuple(workers))
                if self._is_crashed:
                    raise self._crash(native_log)
            finally:
                self._end()
                child_process.kill(self._child)
                writer.join()
                reader.join()
                child_process.reap(self._child)

    def run(self) -> None:
        """Returns when the child has ended. Raises EngineError when it has failed in order."""
        while self._is_patient and (message := self._next_message()) != ("end", None):
            self._take(message)
        if self._failure:
            raise EngineError(self._failure)

    def _probe_file(self) -> None:
        """Skips a file larger than this machine's memory: loading it in the child is test enough."""
        path = self._params.path
        with contextlib.suppress(OSError):  # then the load says so
            if path.stat().st_size < free_memory_bytes():
                probe(path, lambda fraction: self._on_progress(fraction * PROBE_SHARE))
                for adapter in self._params.adapters:
                    probe_adapter(path, adapter.path, lambda _fraction: self._on_progress(PROBE_SHARE))
                if draft := self._params.of_draft_model:
                    probe(draft.path, lambda _fraction: self._on_progress(PROBE_SHARE))

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

    def _await_model(self, native_log: IO[bytes]) -> ModelInfo:
        progress = PROBE_SHARE
        while True:
            self._check_cancelled(progress)
            match self._next_message():
                case "progress", fraction:
                    progress = PROBE_SHARE + (1 - PROBE_SHARE) * fraction
                case "loaded", model:
                    return cast(ModelInfo, model)
                case "failed", reason:
                    raise ModelLoadError(reason)
                case "end", _:
                    raise ModelLoadError(str(self._crash(native_log)))
                case message:
                    self._take(message)

    @property
    def _is_patient(self) -> bool:
        return self._stop_by is None or time.monotonic() < self._stop_by

    @property
    def _is_crashed(self) -> bool:
        return self._stop_by is None and not self._failure

    def _next_message(self) -> Message:
        try:
            return self._messages.get(timeout=POLL_S) or ("end", None)
        except queue.Empty:
            return "nothing", None

    def _take(self, message: Message) -> None:
        match message:
            case "reports", reports:
                for report, hibernated in reports:
                    if hibernated is not None:
                        self._hibernated = hibernated
                    self._reports.append(replace(report, hibernated=self._hibernated))
                self._on_reports_ready()
            case "answer", (number, is_good, value):
                future = self._answers.pop(number)
                (future.set_result if is_good else future.set_exception)(value)
            case "log", (name, level, text):
                logging.getLogger(name).log(level, "%s", text)
            case "failed", reason:
                self._failure = reason

    def _end(self) -> None:
        """Ends all open requests and calls."""
        self._is_gone = True
        self._letters.put(None)
        while self._answers:
            with contextlib.suppress(KeyError):
                self._answers.popitem()[1].set_exception(EngineError(GONE))
        self._prompt_thread.shutdown(wait=False)

    def _crash(self, native_log: IO[bytes]) -> EngineCrashedError:
        assert self._child
        lines = last_lines(native_log)
        child_process.await_end(self._child, END_S)
        exit_code = self._child.returncode or 0
        log.error("%s: its engine ended with %d.\n%s", self._params.path, exit_code, "\n".join(lines))
        lost_workers = lost(self._params.workers)
        told = _crash_message(lost_workers, exit_code, lines[-1] if lines else "")
        return EngineCrashedError(told, lost_workers)

    # The pipes.

    def _write(self, stdin: IO[bytes]) -> None:
        with contextlib.suppress(OSError):  # it is gone; `run` reports that
            while (letter := self._letters.get()) is not None:
                pickle.dump(letter, stdin, pickle.HIGHEST_PROTOCOL)
                stdin.flush()

    def _ask(self, name: str, *arguments: object) -> Any:
        """On the prompt thread."""
        number = next(self._numbers)
        future = self._answers[number] = Future[Any]()
        self._letters.put(UsePrompts(number, name, arguments))
        if self._is_gone and number in self._answers:  # it came too late for `_end`
            raise EngineError(GONE)
        return future.result()

    def _read(self, stdout: IO[bytes]) -> None:
        with contextlib.suppress(EOFError, pickle.UnpicklingError, OSError):  # it died, perhaps in a word
            while True:
                self._messages.put(pickle.load(stdout))
        self._messages.put(None)


class _PromptsElsewhere:
    """A proxy of the child's PromptBuilder."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def __getattr__(self, name: str) -> Any:
        if isinstance(getattr(PromptBuilder, name), property):
            return self._ask(name)
        return lambda *arguments, **named: self._ask(name, arguments, named)


def _crash_message(lost_workers: tuple[str, ...], exit_code: int, last_words: str) -> Said:
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
    how = signal_name(exit_code)
    if how == "SIGKILL":
        return said("The system killed the engine, most likely because it ran out of memory.")
    return said(
        "The engine crashed ({how}: {last_words}).",
        how=how or said("exit code {code}", code=exit_code),
        last_words=last_words or said("no output"),
    )
