"""One prompt over the rows of a table, in the window: one job at a time, answered beside the chats.

GUI thread; tables, SQLite and prompts are worked on in another, one piece of work after the other. For the
scheduler, rows are a program of their own: chats have their turns, and the one in front goes first.
"""

import asyncio
import sqlite3
from collections.abc import Coroutine
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engines import Engines
from app.bridge.model_engine import NO_MODEL
from app.bridge.tasks import spawn
from app.engine.prompts.chat_worker import ChatWorker
from app.protocol.commands import Abort, Forget, Submit
from app.protocol.errors import EngineError, InvalidRequestError, RequestError
from app.protocol.output import FinishReason, Output
from app.protocol.report import StepReport
from app.protocol.request import ROWS, Caller, Request
from app.rows.export import export
from app.rows.job import TAKEN, Counts, Job, JobSettings, State
from app.rows.runner import Runner, shared_tokens
from app.rows.source import cell_text, open_source
from app.rows.template import Sharing
from app.system.said import said

NUM_AHEAD = 2  # rows whose prompts are made while all slots answer
NUM_SLOTS_ELSEWHERE = 8  # of a server that does not tell
SAVE_EVERY_S = 0.5
TELL_EVERY_S = 0.1  # how many rows were read
COUNTS_SHARE = 20  # between two counts of all rows: so many times as long as the last one took
NUM_SAMPLED = 100  # rows of a table that are shown before it is a job
MAX_SHOWN_CHARS = 300  # of a cell
MAX_EARLIER = 20
_DELETED = ".deleted"
_DAMAGED = (OSError, sqlite3.Error, RequestError, ValueError, TypeError, LookupError)  # a job's file

NOTHING_COUNTED = Counts(0, 0, 0)
OTHER_MODEL = said("Another model is being loaded, so the rows wait. Go on once their model is back.")


class ShownRow(NamedTuple):
    """`cells` are cut: of the table, then of the answer."""

    cells: tuple[str, ...]
    state: State = State.WAITING
    error: str = ""


class RowJobs(QObject):
    changed = Signal()  # all but the rows
    answered = Signal()  # some rows have answers now

    def __init__(
        self, engine: Engines, chat_layer: ChatWorker, folder: Path, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine, self._chat_layer, self._folder = engine, chat_layer, folder
        self.table: Path | None = None
        self.columns: tuple[str, ...] = ()  # of the table
        self.settings: JobSettings | None = None  # of the open job; None: a table is looked at
        self.added: tuple[str, ...] = ()  # columns of its answers
        self.counts = NOTHING_COUNTED
        self.sharing: Sharing | None = None
        self.trouble = ""  # one sentence
        self.is_reading = self.is_running = False
        self.limit = 0  # of the rows that are asked now or were last: 0 means all
        self._job: Job | None = None
        self._sample: tuple[ShownRow, ...] = ()
        self._turn = asyncio.Lock()  # one thing is done at a time
        self._num_wanted = 0  # things
        self._is_stopping = self._is_closing = False
        self._open: set[str] = set()  # ids of requests
        self._outputs: list[Output] = []
        self._woken = asyncio.Event()
        self._shared: asyncio.Future[tuple[int, ...]] | None = None  # tokens, while they are asked for
        self._began_at, self._num_before = 0.0, 0
        self._save_at = self._count_at = 0.0
        engine.reported.connect(self._on_reported)
        engine.ended.connect(self._on_ended)
        engine.loading.connect(self._on_loading)

    @property
    def is_busy(self) -> bool:
        return self._num_wanted > 0

    @property
    def num_ended(self) -> int:
        return self.counts.num_done + self.counts.num_failed

    @property
    def rows_per_s(self) -> float:
        """Since these rows were begun or gone on with. 0: not known."""
        seconds = monotonic() - self._began_at
        return (self.num_ended - self._num_before) / seconds if self.is_running and seconds else 0.0

    # What the user does

    def look_at(self, table: Path) -> None:
        """Shows the first rows of a table."""
        self._do(self._look_at(table))

    def open(self, earlier: JobSettings) -> None:
        self._do(self._open_job(earlier))

    def start(self, settings: JobSettings, limit: int = 0, *, again: bool = False) -> None:
        """Begins a job or goes on with it: with its first rows, or all. `again`: also those that failed."""
        self._do(self._start(settings, limit, again))

    def pause(self, reason: str = "") -> None:
        """What runs is broken off, and waits for an answer like the rest."""
        if self.is_reading or self.is_running:
            self._is_stopping, self.trouble = True, self.trouble or reason
            for request_id in tuple(self._open):
                self._engine.post(Abort(request_id))
            if self._shared:
                self._shared.cancel()
            self._woken.set()

    async def close(self) -> None:
        """Rows that are being answered are asked the next time."""
        self._is_closing = True
        self.pause()
        async with self._turn:
            await asyncio.to_thread(self._close_job)
            await asyncio.to_thread(_purge, self._folder)

    async def rows(self, first: int, count: int) -> list[ShownRow]:
        """`count` rows from number `first` on, which counts from 0. Raises OSError, sqlite3.Error."""
        if self._job is None:
            return list(self._sample[first : first + count])
        return await asyncio.to_thread(_shown, self._job.path, first, count)

    async def as_chat(self, number: int) -> tuple[str, str]:
        """What is asked about a row, from 0, and its answer. Raises InvalidRequestError and as `rows`."""
        assert self._job
        return await asyncio.to_thread(_asked, self._job.path, number)

    async def export(self, path: Path) -> None:
        """Raises InvalidRequestError and as `rows`."""
        assert self._job
        await asyncio.to_thread(_export, self._job.path, path)

    async def earlier(self) -> list[JobSettings]:
        """The newest first."""
        return await asyncio.to_thread(_earlier, self._folder)

    def delete(self, job: JobSettings) -> None:
        """It is kept aside until the program ends."""
        self._do(self._delete(job))

    def put_back(self, job: JobSettings) -> None:
        self._do(asyncio.to_thread(_put_back, self._path_of(job)))

    # One at a time

    def _do(self, work: Coroutine[Any, Any, object]) -> None:
        self._num_wanted += 1
        spawn(self._done(work))
        self.changed.emit()

    async def _done(self, work: Coroutine[Any, Any, object]) -> None:
        async with self._turn:
            if self._is_closing:
                work.close()
                return
            self.trouble, self._is_stopping = "", False
            try:
                await work
            except (RequestError, EngineError, OSError, sqlite3.Error) as error:
                self.trouble = sentence(error)
            finally:
                self._num_wanted -= 1
                self.is_reading = self.is_running = False
                self.changed.emit()
                self.answered.emit()

    async def _look_at(self, table: Path) -> None:
        table, columns, sample = await asyncio.to_thread(_sampled, table)
        await self._leave_job()
        self.table, self.columns, self._sample = table, columns, sample
        self.counts = NOTHING_COUNTED._replace(num_rows=len(sample))

    async def _leave_job(self) -> None:
        await asyncio.to_thread(self._close_job)
        self.settings, self.sharing, self.counts = None, None, NOTHING_COUNTED
        self.columns, self.added, self._sample = (), (), ()

    async def _open_job(self, settings: JobSettings) -> None:
        """Reads its table, unless that is known. What is kept of one that is gone is shown, too."""
        if not self._job or self.settings != settings:
            job = await asyncio.to_thread(Job.claimed, self._folder, settings)
            await self._leave_job()
            self._job, self.settings, self.table = job, settings, Path(settings.source)
        job = self._job
        self.is_reading = True
        self.changed.emit()
        try:
            await self._read(job)
        except InvalidRequestError as error:
            self.trouble = sentence(error)
        await asyncio.to_thread(self._count)
        self.columns, self.added, self.sharing = await asyncio.to_thread(_about, job)
        self.is_reading = False

    async def _read(self, job: Job) -> None:
        reading, told_at = job.read(), 0.0
        while num_rows := await asyncio.to_thread(next, reading, 0):
            if not self.columns:
                self.columns, self.added, self.sharing = await asyncio.to_thread(_about, job)
            self.counts = Counts(num_rows, 0, 0)
            if monotonic() >= told_at + TELL_EVERY_S:
                told_at = monotonic()
                self.changed.emit()
            if self._is_stopping:
                break

    async def _start(self, settings: JobSettings, limit: int, again: bool) -> None:
        engine = self._engine.known(settings.model)
        if not (engine and engine.takes_requests):
            raise EngineError(NO_MODEL)
        await self._open_job(settings)
        job = self._job
        assert job
        if again:
            await asyncio.to_thread(job.again)
        waiting = await asyncio.to_thread(job.waiting, 0, 1, limit)
        if waiting and not self._is_stopping:
            await self._run(job, limit)

    async def _run(self, job: Job, limit: int) -> None:
        address = job.settings.model
        engine = self._engine.at(address)
        assert engine.model
        runner = Runner(job, engine.model.sampling, self._chat_layer, None, limit, Caller(ROWS))
        self.limit, self.is_running = limit, True
        await asyncio.to_thread(self._count)
        self._began_at, self._num_before = monotonic(), self.num_ended
        self.changed.emit()
        tokens: tuple[int, ...] = ()
        if not engine.model.is_foreign:  # whose tokens nobody knows here
            find = partial(shared_tokens, beginning=runner.beginning)
            self._shared = asyncio.wrap_future(engine.use_prompts(find))
            try:
                tokens = await self._shared
            except asyncio.CancelledError:  # it was paused while the model was being loaded
                return
            finally:
                self._shared = None
        self._began_at = monotonic()  # a model that was asleep is awake
        self._outputs, self._open = [], set()
        num_at_once = (engine.model.n_seq_max or NUM_SLOTS_ELSEWHERE) + NUM_AHEAD
        requests = list(filter(None, [runner.begin(tokens)]))
        try:
            while not self._is_closing:
                for request in requests:
                    self._open.add(request.request_id)
                    self._engine.post(Submit(request), address)
                    if self._is_stopping:  # since they were made
                        self._engine.post(Abort(request.request_id))
                most = 0 if self._is_stopping else num_at_once
                outputs, self._outputs = self._outputs, []
                saved_at = self._save_at
                requests = await asyncio.to_thread(self._step, runner, outputs, most)
                if self._save_at != saved_at:
                    self.changed.emit()
                    self.answered.emit()
                if not (requests or runner.num_running):
                    break
                if not requests:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._woken.wait(), SAVE_EVERY_S)
                self._woken.clear()
        finally:
            outputs, open_, self._open = self._outputs, self._open, set()
            for request_id in open_:
                self._engine.post(Abort(request_id))
            self._engine.post(Forget(runner.beginning_id))
            self._save_at = self._count_at = 0.0
            await asyncio.to_thread(self._step, runner, outputs, 0)

    def _step(self, runner: Runner, outputs: list[Output], most: int) -> list[Request]:
        """In a thread."""
        for output in outputs:
            runner.take(output)
        requests = runner.next_requests(max(most - runner.num_running, 0))
        if monotonic() >= self._save_at:
            runner.save()
            self._save_at = monotonic() + SAVE_EVERY_S
            if monotonic() >= self._count_at:
                self._count()
        return requests

    def _count(self) -> None:
        """In a thread."""
        assert self._job
        began_at = monotonic()
        self.counts = self._job.counts()
        self._count_at = monotonic() + COUNTS_SHARE * (monotonic() - began_at)

    async def _delete(self, job: JobSettings) -> None:
        if self.settings == job:
            await self._leave_job()
        await asyncio.to_thread(_set_aside, self._path_of(job))
        if not self.settings and (table := self.table):
            self.table = None
            await self._look_at(table)

    def _path_of(self, job: JobSettings) -> Path:
        return self._folder / f"{job.id}.db"

    def _close_job(self) -> None:
        if self._job:
            self._job.close()
        self._job = None

    # The engine's signals

    @Slot(object)
    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        if self._open:
            for report in reports:
                for output in report.outputs:
                    self._take(output)

    @Slot(object)
    def _on_ended(self, output: Output) -> None:
        """What the engine's trouble ends is no trouble of the row's: it waits."""
        is_lost = output.finish_reason is FinishReason.ERROR
        self._take(replace(output, finish_reason=FinishReason.ABORT) if is_lost else output)

    def _take(self, output: Output) -> None:
        if output.request_id not in self._open:
            return
        self._outputs.append(output)
        if output.finish_reason:
            self._open.discard(output.request_id)
            self._woken.set()
            if output.finish_reason is FinishReason.ABORT and not self._is_stopping:
                self.pause(output.notice)

    @Slot(object)
    def _on_loading(self, _path: Path) -> None:
        """It may need the room of ours."""
        model = self.settings.model if self.settings else ""
        if self.is_running and self._engine.front_address != model:
            self.pause(OTHER_MODEL)


def sentence(error: Exception) -> str:
    if isinstance(error, OSError | sqlite3.Error):
        return said("The rows cannot be kept or read: {reason}.", reason=str(error))
    return str(error)


# In a thread.


def _sampled(path: Path) -> tuple[Path, tuple[str, ...], tuple[ShownRow, ...]]:
    path = path.resolve()
    source = open_source(path)
    some = islice(source.rows(), NUM_SAMPLED)
    return path, source.columns, tuple(ShownRow(_cut(row.values), error=row.error) for row in some)


def _about(job: Job) -> tuple[tuple[str, ...], tuple[str, ...], Sharing | None]:
    return job.columns, job.added_columns, job.sharing


def _shown(path: Path, first: int, count: int) -> list[ShownRow]:
    with closing(Job(path)) as job:
        records = ((row, job.record(row)[:-1]) for row in job.rows(first + 1, count))
        return [ShownRow(_cut(map(cell_text, record)), row.state, row.error) for row, record in records]


def _cut(values: Any) -> tuple[str, ...]:
    return tuple(value[:MAX_SHOWN_CHARS] for value in values)


def _asked(path: Path, number: int) -> tuple[str, str]:
    with closing(Job(path)) as job:
        row = job.rows(number + 1, 1)[0]
        return job.prompt_of(row.cells), max(row.texts, key=row.texts.count, default="")


def _export(path: Path, to: Path) -> None:
    with closing(Job(path)) as job:
        export(job, to)


def _earlier(folder: Path) -> list[JobSettings]:
    found = []
    newest = sorted(folder.glob("*.db"), key=_used_at, reverse=True)
    for path in newest[:MAX_EARLIER]:
        with suppress(*_DAMAGED), closing(Job(path)) as job:
            found.append(job.settings)
    return found


def _used_at(path: Path) -> float:
    """SQLite writes into the file beside it first."""
    beside = path.with_name(f"{path.name}-wal")
    return max(one.stat().st_mtime for one in (path, beside) if one.exists())


def _set_aside(path: Path) -> None:
    with closing(Job(path)) as job:
        if not job.claim():
            raise InvalidRequestError(TAKEN)
    path.replace(path.with_suffix(_DELETED))


def _purge(folder: Path) -> None:
    for path in folder.glob(f"*{_DELETED}"):
        path.unlink(missing_ok=True)
        path.with_suffix(".lock").unlink(missing_ok=True)


def _put_back(path: Path) -> None:
    if not path.exists():  # it was not begun anew
        path.with_suffix(_DELETED).replace(path)
