import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from app.bridge.active_engine import ENGINE_GONE, LOAD_CANCELLED, MODEL_CHANGED, NO_MODEL, ActiveEngine
from app.engine.commands import CheckCells, Hibernate, Pause, Pin, WatchCells
from app.engine.errors import EngineError
from app.engine.types import FinishReason, LoadParams, Message, Output, Request, Role, Speed

Load = Callable[..., Any]


def request(name: str = "r1", chat: str = "c1") -> Request:
    return Request(name, chat, (Message(Role.USER, "hello"),))


class Heard:
    """Everything an engine said, in order."""

    def __init__(self, engine: ActiveEngine) -> None:
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
def heard(engine: ActiveEngine) -> Heard:
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
    engine.submit(request())
    assert threads[0].submitted == []

    threads[0].finish_loading()
    assert threads[0].submitted == [request()]
    assert heard.ended == []


def test_what_waits_for_the_first_model_can_be_aborted(engine, threads, heard) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.submit(request())
    engine.abort("r1")
    threads[0].finish_loading()

    assert threads[0].submitted == []
    assert [(output.request_id, output.finish_reason) for output in heard.ended] == [
        ("r1", FinishReason.ABORT)
    ]


def test_what_waits_for_a_model_that_fails_ends_with_the_reason(engine, threads, heard) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.submit(request())
    threads[0].failed.emit("It is not a GGUF file.")

    assert heard.words[-1] == ("load_failed", "a.gguf", "It is not a GGUF file.")
    assert heard.ended == [
        Output("r1", "c1", finish_reason=FinishReason.ERROR, notice="It is not a GGUF file.")
    ]


def test_what_waits_goes_on_waiting_when_another_load_begins_at_once(engine, threads, heard) -> None:
    engine.load_failed.connect(lambda *_: engine.load(LoadParams(Path("b.gguf"))))
    engine.load(LoadParams(Path("a.gguf")))
    engine.submit(request())
    threads[0].failed.emit("no")
    threads[1].finish_loading()

    assert threads[1].submitted == [request()]
    assert heard.ended == []


def test_without_any_model_a_request_ends_at_once(engine, heard) -> None:
    engine.submit(request())
    assert heard.ended == [Output("r1", "c1", finish_reason=FinishReason.ERROR, notice=NO_MODEL)]


def test_the_old_model_answers_until_the_new_one_is_loaded(engine, threads, load: Load) -> None:
    old = load("a.gguf")
    engine.load(LoadParams(Path("b.gguf")))
    engine.submit(request())

    assert old.submitted == [request()]
    assert not old.stopped
    assert engine.model.path == Path("a.gguf")


def test_another_model_ends_answers_that_have_begun_with_a_notice(engine, threads, load: Load, heard) -> None:
    old = load("a.gguf")
    engine.submit(request())
    old.answer(request(), "half")
    load("b.gguf")

    assert old.stopped
    assert heard.ended == [Output("r1", "c1", finish_reason=FinishReason.ABORT, notice=MODEL_CHANGED)]
    assert engine.model.path == Path("b.gguf")
    engine.submit(request("r2"))
    assert threads[1].submitted == [request("r2")]


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
    engine.submit(request())
    engine.load(LoadParams(Path("b.gguf")))
    threads[1].failed.emit("broken")

    assert heard.words[-1] == ("load_failed", "b.gguf", "broken")
    assert not old.stopped
    assert heard.ended == []
    assert engine.model.path == Path("a.gguf")


def test_a_second_load_calls_off_the_first(engine, threads, heard) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.load(LoadParams(Path("b.gguf")))
    assert threads[0].stopped

    threads[0].finish_loading()  # it was done already when it was called off
    assert engine.model is None
    assert len(threads) == 1, "the memory of two models at once"
    threads[0].finished.emit()
    threads[1].finish_loading()
    assert engine.model.path == Path("b.gguf")
    assert ("loaded", "a.gguf") not in heard.words


def test_a_load_that_was_called_off_and_does_not_end_is_not_waited_for_for_ever(
    engine, threads, heard, monkeypatch
) -> None:
    engine.load(LoadParams(Path("dead-network-drive.gguf")))
    engine.load(LoadParams(Path("b.gguf")))
    engine._patience.timeout.emit()
    threads[1].finish_loading()
    assert engine.model.path == Path("b.gguf")
    threads[0].finished.emit()
    assert len(threads) == 2


def test_a_cancelled_load_leaves_all_as_it_was_at_once(engine, threads, load: Load, heard) -> None:
    old = load("a.gguf")
    engine.submit(request())
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
    engine.submit(request())
    engine.cancel_load()
    assert heard.ended == [Output("r1", "c1", finish_reason=FinishReason.ABORT, notice=LOAD_CANCELLED)]
    for thread in list(threads):
        thread.finished.emit()
    assert (engine.model, engine.is_loading, len(threads)) == (None, False, 1)


def test_answers_go_on_where_they_stood_when_the_same_model_is_loaded_again(
    engine, threads, load: Load, heard
) -> None:
    old = load("a.gguf")
    asked = replace(request(), max_tokens=10)
    queued = request("r2", "c2")
    engine.submit(asked)
    engine.submit(queued)
    old.report(Output("r1", "c1", "one ", token_ids=(1, 2)))
    new = load("a.gguf")
    assert (old.stopped, new.submitted) == (True, []), "what it still has to tell is not known yet"
    old.report(
        Output("r1", "c1", "tw\ufffd", FinishReason.ABORT, token_ids=(3,)),
        Output("r2", "c2", "", FinishReason.ABORT),
    )

    assert new.submitted == [replace(asked, answer_start=(1, 2, 3), max_tokens=7), queued]
    assert [(output.text, output.finish_reason) for output in heard.ended] == [("tw", None), ("", None)]
    new.report(Output("r1", "c1", "o three", token_ids=(4, 5)))
    newer = load("a.gguf")
    new.finished.emit()  # it died without another word
    assert newer.submitted[0] == replace(asked, answer_start=(1, 2, 3, 4, 5), max_tokens=5)


def test_an_answer_that_ends_while_its_engine_is_stopped_has_ended(engine, load: Load, heard) -> None:
    old = load("a.gguf")
    engine.submit(request())
    new = load("a.gguf")
    old.answer(request(), "done", FinishReason.STOP)
    assert [(output.text, output.finish_reason) for output in heard.ended] == [("done", FinishReason.STOP)]
    old.finished.emit()
    assert new.submitted == []


def test_an_answer_can_be_stopped_between_two_engines(engine, load: Load, heard) -> None:
    old = load("a.gguf")
    for number in range(3):
        engine.submit(request(f"r{number}", f"c{number}"))
    new = load("a.gguf")
    engine.abort("r0")
    engine.forget("c1")
    engine.abort_all()
    old.report(*(Output(f"r{number}", f"c{number}", "", FinishReason.ABORT) for number in range(3)))
    assert new.submitted == []
    assert [output.request_id for output in heard.ended] == ["r0", "r1", "r2"]


def test_another_model_answers_what_nobody_has_begun_to_unless_it_is_made_of_tokens(
    engine, load: Load, heard
) -> None:
    old = load("a.gguf")
    plain, raw = request(), Request("r2", "c2", prompt=("a", 7))
    for each in (plain, raw, replace(plain, request_id="r3", answer_start=(5,))):
        engine.submit(each)
    new = load("b.gguf")
    old.finished.emit()
    assert new.submitted == [plain]
    assert [output.request_id for output in heard.ended] == ["r2", "r3"]


def test_asleep_it_has_no_memory_and_the_next_request_wakes_it(engine, threads, load: Load, heard) -> None:
    first = load("a.gguf")
    engine.submit(request())
    engine.sleep()
    assert not first.stopped, "it is at work"
    first.answer(request(), "yes", FinishReason.STOP)
    engine.sleep()
    assert (first.stopped, engine.is_asleep, heard.words[-1]) == (True, True, ("slept",))
    assert engine.model.path == Path("a.gguf"), "callers of the API are not refused"

    engine.submit(request("r2"))
    engine.submit(request("r3", "c3"))
    counted = engine.use_prompts(lambda _prompts: 5)
    assert [thread.params.path.name for thread in threads] == ["a.gguf", "a.gguf"]
    threads[1].finish_loading()
    assert [one.request_id for one in threads[1].submitted] == ["r2", "r3"]
    assert (counted.result(0), engine.is_asleep) == (5, False)


def test_a_model_that_cannot_be_woken_is_gone(engine, threads, load: Load, heard) -> None:
    load("a.gguf")
    engine.sleep()
    engine.submit(request())
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
    engine.submit(request())
    threads[1].failed.emit("no")
    threads[2].finish_loading()
    assert threads[2].submitted == [request()]

    threads[2].answer(request(), "", FinishReason.STOP)
    engine.sleep()
    engine.load(LoadParams(Path("b.gguf")))
    engine.submit(request("r2"))
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
    engine.submit(request("r1"))
    engine.submit(request("r2"))
    engine.ended.connect(lambda output: heard.words.append(("ended", output.request_id)))
    thread.answer(request("r1"), "done", FinishReason.STOP)
    thread.failed.emit("decode failed")

    assert heard.words[-2:] == [("ended", "r2"), ("engine_failed", "decode failed")]
    assert heard.ended == [Output("r2", "c1", finish_reason=FinishReason.ERROR, notice=ENGINE_GONE)]
    assert engine.model is None


def test_closing_a_tab_frees_its_cells_and_ends_what_waits(engine, threads, load: Load, heard) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.submit(request("r1", "c1"))
    engine.submit(request("r2", "c2"))
    engine.forget("c1")
    threads[0].finish_loading()
    engine.forget("c2")

    assert threads[0].submitted == [request("r2", "c2")]
    assert threads[0].forgotten == ["c2"]
    assert [output.request_id for output in heard.ended] == ["r1"]


def test_a_new_model_is_told_the_speed_and_the_chat_in_front(engine, threads, load: Load) -> None:
    engine.set_speed(Speed.THROUGHPUT)
    engine.set_front("c1")
    first = load("a.gguf")
    assert (first.speed, first.front) == (Speed.THROUGHPUT, "c1")

    engine.set_front("c2")
    engine.set_speed(Speed.BALANCED)
    second = load("b.gguf")
    assert (first.speed, first.front) == (second.speed, second.front) == (Speed.BALANCED, "c2")


def test_the_chat_in_front_is_known_before_the_first_question_is_asked(engine, threads) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    engine.set_front("c1")
    engine.submit(request())
    fronts: list[str | None] = []
    threads[0].submit = lambda _request: fronts.append(threads[0].front)
    threads[0].finish_loading()
    assert fronts == ["c1"]


def test_stopping_all_ends_what_runs_and_what_waits_for_a_model(engine, threads, load: Load, heard) -> None:
    engine.abort_all()
    engine.load(LoadParams(Path("a.gguf")))
    engine.submit(request("r1"))
    engine.abort_all()
    assert heard.ended == [Output("r1", "c1", finish_reason=FinishReason.ABORT)]

    threads[0].finish_loading()
    assert threads[0].submitted == []
    engine.submit(request("r2"))
    engine.abort_all()
    assert threads[0].num_abort_alls == 1


def test_a_fork_is_passed_on_to_whoever_holds_the_cells(engine, load: Load) -> None:
    engine.fork("c1", "c2")  # nobody holds any
    thread = load()
    engine.fork("c1", "c3")
    assert thread.forked == [("c1", "c3")]


def test_commands_reach_the_active_engine_and_are_dropped_without_one(engine, load: Load) -> None:
    engine.post(CheckCells())
    engine.post(Pause())
    first = load("a.gguf")
    assert first.posted == []
    engine.post(Hibernate("c1"))
    assert first.posted == [Hibernate("c1")]


def test_pins_and_an_open_map_hold_for_every_model_to_come_and_a_pause_does_not(engine, load: Load) -> None:
    engine.post(Pin("c1"))
    first = load("a.gguf")
    assert first.posted == [Pin("c1")]
    for command in (Pin("c2"), Pin("c3"), Pin("c3", is_pinned=False), WatchCells(), Pause()):
        engine.post(command)
    engine.forget("c1")
    second = load("b.gguf")
    assert second.posted == [Pin("c2"), WatchCells()]

    engine.post(WatchCells(is_watching=False))
    assert load("c.gguf").posted == [Pin("c2")]


async def test_closing_waits_for_every_thread(qloop, engine, threads, load: Load) -> None:
    load("a.gguf")
    engine.load(LoadParams(Path("b.gguf")))
    closing = qloop.create_task(engine.close())
    for thread in threads:
        assert not closing.done()
        await asyncio.sleep(0)
        assert thread.stopped
        thread.finished.emit()
    await closing


async def test_closing_without_a_thread_has_nothing_to_wait_for(qloop, engine) -> None:
    assert await engine.close()


def test_a_finished_thread_is_deleted(engine, threads, qtbot: QtBot) -> None:
    engine.load(LoadParams(Path("a.gguf")))
    threads[0].failed.emit("no")
    with qtbot.waitSignal(threads[0].destroyed):
        threads[0].finished.emit()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
