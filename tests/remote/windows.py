"""A window without a window: a remote engine on its thread, over a connection that tests can break."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.api.lending import Lender
from app.api.state import ServedModel, ServedModels
from app.engine.running import RunningEngine
from app.protocol.commands import Submit
from app.protocol.errors import EngineError
from app.protocol.load import LoadParams, Server, ServerKind
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason, Output
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.remote.opening import open_remote
from tests.api.conftest import KEY, Served, serving, until


@dataclass
class Window:
    """`run` is its engine thread."""

    params: LoadParams
    engine: RunningEngine | None = None
    model: ModelInfo | None = None
    reports: list[StepReport] = field(default_factory=list)
    error: EngineError | None = None
    has_ended: bool = False

    def run(self) -> None:
        try:
            with open_remote(self.params, lambda _done: True, self._take) as (self.model, self.engine):
                self.engine.run()
        except EngineError as error:
            self.error = error
        self.has_ended = True

    def _take(self) -> None:
        if self.engine:
            self.reports += self.engine.take_reports()

    def post(self, command: Any) -> None:
        assert self.engine
        self.engine.post(command)

    def ask(self, name: str, text: str = "Hello", **options: Any) -> None:
        request = Request(name, f"chat {name}", (Message(Role.USER, text),), **options)
        self.post(Submit(request))

    @property
    def outputs(self) -> list[Output]:
        return [output for report in self.reports for output in report.outputs]

    def text(self, name: str) -> str:
        return "".join(output.text for output in self.outputs if output.request_id == name)

    def tokens(self, name: str) -> list[int]:
        return [token for one in self.outputs if one.request_id == name for token in one.token_ids]

    def ends(self, name: str) -> list[FinishReason]:
        of_it = [one for one in self.outputs if one.request_id == name]
        return [one.finish_reason for one in of_it if one.finish_reason]

    @property
    def trouble(self) -> str:
        return self.reports[-1].trouble if self.reports else ""


def params(url: str, key: str = KEY, fingerprint: str = "", name: str = "fake") -> LoadParams:
    return LoadParams(Path(name), server=Server(url, ServerKind.SKEIN, key, fingerprint))


@contextlib.asynccontextmanager
async def opened(load: LoadParams) -> AsyncIterator[Window]:
    window = Window(load)
    thread = threading.Thread(target=window.run, name="window")
    thread.start()
    try:
        await until(lambda: window.engine is not None or window.has_ended)
        yield window
    finally:
        if window.engine:
            window.engine.stop()
        await asyncio.to_thread(thread.join)


class Counted:
    """Counts who holds a model."""

    def __init__(self, engines: ServedModels) -> None:
        self._engines, self.close, self.num_leases = engines, engines.close, 0

    @property
    def models(self) -> Sequence[ServedModel]:
        return self._engines.models

    @contextlib.asynccontextmanager
    async def lease(self, name: str, /, **how: bool) -> AsyncIterator[ServedModel]:
        async with self._engines.lease(name, **how) as model:
            self.num_leases += 1
            try:
                yield model
            finally:
                self.num_leases -= 1


@contextlib.asynccontextmanager
async def lending(**options: Any) -> AsyncIterator[tuple[Served, Lender]]:
    """A server that lends its engine."""
    of_lender = {name: options.pop(name) for name in ("gives_control", "grace_s") if name in options}
    made: list[Lender] = []

    def make(engines: ServedModels) -> Lender:
        made.append(Lender(Counted(engines), **of_lender))
        return made[0]

    hosts = ["127.0.0.1"]  # on any port: through a proxy
    async with serving(make_lender=make, allowed_hosts=hosts, **options) as served:
        yield served, made[0]


class Proxy:
    """Between a window and a server. `cut` breaks what is open; while `is_cut`, nobody gets through."""

    def __init__(self, port: int) -> None:
        self.upstream = port
        self.is_cut = False
        self.goes_on = asyncio.Event()  # cleared: bytes for the window wait
        self.goes_on.set()
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.num_bytes_up = 0  # from the window
        self.url = ""

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[Proxy]:
        server = await asyncio.start_server(self._on_connected, "127.0.0.1")
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            self.is_cut = True
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.cut()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def _on_connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        if self.is_cut:
            self.cut()
        else:
            self._tasks.add(asyncio.ensure_future(self._connect(reader, writer)))

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        self._writers.append(up_writer)
        if self.is_cut:
            self.cut()
        await asyncio.gather(self._pump(reader, up_writer), self._pump(up_reader, writer, is_down=True))

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_down: bool = False
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(4096):
                if is_down:
                    await self.goes_on.wait()
                else:
                    self.num_bytes_up += len(data)
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


def is_answered(window: Window, name: str) -> Callable[[], bool]:
    return lambda: bool(window.ends(name))
