"""Answers that move from one engine to the next, as `ModelEngine` has them moved."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.bridge.model_engine import ModelEngine
from app.bridge.open_requests import MODEL_CHANGED
from app.protocol.commands import Abort, AbortAll, Forget, Submit
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason, MessageDelta, Output, Usage
from app.protocol.request import Message, Request, Role

Load = Callable[..., Any]


@pytest.fixture
def engine(model_engine: ModelEngine) -> ModelEngine:
    return model_engine


def request(name: str = "r1", chat: str = "c1") -> Request:
    return Request(name, chat, (Message(Role.USER, "hello"),))


@pytest.fixture
def ended(engine: ModelEngine) -> list[Output]:
    """All that is told of a request without a report."""
    outputs: list[Output] = []
    engine.ended.connect(outputs.append)
    return outputs


def test_another_model_ends_answers_that_have_begun_with_a_notice(engine, threads, load: Load, ended) -> None:
    old = load("a.gguf")
    engine.post(Submit(request()))
    old.answer(request(), "half")
    load("b.gguf")

    assert old.stopped
    assert ended == [Output("r1", "c1", finish_reason=FinishReason.ABORT, notice=MODEL_CHANGED)]
    assert engine.model.path == Path("b.gguf")
    engine.post(Submit(request("r2")))
    assert threads[1].submitted == [request("r2")]


def test_answers_go_on_where_they_stood_when_the_same_model_is_loaded_again(
    engine, threads, load: Load, ended
) -> None:
    old = load("a.gguf")
    asked = replace(request(), max_tokens=10)
    queued = request("r2", "c2")
    engine.post(Submit(asked))
    engine.post(Submit(queued))
    old.report(Output("r1", "c1", "one ", token_ids=(1, 2)))
    new = load("a.gguf")
    assert (old.stopped, new.submitted) == (True, []), "what it still has to tell is not known yet"
    old.report(
        Output("r1", "c1", "tw", FinishReason.ABORT, token_ids=(3,)),
        Output("r2", "c2", "", FinishReason.ABORT),
    )

    assert new.submitted == [replace(asked, answer_start=(1, 2, 3), max_tokens=7), queued]
    assert [(output.text, output.finish_reason) for output in ended] == [("tw", None), ("", None)]
    new.report(Output("r1", "c1", "o three", token_ids=(4, 5)))
    newer = load("a.gguf")
    new.finished.emit()  # it died without another word
    assert newer.submitted[0] == replace(asked, answer_start=(1, 2, 3, 4, 5), max_tokens=5)


def test_an_answer_that_ends_while_its_engine_is_stopped_has_ended(engine, load: Load, ended) -> None:
    old = load("a.gguf")
    engine.post(Submit(request()))
    new = load("a.gguf")
    old.answer(request(), "done", FinishReason.STOP)
    assert [(output.text, output.finish_reason) for output in ended] == [("done", FinishReason.STOP)]
    old.finished.emit()
    assert new.submitted == []


def test_an_answer_can_be_stopped_between_two_engines(engine, load: Load, ended) -> None:
    old = load("a.gguf")
    for number in range(3):
        engine.post(Submit(request(f"r{number}", f"c{number}")))
    new = load("a.gguf")
    engine.post(Abort("r0"))
    engine.post(Forget("c1"))
    engine.post(AbortAll())
    old.report(*(Output(f"r{number}", f"c{number}", "", FinishReason.ABORT) for number in range(3)))
    assert new.submitted == []
    assert [output.request_id for output in ended] == ["r0", "r1", "r2"]


def test_another_model_answers_what_nobody_has_begun_to_unless_it_is_made_of_tokens(
    engine, load: Load, ended
) -> None:
    old = load("a.gguf")
    plain, raw = request(), Request("r2", "c2", prompt=("a", 7))
    for each in (plain, raw, replace(plain, request_id="r3", answer_start=(5,))):
        engine.post(Submit(each))
    new = load("b.gguf")
    old.finished.emit()
    assert new.submitted == [plain]
    assert [output.request_id for output in ended] == ["r2", "r3"]


def test_what_an_answer_was_told_last_counts_when_another_model_comes(engine, load: Load, ended) -> None:
    old = load("a.gguf")
    engine.post(Submit(request()))
    new = load("b.gguf")
    old.report(Output("r1", "c1", "late", FinishReason.ABORT, token_ids=(5,)))
    assert new.submitted == [], "tokens of another model"
    assert [(output.text, output.finish_reason, output.notice) for output in ended] == [
        ("late", None, ""),
        ("", FinishReason.ABORT, MODEL_CHANGED),
    ]


def test_an_answer_that_was_stopped_just_before_a_change_stays_stopped(engine, load: Load, ended) -> None:
    old = load("a.gguf")
    engine.post(Submit(request("r1")))
    engine.post(Submit(request("r2", "c2")))
    engine.post(AbortAll())
    new = load("a.gguf")
    old.report(Output("r1", "c1", "half", FinishReason.ABORT, token_ids=(5,)))
    old.finished.emit()
    assert new.submitted == []
    assert [(output.text, output.finish_reason) for output in ended] == [
        ("half", FinishReason.ABORT),
        ("", FinishReason.ABORT),
    ]


def test_tokens_for_a_model_that_sleeps_are_not_read_by_another(engine, threads, load: Load, ended) -> None:
    load("a.gguf")
    engine.sleep()
    engine.load(LoadParams(Path("b.gguf")))
    engine.post(Submit(Request("r1", "c1", prompt=(7, 8))))
    threads[1].finish_loading()
    assert threads[1].submitted == []
    assert [output.notice for output in ended] == [MODEL_CHANGED]


def test_what_is_asked_while_others_are_told_that_the_model_changed_is_answered(
    engine, load: Load, ended
) -> None:
    def ask_again(output: Output) -> None:
        if output.request_id == "r1":
            engine.post(Submit(request("r2", "c2")))

    engine.ended.connect(ask_again)
    old = load("a.gguf")
    engine.post(Submit(request()))
    old.answer(request(), "half")
    new = load("b.gguf")
    assert (old.submitted, new.submitted) == ([request()], [request("r2", "c2")])


def test_what_an_answer_cost_is_told_of_all_engines_that_made_it(engine, load: Load, ended) -> None:
    first, second = (
        Usage(num_prompt_tokens=9, num_computed_tokens=12, num_generated_tokens=3, decode_s=1.0),
        Usage(num_prompt_tokens=12, num_reused_tokens=11, num_computed_tokens=6, num_generated_tokens=5),
    )
    told: list[Usage] = []
    engine.reported.connect(lambda reports: told.extend(out.usage for one in reports for out in one.outputs))
    old = load("a.gguf")
    engine.post(Submit(request()))
    old.report(Output("r1", "c1", "one", token_ids=(1,), usage=first))
    new = load("a.gguf")
    old.finished.emit()  # without another word
    new.report(Output("r1", "c1", "two", token_ids=(2,), usage=second))
    both = Usage(num_prompt_tokens=9, num_computed_tokens=18, num_generated_tokens=8, decode_s=1.0)
    assert told == [first, both]
    load("a.gguf")
    new.report(Output("r1", "c1", "", FinishReason.ABORT, usage=second))
    assert [output.usage for output in ended] == [both]


def test_an_answer_whose_tokens_are_not_told_goes_on_from_its_text(
    engine, threads, load: Load, ended
) -> None:
    old = load("a.gguf")
    engine.post(Submit(request()))
    old.report(Output("r1", "c1", "half", delta=MessageDelta("half")))
    new = load("a.gguf")
    old.report(Output("r1", "c1", finish_reason=FinishReason.ABORT, delta=MessageDelta()))
    assert [asked.answer_start for asked in new.submitted] == ["half"]


def test_a_model_of_the_same_name_on_another_server_is_another(engine, load: Load, ended) -> None:
    old = load("a.gguf", server="http://one:1")
    engine.post(Submit(request()))
    old.report(Output("r1", "c1", "half", delta=MessageDelta("half")))
    load("a.gguf", server="http://two:1")
    assert ended[-1].notice == MODEL_CHANGED
