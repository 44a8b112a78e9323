"""The mailbox and its threads: the one file of the engine's tests that starts any."""

import threading
import time

import pytest

from app.engine.batching.stepping import NO_WORK
from app.engine.engine import Engine
from app.engine.loop import EngineLoop
from app.engine.prompts.chat_template import ChatTemplate
from app.engine.prompts.prompt_builder import PromptBuilder
from app.engine.running import CommandLoop
from app.protocol.commands import (
    Abort,
    AbortAll,
    CheckCells,
    DescribeTokens,
    Forget,
    Fork,
    Pause,
    Resume,
    RunUntil,
    SetFront,
    SetSpeed,
    StepOnce,
    Submit,
    UntilEnd,
)
from app.protocol.errors import (
    ChatTemplateError,
    DecodeError,
    DecodeInterruptedError,
    EngineError,
    PositionMismatchError,
)
from app.protocol.events import EventKind
from app.protocol.load import Speed
from app.protocol.output import FinishReason
from app.protocol.request import Message, Overflow, Role
from tests.driver import Run, request
from tests.fakes import CountingBackend, endless_token

SOON = 10.0
LONG_HISTORY = (
    Message(Role.SYSTEM, "Be kind."),
    *(
        Message(role, f"{role} {turn} says a few words")
        for turn in range(2)
        for role in (Role.USER, Role.ASSISTANT)
    ),
)


class Runner:
    """An EngineLoop on its thread, and what it has reported so far."""

    def __init__(self, backend: CountingBackend) -> None:
        self.backend = backend
        self.loop = EngineLoop(Engine(backend), self._on_reports_ready)
        self.error: BaseException | None = None
        self.run = Run()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._main)
        self._thread.start()

    def _main(self) -> None:
        try:
            self.loop.run()
        except Exception as error:
            self.error = error

    def _on_reports_ready(self) -> None:
        self._ready.set()

    def wait_for(self, condition, within: float = SOON) -> None:
        deadline = time.monotonic() + within
        while not condition(self.run):
            assert time.monotonic() < deadline, "it did not come"
            self._ready.wait(0.05)
            self._ready.clear()
            for report in self.loop.take_reports():
                self.run.add(report)

    def wait_for_end_of(self, request_id: str) -> None:
        self.wait_for(lambda run: not run.is_open(request_id))

    def stop(self) -> None:
        self.loop.stop()
        self._thread.join(SOON)
        assert not self._thread.is_alive()
        for report in self.loop.take_reports():
            self.run.add(report)


@pytest.fixture
def start():
    started: list[Runner] = []

    def start_runner(*args: object, **options: object) -> Runner:
        started.append(Runner(CountingBackend(*args, **options)))
        return started[-1]

    yield start_runner
    for runner in started:
        runner.stop()


def test_an_answer_comes_out_of_the_door_it_was_asked_through(start):
    runner = start()
    one = request("hello")
    runner.loop.post(Submit(one))
    runner.wait_for_end_of(one.request_id)
    assert runner.run.answers[one.request_id].text


def test_requests_from_several_threads_are_all_answered(start):
    runner = start(n_ctx=4096)
    asked = [request(f"question {index}", max_tokens=8) for index in range(40)]
    threads = [
        threading.Thread(target=lambda part=part: [runner.loop.post(Submit(r)) for r in part])
        for part in (asked[:20], asked[20:])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runner.wait_for(lambda run: all(not run.is_open(one.request_id) for one in asked))
    answers = [runner.run.answers[one.request_id] for one in asked]
    assert {answer.finish_reason for answer in answers} <= {FinishReason.STOP, FinishReason.LENGTH}


def test_abort_and_forget_reach_a_running_answer(start):
    runner = start(endless_token, n_ctx=100_000)
    stopped, closed = request("a", max_tokens=None), request("b", max_tokens=None)
    for one in (stopped, closed):
        runner.loop.post(Submit(one))
    runner.wait_for(lambda run: len(run.answers) == 2)
    runner.loop.post(Abort(stopped.request_id))
    runner.wait_for_end_of(stopped.request_id)
    runner.loop.post(Forget(closed.chat_id))
    runner.wait_for_end_of(closed.request_id)
    assert {answer.finish_reason for answer in runner.run.answers.values()} == {FinishReason.ABORT}
    assert closed.chat_id not in [slot.chat_id for slot in runner.run.reports[-1].slots]


def test_stop_all_ends_running_and_waiting_answers_and_nothing_after_them(start):
    runner = start(endless_token, n_ctx=100_000, n_seq_max=2)
    asked = [request(f"number {index}", max_tokens=None) for index in range(4)]
    for one in asked:
        runner.loop.post(Submit(one))
    runner.wait_for(lambda run: len(run.answers) == 2)
    runner.loop.post(AbortAll())
    for one in asked:
        runner.wait_for_end_of(one.request_id)
        assert runner.run.answers[one.request_id].finish_reason is FinishReason.ABORT
    later = request("later", max_tokens=5)
    runner.loop.post(Submit(later))
    runner.wait_for_end_of(later.request_id)
    assert runner.run.answers[later.request_id].finish_reason is FinishReason.LENGTH


def test_stop_all_interrupts_a_decode_that_is_running(start):
    """The engine's thread sits in one decode until somebody interrupts it, as in a long prompt."""
    inside = threading.Event()

    def wait_for_interrupt(_batch):
        inside.set()
        deadline = time.monotonic() + SOON
        while not runner.backend.is_interrupted and time.monotonic() < deadline:
            time.sleep(0.001)
        raise DecodeInterruptedError("the step was interrupted")

    runner = start(endless_token, wait_for_interrupt)
    one = request("x")
    runner.loop.post(Submit(one))
    assert inside.wait(SOON)
    runner.loop.post(AbortAll())
    runner.wait_for_end_of(one.request_id)
    assert runner.run.answers[one.request_id].finish_reason is FinishReason.ABORT


def test_an_answer_that_outgrows_its_context_gets_its_shorter_prompt_from_the_prompt_thread(start):
    runner = start(endless_token)
    one = request(
        "go on",
        history=LONG_HISTORY,
        overflow=Overflow.ROLLING_WINDOW,
        max_context_tokens=240,
        max_tokens=160,
    )
    runner.loop.post(Submit(one))
    runner.wait_for_end_of(one.request_id)
    answer = runner.run.answers[one.request_id]
    assert (answer.finish_reason, len(answer.text)) == (FinishReason.LENGTH, 160)
    events = [event for report in runner.run.reports for event in report.events]
    assert sum(event.kind is EventKind.OVERFLOW for event in events) == 2


def test_a_fork_holds_its_cells_at_once(start):
    runner = start(endless_token)
    one = request("x", max_tokens=5)
    runner.loop.post(Submit(one))
    runner.wait_for_end_of(one.request_id)
    runner.loop.post(Fork(one.chat_id, "fork"))
    runner.wait_for(lambda run: "fork" in [slot.chat_id for slot in run.reports[-1].slots])
    assert runner.run.reports[-1].cells.num_shared > 0


def test_the_dial_and_the_front_tab_reach_the_engine(start):
    runner = start()
    runner.loop.post(SetSpeed(Speed.THROUGHPUT))
    runner.loop.post(SetFront("a chat"))
    one = request("x")
    runner.loop.post(Submit(one))
    runner.wait_for_end_of(one.request_id)
    engine = runner.loop._engine
    assert (engine._budget.speed, engine.slots.front_chat_id) == (Speed.THROUGHPUT, "a chat")


def test_a_request_can_be_aborted_before_its_prompt_is_ready(start, monkeypatch):
    may_render, rendering = threading.Event(), threading.Event()

    def slow_render(*_given):
        rendering.set()
        may_render.wait(SOON)
        return "text"

    monkeypatch.setattr(ChatTemplate, "render", slow_render)
    runner = start()
    one = request("slow")
    runner.loop.post(Submit(one))
    assert rendering.wait(SOON)
    runner.loop.post(Abort(one.request_id))
    runner.wait_for_end_of(one.request_id)
    may_render.set()
    assert runner.run.answers[one.request_id].finish_reason is FinishReason.ABORT
    assert runner.backend.batches == []


def test_a_slow_template_delays_nobody_else(start, monkeypatch):
    may_render = threading.Event()

    def render(_self, inputs):
        if inputs.messages[-1].content == "slow":
            may_render.wait(SOON)
        return "text"

    monkeypatch.setattr(ChatTemplate, "render", render)
    runner = start(endless_token, n_ctx=100_000)
    talking, waiting = request("fast", max_tokens=None), request("slow")
    runner.loop.post(Submit(talking))
    runner.loop.post(Submit(waiting))
    runner.wait_for(lambda run: len(run.reports) > 20)
    assert runner.run.is_open(waiting.request_id)
    may_render.set()
    runner.wait_for_end_of(waiting.request_id)
    assert runner.run.is_open(talking.request_id)


class Templates:
    """The first rendering takes until it may end; all are listed."""

    def __init__(self, monkeypatch) -> None:
        self.rendered: list[str] = []
        self.may_end = threading.Event()
        templates = self

        def render(_self, inputs):
            templates.rendered.append(inputs.messages[-1].content)
            assert templates.may_end.wait(SOON)
            return "text"

        monkeypatch.setattr(ChatTemplate, "render", render)


def test_prompts_that_nobody_waits_for_are_not_built_and_the_front_tabs_goes_first(start, monkeypatch):
    templates = Templates(monkeypatch)
    runner = start()
    asked = {text: request(text, text) for text in ("slow", "aborted", "closed", "other", "front")}
    for one in asked.values():
        runner.loop.post(Submit(one))
    runner.wait_for(lambda _: templates.rendered)
    runner.loop.post(SetFront("front"))
    runner.loop.post(Abort(asked["aborted"].request_id))
    runner.loop.post(Forget("closed"))
    runner.wait_for_end_of(asked["closed"].request_id)
    templates.may_end.set()
    runner.wait_for_end_of(asked["other"].request_id)
    assert templates.rendered == ["slow", "front", "other"]


@pytest.mark.parametrize("end", [lambda loop: loop.post(AbortAll()), EngineLoop.stop], ids=["all", "stop"])
def test_after_the_end_of_all_answers_no_prompt_is_built_for_them(start, monkeypatch, end):
    templates = Templates(monkeypatch)
    monkeypatch.setattr(PromptBuilder, "close", lambda _self: templates.may_end.set())
    runner = start()
    for number in range(20):
        runner.loop.post(Submit(request(f"question {number}")))
    runner.wait_for(lambda _: templates.rendered)
    end(runner.loop)
    runner.stop()
    assert len(templates.rendered) <= 1


def test_who_waits_for_the_prompt_thread_when_it_ends_is_told(start, monkeypatch):
    templates = Templates(monkeypatch)
    monkeypatch.setattr(PromptBuilder, "close", lambda _self: templates.may_end.set())
    runner = start()
    runner.loop.post(Submit(request("slow")))
    runner.wait_for(lambda _: templates.rendered)
    wanted = runner.loop.use_prompts(lambda prompts: prompts.takes_tools)
    runner.stop()
    with pytest.raises(EngineError):
        wanted.result(0)


def test_an_engine_whose_last_report_fails_still_ends_its_threads_and_answers(start, monkeypatch):
    def fail(_self):
        raise PositionMismatchError("sequence 0 still holds cells after it was cleared")

    runner = start(endless_token, n_ctx=100_000)
    one = request("x", max_tokens=None)
    runner.loop.post(Submit(one))
    runner.wait_for(lambda run: run.answers)
    monkeypatch.setattr(Engine, "report", fail)
    runner.stop()
    assert isinstance(runner.error, PositionMismatchError)
    assert not runner.run.is_open(one.request_id)
    assert not runner.loop._prompt_thread._thread.is_alive()


def test_a_template_that_fails_ends_its_own_request(start, monkeypatch):
    def render(_self, inputs):
        if "bad" in inputs.messages[-1].content:
            raise ChatTemplateError("The model's chat template failed: no.")
        return "text"

    monkeypatch.setattr(ChatTemplate, "render", render)
    runner = start()
    bad, good = request("bad"), request("good")
    runner.loop.post(Submit(bad))
    runner.loop.post(Submit(good))
    runner.wait_for_end_of(bad.request_id)
    runner.wait_for_end_of(good.request_id)
    assert runner.run.answers[bad.request_id].notice == "The model's chat template failed: no."
    assert runner.run.answers[good.request_id].finish_reason is not FinishReason.ERROR


def test_our_own_bug_in_a_prompt_ends_that_answer_and_not_the_thread(start, monkeypatch):
    monkeypatch.setattr(ChatTemplate, "render", lambda _self, *_arguments: 1 / 0)
    runner = start()
    for _ in range(2):
        one = request("x")
        runner.loop.post(Submit(one))
        runner.wait_for_end_of(one.request_id)
        assert runner.run.answers[one.request_id].finish_reason is FinishReason.ERROR


def test_stop_ends_every_open_request(start):
    runner = start(endless_token, n_ctx=100_000, n_seq_max=1)
    running, waiting = request("a", max_tokens=None), request("b", max_tokens=None)
    runner.loop.post(Submit(running))
    runner.loop.post(Submit(waiting))
    runner.wait_for(lambda run: run.answers)
    runner.stop()
    assert runner.error is None
    assert {runner.run.answers[one.request_id].finish_reason for one in (running, waiting)} == {
        FinishReason.ABORT
    }
    assert runner.backend.num_samplers == 0


def test_when_the_engine_dies_every_open_request_hears_why(start):
    def fail_on_the_third(batch):
        if batch.positions[0] == 40:
            raise DecodeError("code -3")

    runner = start(endless_token, fail_on_the_third, n_ctx=100_000, n_seq_max=1)
    first, second = request("a", max_tokens=None), request("b", max_tokens=None)
    runner.loop.post(Submit(first))
    runner.loop.post(Submit(second))
    runner.wait_for_end_of(first.request_id)
    runner.wait_for_end_of(second.request_id)
    for one in (first, second):
        answer = runner.run.answers[one.request_id]
        assert (answer.finish_reason, "code -3" in answer.notice) == (FinishReason.ERROR, True)
    runner.stop()
    assert isinstance(runner.error, DecodeError)


def is_paused(run: Run) -> bool:
    return bool(run.reports) and run.reports[-1].pause is not None


def planned_requests(run: Run) -> list[str]:
    """Of the plan that was told last, if it stands still."""
    pause = run.reports[-1].pause if run.reports else None
    return [span.request_id for span in pause.planned] if pause else []


def answers_of(run: Run) -> list[tuple[int, ...]]:
    return [answer.token_ids for report in run.reports for answer in report.answers]


def test_in_a_pause_nothing_is_computed_and_every_letter_is_handled(start):
    runner = start(endless_token, n_ctx=100_000)
    talking, stopped = request("a", max_tokens=None), request("b", max_tokens=None)
    runner.loop.post(Submit(talking))
    runner.wait_for(lambda run: len(run.reports) > 3)
    runner.loop.post(Pause())
    runner.wait_for(is_paused)
    num_batches = len(runner.backend.batches)

    runner.loop.post(Submit(stopped))
    runner.wait_for(lambda run: stopped.request_id in planned_requests(run))
    runner.loop.post(Abort(stopped.request_id))
    runner.wait_for_end_of(stopped.request_id)
    runner.wait_for(lambda run: planned_requests(run) == [talking.request_id])
    runner.loop.post(DescribeTokens((65,)))
    runner.wait_for(lambda run: (65,) in answers_of(run))
    runner.loop.post(Fork(talking.chat_id, "fork"))
    runner.wait_for(lambda run: "fork" in [slot.chat_id for slot in run.reports[-1].slots])
    assert len(runner.backend.batches) == num_batches

    runner.loop.post(StepOnce())
    runner.wait_for(lambda run: is_paused(run) and len(runner.backend.batches) > num_batches)
    assert len(runner.backend.batches) == num_batches + 1
    runner.loop.post(Resume())
    runner.wait_for(lambda _run: len(runner.backend.batches) > num_batches + 10)


def test_steps_asked_for_faster_than_they_are_computed_are_all_taken(start):
    runner = start(endless_token, n_ctx=100_000)
    runner.loop.post(Submit(request("a", max_tokens=None)))
    runner.loop.post(Pause())
    runner.wait_for(planned_requests)
    for _ in range(3):
        runner.loop.post(StepOnce())
    runner.loop.post(DescribeTokens((65,)))  # comes behind the three
    runner.wait_for(lambda run: (65,) in answers_of(run))
    assert len(runner.backend.batches) == 3


def test_the_loop_sleeps_in_a_pause(start):
    """One that went round without a letter would report a plan each time."""
    runner = start(endless_token, n_ctx=100_000)
    runner.loop.post(Submit(request("a", max_tokens=None)))
    runner.loop.post(Pause())
    runner.wait_for(lambda run: bool(planned_requests(run)))
    num_reports = len(runner.run.reports)
    for token_id in (65, 66):
        runner.loop.post(DescribeTokens((token_id,)))
        runner.wait_for(lambda run, asked=token_id: answers_of(run)[-1:] == [(asked,)])
    told = [bool(report.answers) for report in runner.run.reports[num_reports:]]
    assert told[:3] == [True, False, True]  # after each letter its report, then the plan


def test_stop_all_ends_the_answers_of_a_pause(start):
    runner = start(endless_token, n_ctx=100_000)
    one = request("a", max_tokens=None)
    runner.loop.post(Submit(one))
    runner.loop.post(Pause())
    runner.wait_for(lambda run: planned_requests(run) == [one.request_id])
    runner.loop.post(AbortAll())
    runner.wait_for_end_of(one.request_id)
    runner.wait_for(is_paused)
    later = request("later", max_tokens=5)
    runner.loop.post(Submit(later))
    runner.wait_for(lambda run: planned_requests(run) == [later.request_id])
    runner.loop.post(Resume())
    runner.wait_for_end_of(later.request_id)
    assert runner.run.answers[later.request_id].finish_reason is FinishReason.LENGTH


def test_a_paused_loop_can_be_stopped(start):
    runner = start(endless_token, n_ctx=100_000)
    one = request("a", max_tokens=None)
    runner.loop.post(Submit(one))
    runner.loop.post(Pause())
    runner.wait_for(lambda run: planned_requests(run) == [one.request_id])
    runner.stop()
    assert runner.run.answers[one.request_id].finish_reason is FinishReason.ABORT


def test_it_runs_until_an_answer_ends_also_one_whose_prompt_is_still_being_built(start):
    runner = start(endless_token)
    one = request("a", max_tokens=5)
    runner.loop.post(Submit(one))
    runner.loop.post(RunUntil(UntilEnd(one.chat_id)))
    runner.wait_for(is_paused)
    assert not runner.run.is_open(one.request_id)
    assert runner.run.reports[-1].pause.reason == "The answer ended."


def test_with_nothing_to_do_it_stands_still_at_once(start):
    runner = start(endless_token)
    runner.loop.post(RunUntil(UntilEnd()))
    runner.wait_for(is_paused)
    assert runner.run.reports[-1].pause.reason == NO_WORK


def test_the_cells_are_compared_when_the_engine_has_nothing_left_to_do(start):
    runner = start(endless_token)
    one = request("hello", max_tokens=5)
    runner.loop.post(Submit(one))
    runner.wait_for_end_of(one.request_id)
    runner.wait_for(lambda run: run.reports[-1].last_check is not None)
    assert runner.run.reports[-1].last_check.agrees
    num_reports = len(runner.run.reports)
    runner.loop.post(SetFront("nobody"))  # changes no cell, so nothing is compared again
    runner.loop.post(DescribeTokens((65,)))
    runner.wait_for(lambda run: bool(run.reports[-1].answers))
    assert len(runner.run.reports) == num_reports + 1


def test_a_disagreement_is_told_before_it_ends_the_engine(start):
    runner = start(endless_token)
    one = request("hello", max_tokens=5)
    runner.loop.post(Submit(one))
    runner.wait_for(lambda run: bool(run.reports) and run.reports[-1].last_check is not None)
    runner.backend.truncate(0, 3)
    runner.loop.post(CheckCells())
    runner.wait_for(lambda run: not run.reports[-1].last_check.agrees)
    last = runner.run.reports[-1]
    assert last.answers == (last.last_check,)
    assert last.slots[0].pos_max == 2
    runner.stop()
    assert isinstance(runner.error, PositionMismatchError)
    assert str(runner.error) == last.last_check.difference


def test_reports_pile_up_without_waking_the_reader_twice():
    report = Engine(CountingBackend()).report()
    wakes: list[int] = []
    loop = CommandLoop(lambda: None, lambda: wakes.append(1))
    for _ in range(5):
        loop.put_report(report)
    assert len(wakes) == 1
    assert len(loop.take_reports()) == 5
    loop.put_report(report)
    assert len(wakes) == 2
