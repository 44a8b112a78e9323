"""A model of a server with OpenAI's API, as a `RunningEngine`: each request is one stream over HTTP.

Prompts, cells and batches are the server's own business: commands about them are dropped. No draft goes there
before it is sent, so not even its tokens are counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Never, TypeVar

from app.engine.running import CommandLoop
from app.protocol.commands import Command, Submit, WatchCells, ends
from app.protocol.errors import EngineError, RequestError
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason, Output
from app.protocol.report import CellUsage, StepReport
from app.protocol.request import Request
from app.protocol.server_figures import ServerFigures
from app.remote.introduction import Introduction, introduced
from app.remote.openai_answer import OpenAiAnswer
from app.remote.openai_body import path_and_body, unknown_sampling
from app.remote.server_metrics import ServerMetrics
from app.remote.web import ServerError, Web
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

log = logging.getLogger(__name__)
T = TypeVar("T")

NOT_TOLD = said("not told by this server")
ASK_EVERY_S = 1.0


class OpenAiEngine(CommandLoop[Never]):
    def __init__(
        self, web: Web, name: Path, runner: asyncio.Runner, on_reports_ready: Callable[[], None]
    ) -> None:
        super().__init__(lambda: None, on_reports_ready)
        self._web, self._name = web, name.as_posix()
        self._runner, self._loop = runner, runner.get_loop()
        self._told: Introduction
        self._model: ModelInfo
        self._running: dict[OpenAiAnswer, asyncio.Task[FinishReason]] = {}
        self._is_watched = False
        self._has_to_ask = asyncio.Event()  # somebody watches, or an answer runs
        self._stopped = asyncio.Event()
        self._step = 0

    # Any thread.

    def post(self, command: Command) -> None:
        self._call(self._handle, command)

    def stop(self) -> None:
        self._call(self._stopped.set)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:  # noqa: ARG002
        future: Future[T] = Future()
        future.set_exception(EngineError(NOT_TOLD))
        return future

    def _call(self, callback: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and every request with it
            self._loop.call_soon_threadsafe(callback, *arguments)

    # The engine thread only.

    async def connect(self) -> ModelInfo:
        """Raises ServerError."""
        self._told = await introduced(self._web)
        self._model = self._told.model(self._name, self._web.server.url)
        return self._model

    async def close(self) -> None:
        await self._web.close()

    def run(self) -> None:
        self._runner.run(self._serve())

    async def _serve(self) -> None:
        asking = asyncio.ensure_future(self._ask_for_figures())
        await self._stopped.wait()
        tasks = [asking, *self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask_for_figures(self) -> None:
        """Until it turns out that there are none."""
        metrics, has_told = ServerMetrics(self._told.program), False
        while await self._has_to_ask.wait():
            pages = [await self._web.get_if_there(path) for path in ("/metrics", "/slots")]
            figures = metrics.figures(*pages)
            self._report(server=ServerFigures(self._told.title, figures))
            has_told = has_told or bool(figures)
            if not has_told:
                return
            if not (self._is_watched or self._running):
                self._has_to_ask.clear()
            await asyncio.sleep(ASK_EVERY_S)

    def _handle(self, command: Command) -> None:
        if isinstance(command, WatchCells):
            self._is_watched = command.is_watching
        if isinstance(command, Submit):
            answer = OpenAiAnswer(command.request, self._model)
            task = asyncio.ensure_future(self._take(answer))
            self._running[answer] = task
            task.add_done_callback(partial(self._end, answer))
            self._report()
        if self._is_watched or self._running:
            self._has_to_ask.set()
        for answer, task in self._running.items():
            if ends(command, answer.request):
                task.cancel()  # which closes the connection: the server stops computing

    async def _take(self, answer: OpenAiAnswer) -> FinishReason:
        """Why it ended. Raises ServerError, RequestError, and others for what is no answer."""
        if answer.request.max_tokens == 0:
            return FinishReason.LENGTH
        path, body = path_and_body(answer.request, self._name, self._told.program)
        async with contextlib.aclosing(self._web.events(path, body)) as chunks:
            async for chunk in chunks:
                self._report((answer.take(chunk),))
        if answer.finish_reason is None:
            raise ServerError(said("{host} broke the answer off.", host=self._web.host))
        return answer.finish_reason

    def _end(self, answer: OpenAiAnswer, task: asyncio.Task[FinishReason]) -> None:
        """Whatever becomes of one answer, the others go on."""
        del self._running[answer]
        error = None if task.cancelled() else task.exception()
        if error and not isinstance(error, ServerError | RequestError):
            log.error("An answer could not be read.", exc_info=error)
            error = self._web.strange()
        if task.cancelled():
            last = answer.end(FinishReason.ABORT)
        elif error:
            is_refused = not isinstance(error, ServerError) or error.is_refused
            last = answer.end(FinishReason.ERROR, str(error), is_refused=is_refused)
        else:
            last = answer.end(task.result(), self._left_out(answer.request))
        self._report((last,))

    def _left_out(self, request: Request) -> str:
        names = ", ".join(unknown_sampling(request, self._told.program))
        return said("Not known to this server: {names}.", names=names) if names else ""

    def _report(self, outputs: tuple[Output, ...] = (), server: ServerFigures | None = None) -> None:
        self._step += 1
        begun = [one for one in self._running if one.has_begun]
        self.put_report(
            StepReport(
                self._step,
                outputs,
                spans=(),
                slots=tuple(one.slot(number) for number, one in enumerate(begun)),
                cells=CellUsage(0),
                started_at=perf_counter(),
                waiting=tuple(one.waiting() for one in self._running if not one.has_begun),
                server=server,
            )
        )
