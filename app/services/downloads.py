"""Models on their way to this machine: some at once, the others waiting, each can be paused or cancelled.

What was begun is offered again at the next start. Knows no widgets. GUI thread.
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

from app.bridge.tasks import spawn
from app.models.download import Fetch
from app.models.hub_errors import DownloadError, GatedError, HubError
from app.models.order import Order, OrderFolder, remove_remains, unfinished
from app.services.preferences import Preferences
from app.system import paths

log = logging.getLogger(__name__)

MAX_AT_ONCE = 3
TELL_MS = 250
SPEED_SAMPLES = 20  # those of the last five seconds

ReadToken = Callable[[str], Awaitable[str]]


class State(StrEnum):
    WAITING = "waiting"  # until another one is done
    LOADING = "loading"
    CHECKING = "checking"  # what is here already
    PAUSED = "paused"
    FAILED = "failed"  # what is here stays; it can be gone on with
    DONE = "done"


RUNNING = (State.WAITING, State.LOADING, State.CHECKING)


@dataclass(frozen=True, slots=True)
class Download:
    """How one stands at a moment."""

    id: str
    name: str
    repo_id: str
    quantisation: str
    state: State
    num_bytes: int
    size_bytes: int
    bytes_per_s: float = 0.0
    trouble: str = ""  # why it failed; of one that runs, why nothing comes at the moment
    page: str = ""  # a web page where something must be done before it can be had
    path: Path | None = None  # once it is done

    @property
    def seconds_left(self) -> float | None:
        """None: nobody can tell."""
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
    restored = Signal()  # there are some that an earlier run has begun

    def __init__(
        self, preferences: Preferences, read_token: ReadToken, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._read_token = read_token
        self._jobs: dict[str, _Job] = {}
        self._places = asyncio.Semaphore(MAX_AT_ONCE)
        self._leaving: dict[str, asyncio.Task[None]] = {}  # whose files are being removed
        self._restoring = asyncio.Lock()  # who holds it may remove files that nobody needs
        self._is_closing = False
        self._telling = QTimer(self, interval=TELL_MS)
        self._telling.timeout.connect(self._tell)

    @property
    def folder(self) -> Path:
        """Where new ones go."""
        return self._preferences.settings.download_folder or paths.models_dir()

    @property
    def items(self) -> tuple[Download, ...]:
        """In the order they were asked for."""
        return tuple(_shown(job) for job in self._jobs.values())

    @property
    def num_running(self) -> int:
        return sum(job.is_running for job in self._jobs.values())

    async def restore(self) -> None:
        """What an earlier run has begun is there again, and paused. Until it is, nothing else begins."""
        folders = tuple(dict.fromkeys((self.folder, paths.models_dir())))  # perhaps another was chosen since
        async with self._restoring:
            left = await asyncio.to_thread(_left_in, folders, tidies_up=not self._jobs)
            for order, folder, num_bytes in left:
                self._jobs.setdefault(order.id, _Job(order, folder, State.PAUSED, num_bytes))
        self.changed.emit()
        if left:
            self.restored.emit()

    def start(self, order: Order) -> None:
        """Also of one that was paused, or has failed. One that is done is looked at again."""
        job = self._jobs.get(order.id)
        if job is None or job.state is State.DONE:
            job = self._jobs[order.id] = _Job(order, self.folder, State.PAUSED)
            job.task = self._leaving.get(order.id)  # that must be gone first
        elif not job.is_running:
            job.order = order  # the same bytes, perhaps from a hub or a repository that has them still
        self._begin(job)

    def resume(self, download_id: str) -> None:
        self._begin(self._jobs[download_id])

    def pause(self, download_id: str) -> None:
        """What is here stays."""
        job = self._jobs[download_id]
        if job.is_running and job.task:
            job.task.cancel()
            self._end(job, State.PAUSED)

    def cancel(self, download_id: str) -> None:
        """What is here goes. Of one that is done, only the note goes."""
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
        self._telling.stop()

    # One of them

    def _begin(self, job: _Job) -> None:
        if job.is_running or self._is_closing:
            return
        job.state, job.trouble, job.page = State.WAITING, "", ""
        job.samples.clear()
        job.task = spawn(self._run(job, job.task))
        self._telling.start()
        self.changed.emit()

    async def _run(self, job: _Job, before: asyncio.Task[None] | None) -> None:
        if before:  # it may still be writing to the same file
            await asyncio.wait([before])
        async with self._restoring:
            pass
        async with self._places:
            try:
                token = await self._read_token(job.order.endpoint)
                job.fetch = Fetch(
                    job.order, job.folder, token, reserved_bytes=lambda: self._reserved_bytes(job)
                )
                job.path = await job.fetch.run()
            except (HubError, DownloadError) as error:
                if job.task is asyncio.current_task():  # else it was paused in between, and goes on already
                    self._fail(job, error)
            else:
                self._end(job, State.DONE)
                self.finished.emit(_shown(job))
            finally:
                if job.is_running and job.task is asyncio.current_task():  # a bug of ours, told elsewhere
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
            self._telling.stop()
        self.changed.emit()

    def _reserved_bytes(self, asking: _Job) -> int:
        """What the others that run will still write into the same folder."""
        return sum(
            job.missing_bytes
            for job in self._jobs.values()
            if job is not asking and job.fetch and job.folder == asking.folder
        )

    @Slot()
    def _tell(self) -> None:
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
