"""An engine that unloads its model while it is idle."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future

import aiohttp
import pytest

from app.api import sleeping_engine
from app.api.engine_client import EngineClient
from app.api.server import ApiServer
from app.api.sleeping_engine import SleepingEngine
from app.api.threaded_engine import OnProgress
from app.protocol.errors import EngineError, ModelLoadError
from tests.api.conftest import Served, Steps, until, with_backend
from tests.api.test_threaded_engine import threads
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend, endless_token

SOON_S = 0.02  # to fall asleep
SHORT = {"prompt": "Hi", "max_tokens": 2}


class Loads:
    """Counts what was loaded, and what is."""

    def __init__(self, **options: object) -> None:
        self.num_loaded = self.num_there = 0
        self.options = options
        self.before_load: Callable[[], None] = lambda: None

    @contextlib.contextmanager
    def open(self, _on_progress: OnProgress) -> Iterator[CountingBackend]:
        self.before_load()
        self.num_loaded += 1
        self.num_there += 1
        try:
            yield CountingBackend(endless_token, **TINY_CONTEXT, **self.options)  # type: ignore[arg-type]
        finally:
            self.num_there -= 1


@contextlib.asynccontextmanager
async def serving(loads: Loads, idle_s: float = SOON_S) -> AsyncIterator[Served]:
    engine = SleepingEngine(with_backend(loads.open), idle_s)
    client = EngineClient(engine)
    server = ApiServer(client, key=None)
    await server.start()
    async with aiohttp.ClientSession() as http:
        await engine.start(client.on_reports)
        await client.template_facts()
        try:
            yield Served(None, engine, client, server, http)  # type: ignore[arg-type]
        finally:
            await server.stop()
            await engine.stop()
    assert loads.num_there == 0
    assert threads() == set()


async def test_it_sleeps_when_idle_and_wakes_for_a_request():
    loads = Loads()
    async with serving(loads) as served:
        _, awake = await served.post("/generate", SHORT)
        await until(lambda: served.client.is_asleep)
        assert loads.num_there == 0
        _, woken = await served.post("/generate", SHORT)
        assert woken["text"] == awake["text"]
        assert loads.num_loaded == 2
        await until(lambda: served.client.is_asleep)


async def test_asleep_it_keeps_no_freed_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = Loads()
    num_there: list[int] = []
    monkeypatch.setattr(sleeping_engine, "give_back", lambda: num_there.append(loads.num_there))
    async with serving(loads) as served:
        await until(lambda: served.client.is_asleep)
    assert num_there == [0]


@pytest.mark.parametrize("path", ["/health", "/props", "/v1/models", "/models", "/metrics", "/slots"])
async def test_what_tells_about_it_lets_it_sleep(path):
    loads = Loads()
    async with serving(loads) as served:
        await until(lambda: served.client.is_asleep)
        async with served.http.get(served.server.address + path) as response:
            assert response.status == 200
            text = await response.text()
        assert served.client.is_asleep
    assert loads.num_loaded == 1
    assert path != "/props" or '"is_sleeping":true' in text


async def test_tokenizing_wakes_it():
    loads = Loads()
    async with serving(loads) as served:
        await until(lambda: served.client.is_asleep)
        assert await served.post("/tokenize", {"content": "Hi"}) == (200, {"tokens": list(b"Hi")})
        assert loads.num_loaded == 2


async def test_it_does_not_sleep_while_it_answers():
    steps, loads = Steps(), Loads()
    loads.options = {"before_decode": steps.wait}
    async with serving(loads) as served:
        answering = asyncio.ensure_future(served.post("/generate", SHORT))
        await until(lambda: steps.num_begun > 0)
        await asyncio.sleep(3 * SOON_S)
        assert not served.client.is_asleep
        steps.free()
        assert (await answering)[0] == 200
        await until(lambda: served.client.is_asleep)


async def test_many_requests_wake_it_once():
    loads = Loads()
    async with serving(loads) as served:
        await until(lambda: served.client.is_asleep)
        answers = await asyncio.gather(*(served.post("/generate", SHORT) for _number in range(5)))
        assert {status for status, _body in answers} == {200}
        assert loads.num_loaded == 2


async def test_who_leaves_while_it_wakes_is_not_answered():
    loads = Loads()
    has_left = threading.Event()
    async with serving(loads) as served:
        await until(lambda: served.client.is_asleep)
        loads.before_load = has_left.wait
        leaving = asyncio.ensure_future(served.post("/generate", SHORT))
        await until(lambda: served.client.num_open == 1)
        leaving.cancel()
        await until(lambda: served.client.num_open == 0)
        has_left.set()
        await until(lambda: loads.num_loaded == 2 and served.client.is_asleep)
        assert not served.client.metrics.num_generated_tokens


async def test_a_model_that_cannot_be_loaded_again_ends_it_and_those_that_wait():
    loads = Loads()

    def fail() -> None:
        raise ModelLoadError("model.gguf is gone.")

    async with serving(loads) as served:
        await until(lambda: served.client.is_asleep)
        loads.before_load = fail
        status, body = await served.post("/tokenize", {"content": "Hi"})
        assert (status, body["error"]["message"]) == (503, "model.gguf is gone.")
        assert isinstance(served.engine.ended.result(), ModelLoadError)
        assert (await served.post("/generate", SHORT))[0] == 503


async def test_it_can_be_stopped_at_any_moment():
    for moment in range(4):
        loads = Loads()
        async with serving(loads) as served:
            if moment > 0:
                await until(lambda: served.client.is_asleep)
            if moment > 1:
                served.client._engine.use_prompts(lambda prompts: prompts.tokenize("Hi"))
            if moment > 2:
                await asyncio.sleep(0)
        assert served.engine.ended.result() is None


async def test_stopped_before_it_could_wake_it_stays_asleep():
    loads = Loads()
    async with serving(loads) as served:
        await until(lambda: served.client.is_asleep)
        asked = served.engine.use_prompts(lambda prompts: prompts.tokenize("Hi"))
        await served.engine.stop()
        assert isinstance(asked.exception(timeout=0), EngineError)
    assert loads.num_loaded == 1


class EndsAtOnce:
    """An engine that has ended before anyone could ask it."""

    def use_prompts(self, _work: object) -> Future[object]:
        future: Future[object] = Future()
        future.set_exception(EngineError("It has ended."))
        return future

    def run(self) -> None:
        pass

    def stop(self) -> None:
        pass


async def test_an_engine_that_ends_as_it_is_asked_tells_who_asked_once(caplog):
    loads = Loads()
    open_before = with_backend(loads.open)

    @contextlib.contextmanager
    def open_engine(*callbacks):
        with open_before(*callbacks) as (model, engine):
            yield model, engine if loads.num_loaded == 1 else EndsAtOnce()

    engine = SleepingEngine(open_engine, SOON_S)
    await engine.start(lambda _reports: None)
    await until(lambda: engine.is_asleep)
    asked = engine.use_prompts(lambda prompts: prompts.tokenize("Hi"))
    await asyncio.sleep(0)  # it begins to load
    for thread in threading.enumerate():
        if thread.name == "skein-engine":
            thread.join()  # so that the loop hears of load and end at once
    assert await engine.ended is None
    await asyncio.sleep(0)
    await engine.stop()
    assert isinstance(asked.exception(timeout=0), EngineError)
    assert not caplog.records
