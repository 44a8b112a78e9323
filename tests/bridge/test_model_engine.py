from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.bridge.model_engine import ENGINE_GONE, LOAD_CANCELLED, NO_MODEL, ModelEngine
from app.protocol.commands import Abort, AbortAll, Forget, Fork, Submit
from app.protocol.errors import EngineError
from app.protocol.load import LoadParams
from app.protocol.model import MemoryNeed
from app.protocol.output import FinishReason, Output
from app.protocol.request import Message, Request, Role

Load = Callable[..., Any]


@pytest.fixture
def engine(model_engine: ModelEngine) -> ModelEngine:
    return model_engine


def request(name: str = "r1", chat: str = "c1") -> Request:
    return Request(name, chat, (Message(Role.USER, "hello"),))


class Heard:
    """Everything an engine said, in order."""

    def __init__(self, engine: ModelEngine) -> None:
        self.words: list[tuple[object, ...]] = []
        self.ended: list[Output] = []
        engine.loading.connect(lambda path: self.words.append(("loading", path.name)))
        engine.loaded.connect(lambda model: self.words.append(("loaded", model.path.name)))
        engine.load_failed.connect(lambda path, why: self.words.append(("load_failed", path.name, why)))
        engine.engine_failed.connect(lambda why: self.words.append(("engine_failed", why)))
        engine.load_progressed.connect(lambda part: self.words.append(("progress", part)))
        engine.load_cancelled.connect(lambda path: self.words.append(("cancelled", path.name)))
        engine.slept.connect(lambda: self.words.append(("slept",)))
        engine.ended.connect(self.ended.append)


@pytest.fixture
def heard(engine: ModelEngine) -> Heard:
    return Heard(engine)


def test_the_first_model_becomes_active_when_it_is_loaded(engine, threads, heard) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    assert engine.model is None
    threads[0].progressed.emit(0.5)
    info = threads[0].finish_loading()

    assert engine.model is info
    assert heard.words == [("loading", "a.gguf"), ("progress", 0.5), ("loaded", "a.gguf")]


def test_what_is_asked_before_the_first_model_is_there_is_submitted_when_it_is(
    engine, threads, heard
) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.post(Submit(request()))
    assert threads[0].submitted == []

    threads[0].finish_loading()
    assert threads[0].submitted == [request()]
    assert heard.ended == []


def test_what_waits_for_the_first_model_can_be_aborted(engine, threads, heard) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.post(Submit(request()))
    engine.post(Abort("r1"))
    threads[0].finish_loading()

    assert threads[0].submitted == []
    assert [(output.request_id, output.finish_reason) for output in heard.ended] == [
        ("r1", FinishReason.ABORT)
    ]


def test_what_waits_for_a_model_that_fails_ends_with_the_reason(engine, threads, heard) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.post(Submit(request()))
    threads[0].failed.emit("It is not a GGUF file.")

    assert heard.words[-1] == ("load_failed", "a.gguf", "It is not a GGUF file.")
    assert heard.ended == [
        Output("r1", "c1", finish_reason=FinishReason.ERROR, notice="It is not a GGUF file.")
    ]


def test_what_waits_goes_on_waiting_when_another_load_begins_at_once(engine, threads, heard) -> None:
    engine.load_failed.connect(lambda *_: engine.load(LoadParams(Path("b.gguf"))))
    engine.load(LoadParams(Path("a.gguf")))
    engine.post(Submit(request()))
    threads[0].failed.emit("no")
    threads[1].finish_loading()

    assert threads[1].submitted == [request()]
    assert heard.ended == []


def test_without_any_model_a_request_ends_at_once(engine, heard) -> None:
    engine.post(Submit(request()))
    assert heard.ended == [Output("r1", "c1", finish_reason=FinishReason.ERROR, notice=NO_MODEL)]


def test_the_old_model_answers_until_the_new_one_is_loaded(engine, threads, load: Load) -> None:
    old = load("a.gguf")
    engine.load(LoadParams(Path("b.gguf")))
    engine.post(Submit(request()))

    assert old.submitted == [request()]
    assert not old.stopped
    assert engine.model.path == Path("a.gguf")


def test_what_the_old_model_still_says_reaches_nobody(engine, load: Load) -> None:
    old = load("a.gguf")
    load("b.gguf")
    reports: list[object] = []
    engine.reported.connect(reports.append)
    old.answer(request(), "late")
    old.failed.emit("late")

    assert reports == []
    assert engine.model.path == Path("b.gguf")


def test_a_failed_load_leaves_the_old_model_untouched(engine, threads, load: Load, heard) -> None:
    old = load("a.gguf")
    engine.post(Submit(request()))
    engine.load(LoadParams(Path("b.gguf")))
    threads[1].failed.emit("broken")

    assert heard.words[-1] == ("load_failed", "b.gguf", "broken")
    assert not old.stopped
    assert heard.ended == []
    assert engine.model.path == Path("a.gguf")


def test_a_cancelled_load_leaves_all_as_it_was_at_once(engine, threads, load: Load, heard) -> None:
    old = load("a.gguf")
    engine.post(Submit(request()))
    engine.cancel_load()
    engine.load(LoadParams(Path("b.gguf")))
    engine.cancel_load()

    assert heard.words[-1] == ("cancelled", "b.gguf")
    assert (threads[1].stopped, old.stopped, engine.is_loading) == (True, False, False)
    threads[1].finish_loading()  # it could not be interrupted
    assert engine.model.path == Path("a.gguf")
    old.answer(request(), "done", FinishReason.STOP)
    assert (old.submitted, heard.ended) == ([request()], [])


@pytest.mark.parametrize("has_begun_to_load", [True, False])
def test_what_waits_for_a_load_that_is_cancelled_ends_with_that_reason(
    engine, threads, heard, has_begun_to_load
) -> None:
    if not has_begun_to_load:  # it waits for the end of another
        engine.load(LoadParams(Path("other.gguf")))
    engine.load(LoadParams(Path("a.gguf")))
    engine.post(Submit(request()))
    engine.cancel_load()
    assert heard.ended == [Output("r1", "c1", finish_reason=FinishReason.ABORT, notice=LOAD_CANCELLED)]
    for thread in list(threads):
        thread.finished.emit()
    assert (engine.model, engine.is_loading, len(threads)) == (None, False, 1)


def test_asleep_it_has_no_memory_and_the_next_request_wakes_it(engine, threads, load: Load, heard) -> None:
    first = load("a.gguf")
    engine.post(Submit(request()))
    engine.sleep()
    assert not first.stopped, "it is at work"
    first.answer(request(), "yes", FinishReason.STOP)
    engine.sleep()
    assert (first.stopped, engine.is_asleep, heard.words[-1]) == (True, True, ("slept",))
    assert engine.model.path == Path("a.gguf"), "callers of the API are not refused"

    engine.post(Submit(request("r2")))
    engine.post(Submit(request("r3", "c3")))
    counted = engine.use_prompts(lambda _prompts: 5)
    assert [thread.params.path.name for thread in threads] == ["a.gguf", "a.gguf"]
    threads[1].finish_loading()
    assert [one.request_id for one in threads[1].submitted] == ["r2", "r3"]
    assert (counted.result(0), engine.is_asleep) == (5, False)


def test_a_model_that_cannot_be_woken_is_gone(engine, threads, load: Load, heard) -> None:
    load("a.gguf")
    engine.sleep()
    engine.post(Submit(request()))
    counted = engine.use_prompts(lambda _prompts: 5)
    threads[1].failed.emit("The file is gone.")
    assert heard.ended[-1].notice == "The file is gone."
    assert isinstance(counted.exception(0), EngineError)
    assert (engine.model, engine.is_asleep) == (None, False)


def test_when_another_load_fails_or_is_cancelled_the_sleeping_model_answers_who_waits(
    engine, threads, load: Load, heard
) -> None:
    load("a.gguf")
    engine.sleep()
    engine.load(LoadParams(Path("b.gguf")))
    engine.post(Submit(request()))
    threads[1].failed.emit("no")
    threads[2].finish_loading()
    assert threads[2].submitted == [request()]

    threads[2].answer(request(), "", FinishReason.STOP)
    engine.sleep()
    engine.load(LoadParams(Path("b.gguf")))
    engine.post(Submit(request("r2")))
    engine.cancel_load()
    threads[3].finished.emit()
    threads[4].finish_loading()
    assert (threads[4].params.path.name, threads[4].submitted) == ("a.gguf", [request("r2")])
    assert heard.ended == []


def test_reports_are_passed_on_together(engine, load: Load) -> None:
    thread = load()
    reports: list[tuple[object, ...]] = []
    engine.reported.connect(reports.append)
    thread.blockSignals(True)
    thread.answer(request(), "one ")
    thread.answer(request(), "two")
    thread.blockSignals(False)
    thread.reported.emit()

    assert [len(batch) for batch in reports] == [2]


def test_when_the_engine_dies_every_open_request_ends_before_it_is_said(engine, load: Load, heard) -> None:
    thread = load()
    engine.post(Submit(request("r1")))
    engine.post(Submit(request("r2")))
    engine.ended.connect(lambda output: heard.words.append(("ended", output.request_id)))
    thread.answer(request("r1"), "done", FinishReason.STOP)
    thread.failed.emit("decode failed")

    assert heard.words[-2:] == [("ended", "r2"), ("engine_failed", "decode failed")]
    assert heard.ended == [Output("r2", "c1", finish_reason=FinishReason.ERROR, notice=ENGINE_GONE)]
    assert engine.model is None


def test_closing_a_tab_frees_its_cells_and_ends_what_waits(engine, threads, load: Load, heard) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.post(Submit(request("r1", "c1")))
    engine.post(Submit(request("r2", "c2")))
    engine.post(Forget("c1"))
    threads[0].finish_loading()
    engine.post(Forget("c2"))

    assert threads[0].submitted == [request("r2", "c2")]
    assert threads[0].forgotten == ["c2"]
    assert [output.request_id for output in heard.ended] == ["r1"]


def test_stopping_all_ends_what_runs_and_what_waits_for_a_model(engine, threads, load: Load, heard) -> None:
    engine.post(AbortAll())
    engine.load(LoadParams(Path("a.gguf")))
    engine.post(Submit(request("r1")))
    engine.post(AbortAll())
    assert heard.ended == [Output("r1", "c1", finish_reason=FinishReason.ABORT)]

    threads[0].finish_loading()
    assert threads[0].submitted == []
    engine.post(Submit(request("r2")))
    engine.post(AbortAll())
    assert threads[0].num_abort_alls == 1


def test_a_fork_is_passed_on_to_whoever_holds_the_cells(engine, load: Load) -> None:
    engine.post(Fork("c1", "c2"))  # no chat holds any
    thread = load()
    engine.post(Fork("c1", "c3"))
    assert thread.forked == [("c1", "c3")]


# A model that does not fit beside the one before


def test_a_model_that_fits_only_alone_is_loaded_when_the_one_before_has_gone_and_goes_on_with_its_answers(
    engine, threads, load: Load, heard
) -> None:
    old = load("a.gguf", memory=MemoryNeed(700, 100, mapped_bytes=600))
    engine.post(Submit(request()))
    old.answer(request(), "half")
    wider = LoadParams(Path("a.gguf"), n_ctx=32_768)
    engine.load(wider)
    assert threads[1].reclaimable_bytes == {"": 200}
    threads[1].needs_room = True
    threads[1].failed.emit("no room yet")
    threads[1].finished.emit()
    assert (old.stopped, len(threads), engine.is_loading) == (True, 2, True)

    engine.post(Submit(request("r2", "c2")))
    old.finished.emit()
    assert (threads[2].params, threads[2].reclaimable_bytes) == (wider, {})
    threads[2].finish_loading(name="a")
    assert [one.request_id for one in threads[2].submitted] == ["r1", "r2"]
    assert heard.ended == []
    assert [word[0] for word in heard.words].count("loading") == 2


def test_if_it_cannot_be_loaded_then_the_one_before_comes_back(engine, threads, load: Load, heard) -> None:
    old = load("a.gguf")
    engine.load(LoadParams(Path("b.gguf")))
    threads[1].needs_room = True
    threads[1].failed.emit("no room yet")
    old.finished.emit()
    threads[2].failed.emit("It is damaged.")
    assert heard.words[-2:] == [("load_failed", "b.gguf", "It is damaged."), ("slept",)]
    assert engine.is_asleep
    engine.post(Submit(request()))
    threads[3].finish_loading()
    assert (threads[3].params.path.name, threads[3].submitted) == ("a.gguf", [request()])
