"""An engine whose process dies is loaded again, and no answer is lost with it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.bridge.model_engine import MAX_RECOVERIES, ModelEngine
from app.bridge.open_requests import MODEL_CHANGED
from app.protocol.commands import Abort, Forget, Submit
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason, Output
from app.protocol.request import Message, Request, Role
from tests.bridge.conftest import ScriptedThread

PARAMS = LoadParams(Path("a.gguf"), workers=("there:1", "gone:1"))
LEFT = replace(PARAMS, workers=("there:1",))


@pytest.fixture
def engine(model_engine: ModelEngine) -> ModelEngine:
    return model_engine


def request(name: str = "r1", chat: str = "c1") -> Request:
    return Request(name, chat, (Message(Role.USER, "hello"),), max_tokens=10)


class Heard:
    def __init__(self, engine: ModelEngine) -> None:
        self.recovering: list[str] = []
        self.failed: list[str] = []
        self.ended: list[Output] = []
        engine.recovering.connect(self.recovering.append)
        engine.engine_failed.connect(self.failed.append)
        engine.ended.connect(self.ended.append)


@pytest.fixture
def heard(engine: ModelEngine) -> Heard:
    return Heard(engine)


@pytest.fixture
def crash(engine: ModelEngine, threads: list[ScriptedThread]) -> Callable[[], None]:
    def crash_now() -> None:
        threads[-1].recovery = LEFT
        former = threads[-1]
        former.failed.emit("A machine is gone.")
        former.finished.emit()

    return crash_now


@pytest.fixture
def begun(engine: ModelEngine, threads: list[ScriptedThread]) -> ScriptedThread:
    """Two answers are open; one has two tokens."""
    engine.load(PARAMS)
    threads[0].finish_loading()
    engine.post(Submit(request("r1")))
    engine.post(Submit(request("r2", "c2")))
    threads[0].report(Output("r1", "c1", "Hi", token_ids=(7, 8)))
    return threads[0]


def test_it_is_loaded_again_with_what_is_left_and_answers_go_on(engine, threads, heard, begun, crash) -> None:
    crash()
    assert heard.recovering == ["A machine is gone."]
    assert threads[1].params == LEFT
    engine.post(Submit(request("r3", "c3")))  # as if nothing had happened
    assert engine.model is not None
    threads[1].finish_loading()

    assert threads[1].submitted == [
        replace(request("r1"), answer_start=(7, 8), max_tokens=8),
        request("r2", "c2"),
        request("r3", "c3"),
    ]
    assert heard.ended == []
    assert heard.failed == []


def test_who_stops_meanwhile_is_not_asked_for_again(engine, threads, heard, begun, crash) -> None:
    crash()
    engine.post(Abort("r1"))
    engine.post(Forget("c2"))
    threads[1].finish_loading()

    assert [(output.request_id, output.finish_reason) for output in heard.ended] == [
        ("r1", FinishReason.ABORT),
        ("r2", FinishReason.ABORT),
    ]
    assert threads[1].submitted == []


def test_where_it_does_not_fit_without_the_lost_one_every_answer_ends(
    engine, threads, heard, begun, crash
) -> None:
    crash()
    threads[1].failed.emit("It does not fit.")

    assert {(output.request_id, output.notice) for output in heard.ended} == {
        ("r1", "It does not fit."),
        ("r2", "It does not fit."),
    }
    assert engine.model is None


def test_a_model_that_is_opened_meanwhile_finishes_only_what_had_not_begun(
    engine, threads, heard, begun, crash
) -> None:
    crash()
    engine.load(LoadParams(Path("b.gguf")))
    threads[1].finished.emit()
    threads[2].finish_loading(n_params=1)

    assert threads[2].submitted == [request("r2", "c2")]
    assert [(output.request_id, output.notice) for output in heard.ended] == [("r1", MODEL_CHANGED)]


def test_what_crashes_again_and_again_is_left_alone(engine, threads, heard, begun, crash) -> None:
    for _ in range(MAX_RECOVERIES):
        crash()
        threads[-1].finish_loading()
    crash()
    assert len(heard.recovering) == MAX_RECOVERIES
    assert heard.failed == ["A machine is gone."]
    assert {output.finish_reason for output in heard.ended} == {FinishReason.ERROR}


def test_a_worker_serves_one_engine_at_a_time_so_the_former_ends_first(engine, threads, heard, begun) -> None:
    engine.load(replace(PARAMS, n_ctx=1024))
    assert begun.stopped
    begun.answer(request("r1"), "", FinishReason.ABORT)
    begun.finished.emit()
    assert heard.ended == [Output("r1", "c1")]  # its end is not told
    threads[1].finish_loading()

    assert threads[1].submitted == [
        replace(request("r1"), answer_start=(7, 8), max_tokens=8),
        request("r2", "c2"),
    ]
