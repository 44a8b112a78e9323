"""An engine whose model is unloaded while nobody needs it, and loaded again for the next request.

llama-server does so with --sleep-idle-seconds. Cells of chats are lost: they are computed again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from app.api.threaded_engine import OnReports, OpenEngine, ThreadedEngine
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.commands import Abort, Command, SlotCommand, Submit
from app.protocol.errors import EngineError, ModelLoadCancelledError
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport
from app.system.freed_memory import give_back

T = TypeVar("T")


class SleepingEngine:
    """Used as a `ThreadedEngine`, on the thread of the asyncio loop.

    `ended` is about the whole of it: falling asleep is no end. A model that cannot be loaded again is one.
    """

    def __init__(self, open_engine: OpenEngine, idle_s: float) -> None:
        self._engine = ThreadedEngine(open_engine)
        self._idle_s = idle_s
        self._loop = asyncio.get_running_loop()
        self._on_reports: OnReports = lambda _reports: None
        self._timer: asyncio.TimerHandle | None = None
        self.begin_anew(open_engine)

    def begin_anew(self, open_engine: OpenEngine) -> None:
        """Once it has ended, it may be started again, with another engine."""
        self._open_engine = open_engine
        self._model: ModelInfo | None = None
        self._open: set[str] = set()  # ids of requests that have not ended
        self._waiting: list[Callable[[], None]] = []  # what came while it was asleep
        self._results: set[Future[Any]] = set()  # of `use_prompts`
        self._change: asyncio.Task[None] | None = None  # it falls asleep or wakes up
        self._is_stopping = False
        self.is_asleep = False
        self.ended: asyncio.Future[EngineError | None] = self._loop.create_future()
        if self._engine.ended.done():
            self._engine.begin_anew(open_engine)

    @property
    def model(self) -> ModelInfo | None:
        """The one that it has, or will have again."""
        return None if self.ended.done() else self._model

    async def start(self, on_reports: OnReports) -> ModelInfo:
        """Returns when the model is loaded. Raises EngineError if it cannot be."""
        self._on_reports = on_reports
        try:
            self._model = await self._load()
        except EngineError as error:
            self._end(error)
            raise
        self._note_use()
        return self._model

    async def stop(self) -> None:
        self._is_stopping = True
        if self._timer:
            self._timer.cancel()
        if not self.is_asleep or self._change:
            await self._engine.stop()
        if self._change:
            await self._change
        self._end(None)

    def post(self, command: Command) -> None:
        match command:
            case Submit(request):
                self._open.add(request.request_id)
            case Abort(request_id):
                self._open.discard(request_id)
        if self.ended.done():
            return
        if not self._is_away:
            self._engine.post(command)
        elif isinstance(command, Submit):
            self._when_awake(lambda: self._submit(command))
        elif isinstance(command, SlotCommand):
            self._when_awake(lambda: self._engine.post(command))
        self._note_use()

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        result: Future[T] = Future()

        def pass_on(done: Future[T]) -> None:  # on the prompt thread
            self._loop.call_soon_threadsafe(self._settle, result, done)

        self._results.add(result)
        self._when_awake(lambda: self._engine.use_prompts(work).add_done_callback(pass_on))
        return result

    @property
    def _is_away(self) -> bool:
        return self.is_asleep or self._change is not None

    def _when_awake(self, call: Callable[[], None]) -> None:
        if not self._is_away:
            call()
            return
        self._waiting.append(call)
        if self._change is None:
            self._change = asyncio.ensure_future(self._wake())

    def _submit(self, command: Submit) -> None:
        if command.request.request_id in self._open:  # it was not aborted meanwhile
            self._engine.post(command)

    def _take(self, reports: Sequence[StepReport]) -> None:
        self._open -= {
            output.request_id for report in reports for output in report.outputs if output.finish_reason
        }
        self._on_reports(reports)
        self._note_use()

    def _settle(self, result: Future[T], done: Future[T]) -> None:
        if result not in self._results:  # `_end` has
            return
        self._results.discard(result)
        if not result.set_running_or_notify_cancel():
            pass
        elif error := done.exception():
            result.set_exception(error)
        else:
            result.set_result(done.result())
        self._note_use()

    def _note_use(self) -> None:
        """It falls asleep so long after the last one."""
        if self._timer:
            self._timer.cancel()
        is_needed = self._open or self._results or self._is_away
        self._timer = None if is_needed else self._loop.call_later(self._idle_s, self._sleep)

    def _sleep(self) -> None:
        self._change = asyncio.ensure_future(self._fall_asleep())

    async def _fall_asleep(self) -> None:
        await self._engine.stop()
        self._change = None
        if error := self._engine.ended.result():
            self._end(error)
            return
        self.is_asleep = True
        give_back()
        if self._waiting and not self._is_stopping:
            self._change = asyncio.ensure_future(self._wake())

    async def _wake(self) -> None:
        if self._is_stopping:
            return
        self._engine.begin_anew(self._open_engine)
        self.is_asleep = False
        try:
            await self._load()
        except EngineError as error:
            await self._engine.stop()  # its thread has told the error, and may not have ended yet
            self._end(error)
            return
        finally:
            self._change = None
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()
        self._note_use()

    async def _load(self) -> ModelInfo:
        model = await self._engine.start(self._take)
        self._engine.ended.add_done_callback(self._on_engine_ended)
        return model

    def _on_engine_ended(self, ended: asyncio.Future[EngineError | None]) -> None:
        if self._change is None:  # by itself
            self._end(ended.result())

    def _end(self, error: EngineError | None) -> None:
        for result in self._results:
            if result.set_running_or_notify_cancel():
                result.set_exception(error or EngineError("The engine stopped."))
        self._results.clear()
        if not self.ended.done():
            self.ended.set_result(None if isinstance(error, ModelLoadCancelledError) else error)
