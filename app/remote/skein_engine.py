"""The engine of a Skein elsewhere, which `skein serve --engine` lends, as a `RunningEngine`.

A broken connection is told and made again: the answers go on there meanwhile. Only when the engine there has
ended, or has given this window up, is this one an engine that crashed, whose answers are taken up anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, TypeVar

import aiohttp

from app.engine.prompts.prompts_elsewhere import GONE, Answer, PromptsElsewhere
from app.engine.running import CommandLoop
from app.protocol.commands import Command, Submit, ends
from app.protocol.errors import EngineCrashedError, EngineError, ModelLoadError
from app.protocol.events import EventKind, Told
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason, Output
from app.protocol.report import CellUsage, StepReport
from app.protocol.request import Request
from app.protocol.wire import COMMAND, MAX_TEXT_BYTES, MODEL, ReportReader, WireError, check_report, frame
from app.remote.link import (
    HEARTBEAT_S,
    MAX_FRAME_BYTES,
    NOT_UNDERSTOOD,
    PATH,
    STAYS,
    VERSION,
    Files,
    Link,
    first_message,
)
from app.remote.web import ServerError, Web
from app.system.said import said, unpacked

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

T = TypeVar("T")

POLL_S = 0.1
CONNECT_S = 15.0
BYE_S = 1.0  # for the other side to take leave
TAKE_LEAVE = aiohttp.ClientWSTimeout(ws_close=BYE_S)
RETRY_S: Sequence[float] = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)  # and on with the last


class SkeinEngine(CommandLoop[Never]):
    def __init__(
        self, web: Web, name: Path, runner: asyncio.Runner, on_reports_ready: Callable[[], None]
    ) -> None:
        super().__init__(lambda: None, on_reports_ready)
        self._web, self._name = web, name
        self._runner, self._loop = runner, runner.get_loop()
        self._link = Link(self._on_message, Files())
        self._socket: aiohttp.ClientWebSocketResponse[bool] | None = None
        self._session = ""  # as the other side calls this one
        self._num_seen_there = 0
        self._seconds_ahead = 0.0  # this machine's `perf_counter`, of the other's
        self._reader = ReportReader()
        self._last = StepReport(0, (), (), (), CellUsage(0))
        self._open: dict[str, Request] = {}
        self._stopped = asyncio.Event()
        self._prompts = PromptsElsewhere(self._ask)
        self._numbers = itertools.count()
        self._questions: dict[int, Future[Answer]] = {}

    # Any thread.

    def post(self, command: Command) -> None:
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._put, command)

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stopped.set)

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """`work` is called here; its calls on the builder run there."""
        return self._prompts.use(work)

    def _ask(self, name: str, arguments: list[bytes]) -> Answer:
        """On the prompt thread."""
        asked: Future[Answer] = Future()
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._put_question, asked, name, arguments)
        while not self._loop.is_closed():
            with contextlib.suppress(TimeoutError):
                return asked.result(POLL_S)
        raise EngineError(GONE)

    # The engine thread only.

    def run(self) -> None:
        """Returns after `stop`. Raises EngineError when the engine there is gone."""
        try:
            self._runner.run(self._serve())
        except WireError as error:
            raise self._web.strange() from error

    async def close(self) -> None:
        """Every question ends, and the connection."""
        self._stopped.set()
        self._prompts.close()
        for asked in self._questions.values():
            asked.set_exception(EngineError(GONE))
        self._questions.clear()
        if self._socket:
            await self._socket.close()
        await self._web.close()

    async def connect(self) -> ModelInfo:
        """Raises ServerError where another attempt may help, else EngineError."""
        if self._socket:
            await self._socket.close()
        hello = {"version": VERSION, "name": self._name.as_posix(), "session": self._session}
        try:
            async with asyncio.timeout(CONNECT_S):
                self._socket = await self._web.socket(
                    PATH, heartbeat=HEARTBEAT_S, max_msg_size=MAX_FRAME_BYTES, compress=15, timeout=TAKE_LEAVE
                )
                await self._socket.send_bytes(frame(hello | {"seen": self._link.seen}))
                return self._welcomed(*await first_message(self._socket))
        except ServerError as error:
            raise self._said(error) from None
        except (OSError, *NOT_UNDERSTOOD) as error:  # also TimeoutError
            raise ServerError(
                said("The connection to {host} broke off. Try again.", host=self._web.host)
            ) from error

    def _said(self, error: ServerError) -> ServerError:
        host = self._web.host
        texts = {
            404: said("{host} does not lend its engine (skein serve --engine).", host=host),
            503: said("The model at {host} is being loaded. Try again in a moment.", host=host),
        }
        return ServerError(texts.get(error.status, str(error)), error.status)

    def _welcomed(self, welcome: dict[str, Any], model: list[bytes]) -> ModelInfo:
        if "refusal" in welcome:
            raise ModelLoadError(unpacked(welcome["refusal"]))
        if "session" not in welcome:
            raise EngineCrashedError(
                said("The engine at {host} was started again, or did not wait longer.", host=self._web.host)
            )
        self._session, self._num_seen_there = str(welcome["session"]), welcome["seen"]
        self._seconds_ahead = time.perf_counter() - float(welcome["clock"])
        return replace(MODEL.unpacked(model), path=self._name, server=self._web.server.url)

    async def _connect_again(self) -> None:
        for delay in itertools.chain(RETRY_S, itertools.repeat(RETRY_S[-1])):
            await asyncio.sleep(delay)
            try:
                await self.connect()
            except ServerError as error:
                if error.is_refused:
                    raise
            else:
                return

    async def _serve(self) -> None:
        """Until it is stopped, or `_talk` has failed."""
        talking = asyncio.ensure_future(self._talk())
        stopping = asyncio.ensure_future(self._stopped.wait())
        await asyncio.wait((talking, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if talking.done():
            talking.result()
        self._link.put({"do": "bye"})
        await asyncio.wait((talking,), timeout=0 if self._last.trouble else BYE_S)
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
        self._end(*self._open.values(), reason=FinishReason.ABORT)

    async def _talk(self) -> None:
        trouble = said(
            "The connection to {host} is broken. Answers go on there, and Skein connects again.",
            host=self._web.host,
        )
        while True:
            assert self._socket
            await self._link.run(self._socket, self._num_seen_there)
            if self._stopped.is_set():
                return
            self._tell_trouble(trouble)
            await self._connect_again()
            self._tell_trouble("")

    def _put(self, command: Command) -> None:
        if isinstance(command, STAYS):
            return
        text, *files = COMMAND.packed(command)
        if isinstance(command, Submit):
            request = command.request
            self._open[request.request_id] = request
            if max(map(len, (text, *files))) > MAX_TEXT_BYTES:
                notice = said("The chat is too long to be sent to {host}.", host=self._web.host)
                self._end(request, reason=FinishReason.ERROR, notice=notice)
                return
        self._link.put({"do": "post"}, text, files=files)
        if self._last.trouble:  # the other side hears of it later
            self._end(*(one for one in self._open.values() if ends(command, one)), reason=FinishReason.ABORT)

    def _end(self, *requests: Request, reason: FinishReason, notice: str = "") -> None:
        ends = [Output(one.request_id, one.chat_id, "", reason, notice) for one in requests]
        if ends:
            self._tell(outputs=tuple(ends))

    def _put_question(self, asked: Future[Answer], name: str, arguments: list[bytes]) -> None:
        number = next(self._numbers)
        self._questions[number] = asked
        text, *files = arguments or [b""]
        self._link.put({"do": "prompts", "id": number, "name": name}, text, files=files)

    def _on_message(self, message: dict[str, Any], parts: list[bytes]) -> None:
        match message.get("do"):
            case "reports":
                for report in self._reader.unpacked(parts):
                    check_report(report)
                    started_at = max(report.started_at + self._seconds_ahead, 0.0)
                    self._take(replace(report, started_at=started_at))
            case "answer":
                self._questions.pop(message["id"]).set_result((message, parts))
            case _:
                raise WireError("this is no message for a window")

    def _take(self, report: StepReport) -> None:
        for output in report.outputs:
            if output.finish_reason:
                self._open.pop(output.request_id, None)
        self._last = report
        self.put_report(report)

    def _tell_trouble(self, trouble: str) -> None:
        text = trouble or said("The connection to {host} is there again.", host=self._web.host)
        self._tell(trouble=trouble, events=(Told(EventKind.CONNECTION, text),))

    def _tell(self, **changes: Any) -> None:
        self._take(self._last.without_step(**changes))
