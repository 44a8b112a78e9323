"""An engine on its thread: loaded, stopped, failed, at any moment."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator

import pytest

from app.api.threaded_engine import ThreadedEngine
from app.protocol.commands import Submit
from app.protocol.errors import EngineError, ModelLoadCancelledError, ModelLoadError
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from tests.api.conftest import until, with_backend
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend, endless_token


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("skein")}


@contextlib.contextmanager
def slow(on_progress: Callable[[float], bool]) -> Iterator[CountingBackend]:
    pause = threading.Event()
    while on_progress(0.5):
        pause.wait(0.001)
    raise ModelLoadCancelledError("called off")
    yield CountingBackend()


@contextlib.contextmanager
def quick(_on_progress: Callable[[float], bool]) -> Iterator[CountingBackend]:
    yield CountingBackend(endless_token, **(TINY_CONTEXT | {"n_ctx": 16_384}))


@contextlib.contextmanager
def broken(_on_progress: Callable[[float], bool]) -> Iterator[CountingBackend]:
    raise ModelLoadError("x.gguf is not a GGUF file.")
    yield CountingBackend()


async def test_it_answers_until_it_is_stopped():
    engine = ThreadedEngine(with_backend(quick))
    reports: list[StepReport] = []
    model = await engine.start(reports.extend)
    assert engine.model == model
    engine.post(Submit(Request("r", "c", (Message(Role.USER, "x"),))))
    await until(lambda: len(reports) > 3)
    await engine.stop()
    assert engine.model is None
    assert engine.ended.result() is None
    assert reports[-1].outputs[-1].finish_reason == "abort"
    assert threads() == set()


async def test_a_load_can_be_called_off():
    engine = ThreadedEngine(with_backend(slow))
    loading = asyncio.ensure_future(engine.start(lambda _reports: None))
    await asyncio.sleep(0)
    await engine.stop()
    with pytest.raises(ModelLoadCancelledError):
        await loading
    assert threads() == set()


async def test_a_load_that_fails_says_why():
    engine = ThreadedEngine(with_backend(broken))
    with pytest.raises(ModelLoadError, match="not a GGUF"):
        await engine.start(lambda _reports: None)
    await engine.stop()
    assert threads() == set()


async def test_stopping_what_was_never_started_does_nothing():
    await ThreadedEngine(with_backend(quick)).stop()
    assert threads() == set()


async def test_work_on_prompts_is_done_and_its_errors_come_back():
    engine = ThreadedEngine(with_backend(quick))
    await engine.start(lambda _reports: None)
    request = Request("r", "c", prompt=("abc",))
    future = engine.use_prompts(lambda prompts: prompts.build(request).token_ids)
    assert await asyncio.wrap_future(future) == (97, 98, 99)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wrap_future(engine.use_prompts(lambda _prompts: 1 // 0))
    await engine.stop()
    with pytest.raises(EngineError, match="stopped"):
        await asyncio.wrap_future(engine.use_prompts(lambda _prompts: None))


async def test_work_on_prompts_that_never_began_ends_with_the_engine():
    engine = ThreadedEngine(with_backend(quick))
    await engine.start(lambda _reports: None)
    begun, go_on = threading.Event(), threading.Event()

    def wait(_prompts: object) -> None:
        begun.set()
        go_on.wait(5)

    first = engine.use_prompts(wait)
    behind = [engine.use_prompts(lambda _prompts: None) for _ in range(3)]
    await until(begun.is_set)
    asyncio.get_running_loop().call_later(0.02, go_on.set)
    await engine.stop()
    await asyncio.wrap_future(first)
    results = await asyncio.gather(*map(asyncio.wrap_future, behind), return_exceptions=True)
    assert all(result is None or isinstance(result, EngineError) for result in results)
