"""The one file here with real threads: the real engine, on the fake backend unless marked native."""

import asyncio
import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QThread
from pytestqt.qtbot import QtBot
from qasync import QEventLoop

from app.bridge.engine_thread import EngineThread
from app.bridge.model_engine import ModelEngine
from app.protocol.commands import Submit
from app.protocol.errors import DecodeError, ModelLoadCancelledError, ModelLoadError
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason, Output
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from tests.fakes import CountingBackend, endless_token

PARAMS = LoadParams(Path("fake.gguf"))


def backend_opener(**options: Any) -> Callable[..., Any]:
    @contextmanager
    def open_backend(
        params: LoadParams, on_progress: Callable[[float], bool], _fit: object
    ) -> Iterator[CountingBackend]:
        on_progress(1.0)
        yield CountingBackend(**({"path": params.path, "n_ctx": 4096} | options))

    return open_backend


@contextmanager
def endless_load(
    _params: LoadParams, on_progress: Callable[[float], bool], _fit: object
) -> Iterator[CountingBackend]:
    while on_progress(0.5):
        time.sleep(0.001)
    raise ModelLoadCancelledError("called off")
    yield CountingBackend()


@pytest.fixture
def make_thread(qapp: Any) -> Iterator[Callable[..., EngineThread]]:
    threads: list[EngineThread] = []

    def make(open_backend: Callable[..., Any]) -> EngineThread:
        threads.append(EngineThread(PARAMS, open_backend=open_backend))
        return threads[-1]

    yield make
    for thread in threads:
        thread.stop()
        assert thread.wait(5000)


@pytest.fixture
def make_engine(qloop: QEventLoop) -> Iterator[Callable[..., ModelEngine]]:
    engines: list[ModelEngine] = []

    def make(open_backend: Callable[..., Any] | None = None) -> ModelEngine:
        engine = ModelEngine(make_thread=lambda params, parent: EngineThread(params, parent, open_backend))
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        qloop.run_until_complete(engine.close())
        assert not threads_of(engine)


def threads_of(engine: ModelEngine) -> list[EngineThread]:
    return [thread for thread in engine.findChildren(QThread) if thread.isRunning()]


def question(name: str = "r1", chat: str = "c1", max_tokens: int | None = 8) -> Request:
    return Request(name, chat, (Message(Role.USER, "hello"),), max_tokens=max_tokens)


class Answers:
    """Collects outputs from wherever they come."""

    def __init__(self, source: ModelEngine | EngineThread) -> None:
        self.outputs: list[Output] = []
        if isinstance(source, ModelEngine):
            source.reported.connect(self.add_reports)
            source.ended.connect(self.outputs.append)
        else:
            source.reported.connect(lambda: self.add_reports(source.take_reports()))

    def add_reports(self, reports: Any) -> None:
        self.outputs += [output for report in reports for output in report.outputs]

    def text(self, request_id: str = "r1") -> str:
        return "".join(output.text for output in self.outputs if output.request_id == request_id)

    def reason(self, request_id: str = "r1") -> FinishReason | None:
        ends = [output.finish_reason for output in self.outputs if output.request_id == request_id]
        return ends[-1] if ends else None


def test_a_model_is_loaded_and_answers_and_stops(make_thread, qtbot: QtBot) -> None:
    thread = make_thread(backend_opener(next_token=endless_token))
    answers = Answers(thread)
    with qtbot.waitSignals([thread.progressed, thread.loaded]):
        thread.start()
    thread.post(Submit(question(max_tokens=8)))
    qtbot.waitUntil(lambda: answers.reason() is FinishReason.LENGTH)
    assert len(answers.text()) == 8

    with qtbot.waitSignal(thread.finished):
        thread.stop()


def test_progress_is_told_for_each_percent(make_thread, qtbot: QtBot) -> None:
    thread = make_thread(backend_opener())
    told: list[float] = []
    thread.progressed.connect(told.append)
    for number in range(1025):
        assert thread._on_progress(number / 1024)
    assert [int(100 * fraction) for fraction in told] == list(range(1, 101))


@pytest.mark.parametrize("unusable", [["CACHE"], ["CACHE", "DATA"]])
def test_a_model_answers_where_nothing_can_be_kept_on_disk(
    make_thread, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unusable: list[str]
) -> None:
    (tmp_path / "file").touch()
    for name in unusable:
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "file"))
    thread = make_thread(backend_opener())
    answers = Answers(thread)
    with qtbot.waitSignal(thread.loaded):
        thread.start()
    thread.post(Submit(question()))
    qtbot.waitUntil(lambda: answers.reason() is FinishReason.LENGTH)


def test_reports_wake_the_window_at_once_and_then_not_before_it_has_rested(make_thread, qtbot: QtBot) -> None:
    thread = make_thread(backend_opener())
    wakes: list[int] = []
    thread.reported.connect(lambda: wakes.append(1))
    for _ in range(9):
        thread._published.emit()
    assert len(wakes) == 1
    qtbot.waitUntil(lambda: len(wakes) == 2)
    qtbot.waitUntil(lambda: not thread._rest.isActive())
    assert len(wakes) == 2


def test_a_load_can_be_called_off(make_thread, qtbot: QtBot) -> None:
    thread = make_thread(endless_load)
    failures: list[str] = []
    thread.failed.connect(failures.append)
    with qtbot.waitSignal(thread.progressed):
        thread.start()
    with qtbot.waitSignal(thread.finished):
        thread.stop()
    assert failures == []


def test_a_stop_before_the_model_is_there_is_not_forgotten(make_thread, qtbot: QtBot) -> None:
    thread = make_thread(backend_opener())
    loads: list[object] = []
    thread.loaded.connect(loads.append)
    thread.stop()
    with qtbot.waitSignal(thread.finished):
        thread.start()
    assert loads == []


def test_a_model_that_does_not_load_says_why_once(make_thread, qtbot: QtBot) -> None:
    @contextmanager
    def open_backend(*_: Any) -> Iterator[CountingBackend]:
        raise ModelLoadError("fake.gguf is not a GGUF file.")
        yield CountingBackend()

    thread = make_thread(open_backend)
    failures: list[str] = []
    thread.failed.connect(failures.append)
    with qtbot.waitSignal(thread.finished):
        thread.start()
    assert failures == ["fake.gguf is not a GGUF file."]


def test_a_dead_engine_ends_its_requests_and_then_says_why(make_engine, qtbot: QtBot) -> None:
    def die(_batch: object) -> None:
        raise DecodeError("llama_decode failed (-3)")

    engine = make_engine(backend_opener(before_decode=die))
    answers = Answers(engine)
    engine.load(PARAMS)
    engine.post(Submit(question()))
    with qtbot.waitSignal(engine.engine_failed) as failure:
        qtbot.waitUntil(lambda: answers.reason() is FinishReason.ERROR)
    assert failure.args == ["llama_decode failed (-3)"]
    assert len([output for output in answers.outputs if output.finish_reason]) == 1
    assert engine.model is None


def test_our_bug_on_the_engine_thread_is_reported_and_ends_open_requests(
    make_engine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bug(_batch: object) -> None:
        raise ZeroDivisionError("ours")

    caught: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, *_: caught.append(kind))
    engine = make_engine(backend_opener(before_decode=bug))
    answers = Answers(engine)
    engine.load(PARAMS)
    engine.post(Submit(question()))
    with qtbot.waitSignal(engine.engine_failed):
        pass
    assert caught == [ZeroDivisionError]
    assert answers.reason() in (FinishReason.ERROR, FinishReason.ABORT)


def test_a_new_model_takes_over_while_the_old_one_is_answering(make_engine, qtbot: QtBot) -> None:
    engine = make_engine(backend_opener(next_token=endless_token, before_decode=lambda _: time.sleep(0.001)))
    answers = Answers(engine)
    engine.load(PARAMS)
    engine.post(Submit(question("r1", "c1", None)))
    qtbot.waitUntil(lambda: answers.text("r1") != "")
    engine.load(LoadParams(Path("other.gguf")))
    qtbot.waitUntil(lambda: answers.reason("r1") is FinishReason.ABORT)
    engine.post(Submit(question("r2", "c1", 5)))
    qtbot.waitUntil(lambda: answers.reason("r2") is FinishReason.LENGTH)

    assert engine.model.path == Path("other.gguf")
    qtbot.waitUntil(lambda: len(threads_of(engine)) == 1)


def written_token(token_ids: Sequence[int]) -> int:
    """A letter that depends on all tokens before it: one that is missing changes the rest of the answer."""
    return 97 + sum(number * token for number, token in enumerate(token_ids, 1)) % 26


def test_an_answer_goes_on_as_if_nothing_had_been_while_its_model_is_loaded_again_and_again(
    make_engine, qtbot: QtBot
) -> None:
    engine = make_engine(backend_opener(next_token=written_token, before_decode=lambda _: time.sleep(0.001)))
    answers = Answers(engine)
    engine.load(PARAMS)
    engine.post(Submit(question("alone", "c1", 120)))
    qtbot.waitUntil(lambda: answers.reason("alone") is FinishReason.LENGTH)
    engine.post(Submit(question("r1", "c2", 120)))
    engine.post(Submit(question("r2", "c3", 120)))
    for _ in range(3):
        length = len(answers.text("r1"))
        qtbot.waitUntil(lambda: len(answers.text("r1")) > length + 5)  # noqa: B023
        with qtbot.waitSignal(engine.loaded):
            engine.load(PARAMS)
    for name in ("r1", "r2"):
        qtbot.waitUntil(lambda: answers.reason(name) is FinishReason.LENGTH)  # noqa: B023
        assert answers.text(name) == answers.text("alone")
    qtbot.waitUntil(lambda: len(threads_of(engine)) == 1)


@pytest.fixture
def stuck() -> Iterator[threading.Event]:
    """Lets a load go on that nothing can interrupt, as where llama.cpp makes a context."""
    event = threading.Event()
    yield event
    event.set()


def stuck_opener(stuck: threading.Event) -> Callable[..., Any]:
    @contextmanager
    def open_backend(
        params: LoadParams, on_progress: Callable[[float], bool], _fit: object
    ) -> Iterator[CountingBackend]:
        if params.path.stem == "stuck":
            on_progress(1.0)
            stuck.wait(20)
        yield CountingBackend(path=params.path, n_ctx=4096, next_token=endless_token)

    return open_backend


async def test_nobody_waits_for_a_load_that_was_called_off_and_cannot_be_interrupted(
    make_engine, qtbot: QtBot, stuck, monkeypatch, qloop
) -> None:
    engine = make_engine(stuck_opener(stuck))
    answers = Answers(engine)
    progress: list[float] = []
    engine.load_progressed.connect(progress.append)
    engine.load(PARAMS)
    while not engine.model:
        await asyncio.sleep(0.005)
    engine.load(LoadParams(Path("stuck.gguf")))
    while not progress:
        await asyncio.sleep(0.005)
    engine.cancel_load()
    engine.post(Submit(question()))
    while answers.reason() is None:
        await asyncio.sleep(0.005)
    assert (answers.reason(), engine.model.path, len(threads_of(engine))) == (
        FinishReason.LENGTH,
        PARAMS.path,
        2,
    )

    engine.load(LoadParams(Path("next.gguf")))
    assert len(threads_of(engine)) == 2, "two contexts more at once"
    stuck.set()
    while engine.model.path.name != "next.gguf":
        await asyncio.sleep(0.005)

    stuck.clear()
    engine.load(LoadParams(Path("stuck.gguf")))
    monkeypatch.setattr("app.bridge.engine_threads.CLOSING_S", 0.05)
    assert await engine.close() is False, "the program must not end by deleting a thread that runs"
    stuck.set()
    monkeypatch.setattr("app.bridge.engine_threads.CLOSING_S", 10)
    assert await engine.close() is True


@pytest.mark.native
def test_changes_of_the_model_leave_nothing_in_memory(
    make_engine, qtbot: QtBot, tiny_gguf: Callable[[str], Path]
) -> None:
    from app.engine.llama.native_library import native_objects

    engine = make_engine()
    answers = Answers(engine)
    gc.collect()
    before = native_objects.copy()
    engines: list[weakref.ref[object]] = []
    for number in range(4):
        name = "qwen3" if number % 2 else "llama"
        with qtbot.waitSignal(engine.loaded, timeout=20_000):
            engine.load(LoadParams(tiny_gguf(name), n_ctx=512, n_threads=1))
        engines.append(weakref.ref(engine._active._engine._engine))
        engine.post(Submit(question(f"r{number}", "c1", 4)))
        qtbot.waitUntil(lambda: answers.reason(f"r{number}") is not None)  # noqa: B023
        qtbot.waitUntil(lambda: len(engine._threads) == 1)
    assert native_objects - before == {"model": 1, "context": 1}
    gc.collect()
    assert [bool(each()) for each in engines] == [False, False, False, True]


@pytest.mark.native
def test_a_context_for_which_there_is_room_only_after_the_change_is_loaded_then(
    make_engine, qtbot: QtBot, tiny_gguf: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.engine.llama.native_library import native_objects

    free = {0: 200 << 20, 1: 20 << 20}  # by the number of contexts
    asked: list[int] = []

    def free_memory_bytes() -> int:
        asked.append(native_objects["context"])
        return free[asked[-1]]

    monkeypatch.setattr("app.models.memory_fit.free_memory_bytes", free_memory_bytes)
    engine = make_engine()
    answers = Answers(engine)
    with qtbot.waitSignal(engine.loaded, timeout=20_000):
        engine.load(LoadParams(tiny_gguf("qwen3"), n_ctx=16_384, n_threads=1))
    engine.post(Submit(replace(question("r1", "c1", 300), sampling=SamplingParams(ignore_eos=True))))
    qtbot.waitUntil(lambda: any(output.text for output in answers.outputs))
    with qtbot.waitSignal(engine.loaded, timeout=20_000):
        engine.load(LoadParams(tiny_gguf("qwen3"), n_ctx=32_768, n_threads=1))
    assert asked == [0, 1, 0], "the second time there was one, which had to go first"
    qtbot.waitUntil(lambda: answers.reason("r1") is not None, timeout=20_000)
    assert answers.reason("r1") is FinishReason.LENGTH
    assert engine.model.n_ctx == 32_768


@pytest.mark.native
def test_the_real_library_loads_and_answers_and_stops_at_once(
    make_engine, qtbot: QtBot, tiny_gguf: Callable[[str], Path]
) -> None:
    engine = make_engine()
    answers = Answers(engine)
    engine.load(LoadParams(tiny_gguf("qwen3"), n_ctx=1024))
    engine.post(Submit(question("r1", "c1", 12)))
    qtbot.waitUntil(lambda: answers.reason() is not None, timeout=20_000)
    assert answers.reason() in (FinishReason.LENGTH, FinishReason.STOP)

    engine.post(Submit(replace(question("r2", "c2", None), sampling=SamplingParams(ignore_eos=True))))
    (thread,) = threads_of(engine)
    qtbot.waitUntil(lambda: any(output.request_id == "r2" for output in answers.outputs))
    with qtbot.waitSignal(thread.finished):
        thread.stop()
    assert answers.reason("r2") in (None, FinishReason.ABORT)  # it was not waited for
