"""A server on a real socket, with the strict fake for an engine unless a test brings another."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from app.api.engine_client import Defaults, EngineClient
from app.api.json_body import Limits
from app.api.lending import Lender
from app.api.server import ApiServer
from app.api.state import ServedModels
from app.api.threaded_engine import OnProgress, OpenEngine, ThreadedEngine
from app.engine.backend import Backend
from app.engine.engine import Engine
from app.engine.loop import EngineLoop
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport
from tests.api.one_model import OneModel
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend, endless_token

KEY = "the-right-key"
SOON = 5.0
OpenBackend = Callable[[OnProgress], contextlib.AbstractContextManager[Backend]]


def with_backend(open_backend: OpenBackend) -> OpenEngine:
    @contextlib.contextmanager
    def open_engine(
        on_progress: OnProgress, on_reports_ready: Callable[[], None]
    ) -> Iterator[tuple[ModelInfo, EngineLoop]]:
        with open_backend(on_progress) as backend:
            yield backend.model, EngineLoop(Engine(backend), on_reports_ready)

    return open_engine


@dataclass
class Served:
    backend: Any
    engine: ThreadedEngine
    client: EngineClient
    server: ApiServer
    http: aiohttp.ClientSession
    reports: list[StepReport] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.server.address.rpartition(":")[2])

    @property
    def num_steps(self) -> int:
        """Steps that computed something."""
        return sum(bool(report.spans) for report in self.reports)

    async def post(self, path: str, body: object, **options: Any) -> tuple[int, Any]:
        async with self.http.post(self.server.address + path, json=body, **options) as response:
            return response.status, await response.json()

    async def get(self, path: str, **options: Any) -> tuple[int, Any]:
        async with self.http.get(self.server.address + path, **options) as response:
            return response.status, await response.json()

    async def events(self, path: str, body: dict[str, Any]) -> list[Any]:
        """Every event of a streamed answer, the last one [DONE] where there is one."""
        async with self.http.post(self.server.address + path, json=body | {"stream": True}) as response:
            assert response.status == 200, await response.text()
            assert response.content_type == "text/event-stream"
            text = await response.text()
        datas = [line.removeprefix("data: ") for line in text.split("\n\n") if line.startswith("data: ")]
        return [data if data == "[DONE]" else json.loads(data) for data in datas]

    async def named_events(self, path: str, body: dict[str, Any]) -> list[tuple[str, Any]]:
        """Every event of a streamed answer with its name, comments left out."""
        async with self.http.post(self.server.address + path, json=body | {"stream": True}) as response:
            assert response.status == 200, await response.text()
            blocks = (await response.text()).strip().split("\n\n")
        pairs = [block.split("\n") for block in blocks if not block.startswith(":")]
        return [
            (name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in pairs
        ]

    async def raw(self, data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to which `data` was sent."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        return reader, writer

    async def answer_to(self, data: bytes) -> tuple[int, bytes]:
        """The status and the rest of what comes back until the server closes; status 0 for nothing."""
        reader, writer = await self.raw(data)
        with contextlib.closing(writer), contextlib.suppress(ConnectionError):
            answer = await asyncio.wait_for(reader.read(), SOON)
            return int(answer.split(b" ")[1]) if answer else 0, answer
        return 0, b""

    def is_idle(self) -> bool:
        last = self.client.last_report
        return last is not None and not last.waiting and not any(slot.is_running for slot in last.slots)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not condition():
            await asyncio.sleep(0.002)


@contextlib.asynccontextmanager
async def serving(
    backend: Backend | None = None,
    *,
    key: str | None = KEY,
    num_spare_slots: int = 0,
    max_open: int = 256,
    limits: Limits | None = None,
    defaults: Defaults | None = None,
    open_backend: OpenBackend | None = None,
    make_lender: Callable[[ServedModels], Lender] | None = None,
    open_engine: OpenEngine | None = None,
    aliases: tuple[str, ...] = (),
    **server: Any,
) -> AsyncIterator[Served]:
    backend = backend or CountingBackend(**TINY_CONTEXT)
    engine = ThreadedEngine(
        open_engine or with_backend(open_backend or (lambda _on_progress: contextlib.nullcontext(backend)))
    )
    client = EngineClient(engine, num_spare_slots, max_open, defaults)
    engines = OneModel(client, aliases)
    lender = make_lender(engines) if make_lender else None
    api = ApiServer(engines, key=key, limits=limits, lender=lender, **server)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    reports: list[StepReport] = []

    def on_reports(new: Sequence[StepReport]) -> None:
        reports.extend(new)
        client.on_reports(new)

    await api.start()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(headers=headers, connector=connector) as http:
        await engine.start(on_reports)
        try:
            yield Served(backend, engine, client, api, http, reports)
        finally:
            await api.stop()
            await engine.stop()


class Steps:
    """Lets the engine compute one step at a time: `CountingBackend(before_decode=steps.wait)`."""

    def __init__(self) -> None:
        self._allowed = threading.Semaphore(0)
        self._is_free = False
        self.num_begun = 0

    def wait(self, _batch: object) -> None:
        self.num_begun += 1
        if not self._is_free:
            assert self._allowed.acquire(timeout=SOON), "nobody has allowed this step"

    def allow(self, num_steps: int = 1) -> None:
        self._allowed.release(num_steps)

    def free(self) -> None:
        self._is_free = True
        self._allowed.release(1000)


def endless(**model: Any) -> CountingBackend:
    return CountingBackend(endless_token, **(TINY_CONTEXT | model))


async def blocks_of_broken_off(path: str, body: object, begun: bytes) -> list[str]:
    """Of an answer whose model is unloaded once it has come to `begun`."""
    steps = Steps()
    steps.allow(2)
    async with (
        serving(endless(before_decode=steps.wait)) as served,
        served.http.post(served.server.address + path, json=body) as response,
    ):
        await response.content.readuntil(begun)
        served.client.fail_open("The model was unloaded.")
        steps.free()
        return (await response.text()).strip().split("\n\n")
