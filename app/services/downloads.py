"""Model downloads: a few at once, the others waiting; each can be paused or cancelled.

Unfinished ones are offered again at the next start. Knows no widgets. GUI thread.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.io_thread import IoThread
from app.bridge.tasks import spawn
from app.models.download import Fetch
from app.models.hub_address import DownloadError, GatedError, HubError
from app.models.order import Order, OrderFolder, remove_remains, unfinished
from app.services.preferences import Preferences
from app.system import paths

log = logging.getLogger(__name__)

MAX_AT_ONCE = 3
PROGRESS_PERIOD_MS = 250
SPEED_SAMPLES = 20  # those of the last five seconds

ReadToken = Callable[[str], Awaitable[str]]


class State(StrEnum):
    WAITING = "waiting"  # until another one is done
    LOADING = "loading"
    CHECKING = "checking"  # hashing the data on disk
    PAUSED = "paused"
    FAILED = "failed"  # its data stay, and it can be resumed
    DONE = "done"


RUNNING = (State.WAITING, State.LOADING, State.CHECKING)


@dataclass(frozen=True, slots=True)
class Download:
    """The state of one download."""

    id: str
    name: str
    repo_id: str
    quantisation: str
    state: State
    num_bytes: int
    size_bytes: int
    bytes_per_s: float = 0.0
    trouble: str = ""  # why it failed or, while running, why nothing arrives at the moment
    page: str = ""  # a web page where access must be requested first
    path: Path | None = None  # once it is done

    @property
    def seconds_left(self) -> float | None:
        """None: unknown."""
        if self.state is not State.LOADING or self.bytes_per_s < 1:
            return None
        return (self.size_bytes - self.num_bytes) / self.bytes_per_s


@dataclass
class _Job:
    order: Order
    folder: Path
    state: State
    num_bytes: int = 0
    trouble: str = ""
    page: str = ""
    path: Path | None = None
    fetch: Fetch | None = None
    task: asyncio.Task[None] | None = None
    samples: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=SPEED_SAMPLES))

    @property
    def is_running(self) -> bool:
        return self.state in RUNNING

    @property
    def missing_bytes(self) -> int:
        return self.order.size_bytes - self.num_bytes

    def note_progress(self, now: float) -> None:
        if not self.fetch:
            return
        self.num_bytes = self.fetch.num_bytes
        self.trouble = self.fetch.trouble
        self.state = State.CHECKING if self.fetch.is_checking else State.LOADING
        if self.state is State.CHECKING:
            self.samples.clear()
        else:
            self.samples.append((now, self.num_bytes))

    @property
    def bytes_per_s(self) -> float:
        if len(self.samples) < 2 or self.state is not State.LOADING:
            return 0.0
        (began, before), (now, after) = self.samples[0], self.samples[-1]
        return max(0.0, (after - before) / max(now - began, 0.001))


class Downloads(QObject):
    changed = Signal()  # which there are, or the state of one
    progressed = Signal()  # the figures of those that run
    finished = Signal(object)  # Download: its file is there
    failed = Signal(object)  # Download
    restored = Signal()  # there are some that an earlier run began

    def __init__(
        self, preferences: Preferences, read_token: ReadToken, io: IoThread, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._io = io
        self._preferences = preferences
        self._read_token = read_token
        self._jobs: dict[str, _Job] = {}
        self._places = asyncio.Semaphore(MAX_AT_ONCE)
        self._leaving: dict[str, asyncio.Task[None]] = {}  # jobs whose files are being removed
        self._restoring = asyncio.Lock()  # its holder may remove orphaned files
        self._is_closing = False
        self._progress_timer = QTimer(self, interval=PROGRESS_PERIOD_MS)
        self._progress_timer.timeout.connect(self._emit_progress)

    @property
    def folder(self) -> Path:
        """The folder for new downloads."""
        return self._preferences.settings.download_folder or paths.models_dir()

    @property
    def items(self) -> tuple[Download, ...]:
        """In the order they were asked for."""
        return tuple(_shown(job) for job in self._jobs.values())

    @property
    def num_running(self) -> int:
        return sum(job.is_running for job in self._jobs.values())

    async def restore(self) -> None:
        """Adds what an earlier run began, paused. Until then, nothing else begins."""
        folders = tuple(dict.fromkeys((self.folder, paths.models_dir())))  # perhaps another was chosen since
        async with self._restoring:
            left = await asyncio.to_thread(_left_in, folders, tidies_up=not self._jobs)
            for order, folder, num_bytes in left:
                self._jobs.setdefault(order.id, _Job(order, folder, State.PAUSED, num_bytes))
        self.changed.emit()
        if left:
            self.restored.emit()

    def start(self, order: Order) -> None:
        """Also resumes one that was paused or has failed. A finished one is checked again."""
        job = self._jobs.get(order.id)
        if job is None or job.state is State.DONE:
            job = self._jobs[order.id] = _Job(order, self.folder, State.PAUSED)
            job.task = self._leaving.get(order.id)  # that must have ended first
        elif not job.is_running:
            job.order = order  # the same file, perhaps from another hub or repository that still has it
        self._begin(job)

    def resume(self, download_id: str) -> None:
        self._begin(self._jobs[download_id])

    def pause(self, download_id: str) -> None:
        """The data on disk stay."""
        job = self._jobs[download_id]
        if job.is_running and job.task:
            job.task.cancel()
            self._end(job, State.PAUSED)

    def cancel(self, download_id: str) -> None:
        """Deletes the data on disk. For a finished one, only its entry goes."""
        job = self._jobs.pop(download_id)
        if job.task:
            job.task.cancel()
        self.changed.emit()
        if job.state is not State.DONE:
            self._leaving[download_id] = spawn(_throw_away(job))

    async def close(self) -> None:
        """Returns when nothing is written any more."""
        self._is_closing = True
        tasks = [*self._leaving.values(), *(job.task for job in self._jobs.values() if job.task)]
        for job in self._jobs.values():
            if job.is_running:
                self.pause(job.order.id)
        if tasks:
            await asyncio.wait(tasks)
        self._progress_timer.stop()

    def _begin(self, job: _Job) -> None:
        if job.is_running or self._is_closing:
            return
        job.state, job.trouble, job.page = State.WAITING, "", ""
        job.samples.clear()
        job.task = spawn(self._run(job, job.task))
        self._progress_timer.start()
        self.changed.emit()

    async def _run(self, job: _Job, before: asyncio.Task[None] | None) -> None:
        if before:  # it may still write to the same file
            await asyncio.wait([before])
        async with self._restoring:
            pass
        async with self._places:
            try:
                token = await self._read_token(job.order.endpoint)
                job.fetch = Fetch(
                    job.order, job.folder, token, reserved_bytes=lambda: self._reserved_bytes(job)
                )
                job.path = await self._io.run(job.fetch.run())
            except (HubError, DownloadError) as error:
                if job.task is asyncio.current_task():  # else it was paused in between, and goes on already
                    self._fail(job, error)
            else:
                self._end(job, State.DONE)
                self.finished.emit(_shown(job))
            finally:
                if job.is_running and job.task is asyncio.current_task():  # a bug of ours, reported elsewhere
                    self._end(job, State.FAILED)

    def _fail(self, job: _Job, error: HubError | DownloadError) -> None:
        job.trouble = error.args[0]
        job.page = error.page if isinstance(error, GatedError) else ""
        self._end(job, State.FAILED)
        self.failed.emit(_shown(job))

    def _end(self, job: _Job, state: State) -> None:
        if job.fetch:
            job.num_bytes = job.fetch.num_bytes
        job.fetch = None
        job.state = state
        if state is State.PAUSED:
            job.trouble = ""
        if not self.num_running:
            self._progress_timer.stop()
        self.changed.emit()

    def _reserved_bytes(self, asking: _Job) -> int:
        """What other running downloads will still write to the same folder."""
        return sum(
            job.missing_bytes
            for job in self._jobs.values()
            if job is not asking and job.fetch and job.folder == asking.folder
        )

    @Slot()
    def _emit_progress(self) -> None:
        now, states = time.monotonic(), [job.state for job in self._jobs.values()]
        for job in self._jobs.values():
            job.note_progress(now)
        if [job.state for job in self._jobs.values()] != states:
            self.changed.emit()
        self.progressed.emit()


def _shown(job: _Job) -> Download:
    order = job.order
    return Download(
        id=order.id,
        name=order.name,
        repo_id=order.repo_id,
        quantisation=order.quantisation,
        state=job.state,
        num_bytes=job.num_bytes,
        size_bytes=order.size_bytes,
        bytes_per_s=job.bytes_per_s,
        trouble=job.trouble,
        page=job.page,
        path=job.path,
    )


def _left_in(folders: tuple[Path, ...], tidies_up: bool) -> list[tuple[Order, Path, int]]:
    if tidies_up:
        for folder in folders:
            remove_remains(folder)
    left = [(order, folder) for folder in folders for order in unfinished(folder)]
    return [(order, folder, OrderFolder(order, folder).num_bytes) for order, folder in left]


async def _throw_away(job: _Job) -> None:
    if job.task:
        await asyncio.wait([job.task])
    try:
        await asyncio.to_thread(OrderFolder(job.order, job.folder).forget)
    except OSError as error:
        log.warning("What was loaded of %s could not be removed: %s", job.order.name, error)
