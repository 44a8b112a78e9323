"""Pausing the batcher, stepping through it, and running until something happens."""

import pytest

from app.engine.batching.stepping import NO_WORK
from app.engine.engine import Engine
from app.protocol.commands import (
    Hibernate,
    Pause,
    Restore,
    Resume,
    RunUntil,
    StepOnce,
    UntilDecodeFails,
    UntilEnd,
    UntilPosition,
    UntilToken,
)
from app.protocol.errors import DecodeError, NoKvCellsError
from app.protocol.output import FinishReason
from app.protocol.report import Span, StepReport, WaitReason
from tests.driver import Run, request, run
from tests.fakes import END, CountingBackend, endless_token


def rows_of(spans: tuple[Span, ...]) -> list[tuple[int, int, tuple[int, ...]]]:
    return [(span.seq_id, span.first_pos, span.token_ids) for span in spans]


def run_on(engine: Engine, max_steps: int = 200) -> list[StepReport]:
    """Step until it stands still."""
    reports: list[StepReport] = []
    while not engine.stepping.is_paused:
        assert len(reports) < max_steps, "it does not stand still"
        if engine.has_work:
            reports.append(engine.step())
        else:
            engine.stepping.note_no_work()
    return reports


def reason_of(engine: Engine) -> str:
    pause = engine.report().pause
    assert pause is not None
    return pause.reason


def test_a_pause_tells_the_next_batch_before_it_is_computed(engine):
    one = request("hello", max_tokens=8)
    engine.add_request(one)
    engine.obey(Pause())
    plan = engine.plan()
    assert plan.spans == ()
    assert plan.pause is not None
    assert plan.pause.reason == ""
    (span,) = plan.pause.planned
    assert (span.seq_id, span.request_id, span.first_pos, span.is_prefill) == (0, one.request_id, 0, True)
    assert span.num_rows == len(span.token_ids) > 0
    assert [lease.request_id for lease in plan.leases] == [one.request_id]
    assert plan.slots[0].num_cells == 0, "nothing was computed"


def test_a_step_computes_what_was_planned_and_then_it_stands_still_again(engine):
    for text in ("hello", "what is a cell?"):
        engine.add_request(request(text, max_tokens=8))
    engine.obey(Pause())
    for _ in range(6):
        planned = engine.plan().pause.planned
        engine.obey(StepOnce())
        assert engine.report().pause is None
        assert rows_of(engine.step().spans) == rows_of(planned)
        assert reason_of(engine) == ""


def test_stepping_through_an_answer_does_not_change_it(engine):
    question = request("tell me more", max_tokens=20)
    (expected,) = run(engine, question).answers.values()
    again = request("tell me more", max_tokens=20)
    engine.add_request(again)
    engine.obey(Pause())
    stepped = Run()
    while stepped.is_open(again.request_id):
        stepped.add(engine.plan())
        engine.obey(StepOnce())
        stepped.add(engine.step())
    assert stepped.answers[again.request_id].text == expected.text


def test_a_question_that_comes_in_a_pause_is_planned_beside_the_others(engine):
    engine.add_request(request("hello", max_tokens=8))
    engine.obey(Pause())
    assert len(engine.plan().pause.planned) == 1
    engine.add_request(request("another", max_tokens=8))
    assert len(engine.plan().pause.planned) == 2


def test_a_question_without_a_slot_is_shown_waiting_in_a_pause():
    engine = Engine(CountingBackend(endless_token, n_seq_max=1))
    first, second = request("hello"), request("another")
    engine.add_request(first)
    engine.add_request(second)
    engine.obey(Pause())
    plan = engine.plan()
    assert [span.request_id for span in plan.pause.planned] == [first.request_id]
    assert [(one.request_id, one.reason) for one in plan.waiting] == [(second.request_id, WaitReason.QUEUED)]
    assert plan.num_waiting == 1


def test_an_answer_that_was_planned_can_be_stopped_in_a_pause(engine):
    stopped, other = request("hello", max_tokens=8), request("another", max_tokens=8)
    engine.add_request(stopped)
    engine.add_request(other)
    engine.obey(Pause())
    engine.plan()
    engine.abort(stopped.request_id)
    engine.obey(StepOnce())
    report = engine.step()
    assert [span.request_id for span in report.spans] == [other.request_id]
    assert [out.finish_reason for out in report.outputs if out.request_id == stopped.request_id] == [
        FinishReason.ABORT
    ]


def test_after_resume_it_runs_to_the_end(engine):
    one = request("hello", max_tokens=8)
    engine.add_request(one)
    engine.obey(Pause())
    engine.plan()
    engine.obey(Resume())
    assert not run(engine).is_open(one.request_id)
    assert engine.report().pause is None


def test_a_plan_whose_cells_were_given_away_is_made_anew():
    engine = Engine(CountingBackend(endless_token, n_ctx=512, n_seq_max=2, n_batch=512), verify=True)
    sleeper, one = request("a" * 300, max_tokens=1), request("b" * 250, max_tokens=4)
    run(engine, sleeper)
    engine.obey(Hibernate(sleeper.chat_id))
    engine.add_request(one)
    engine.obey(Pause())
    planned = engine.plan().pause.planned
    engine.obey(Resume())
    engine.obey(Restore(sleeper.chat_id))
    assert engine.slots.cells.num_free < sum(span.num_rows for span in planned)
    result = run(engine)
    assert {report.return_code for report in result.reports} == {0}
    assert result.answers[one.request_id].finish_reason is FinishReason.LENGTH


def test_it_runs_until_a_sequence_holds_a_position(engine):
    engine.add_request(request("hello", max_tokens=30))
    engine.obey(RunUntil(UntilPosition(seq_id=0, pos=35)))
    reports = run_on(engine)
    assert [report.slots[0].pos_max >= 35 for report in reports[-2:]] == [False, True]
    assert reason_of(engine) == "Sequence 0 reached position 35."


def test_it_runs_until_a_token_comes():
    engine = Engine(CountingBackend(endless_token))
    other, one = request("hello", max_tokens=100), request("another", max_tokens=100)
    for asked in (other, one):
        engine.add_request(asked)
    engine.obey(RunUntil(UntilToken(ord("k"), one.chat_id)))
    result = Run()
    for report in run_on(engine):
        result.add(report)
    assert result.answers[one.request_id].text.index("k") == len(result.answers[one.request_id].text) - 1
    assert reason_of(engine) == f"Token {ord('k')} was sampled."


def test_it_runs_until_a_token_that_ends_the_answer():
    engine = Engine(CountingBackend(lambda tokens: END if len(tokens) > 40 else ord("a")))
    one = request("hello", max_tokens=100)
    engine.add_request(one)
    engine.obey(RunUntil(UntilToken(END)))
    last = run_on(engine)[-1]
    assert [out.finish_reason for out in last.outputs] == [FinishReason.STOP]
    assert reason_of(engine) == f"Token {END} was sampled."


def test_it_runs_until_one_answer_ends_and_the_others_wait():
    engine = Engine(CountingBackend(endless_token))
    short, long = request("hello", max_tokens=4), request("another", max_tokens=40)
    for asked in (short, long):
        engine.add_request(asked)
    engine.obey(RunUntil(UntilEnd(long.chat_id)))
    engine.step()
    engine.obey(RunUntil(UntilEnd()))
    last = run_on(engine)[-1]
    assert [out.request_id for out in last.outputs if out.finish_reason] == [short.request_id]
    assert reason_of(engine) == "An answer ended."
    engine.obey(RunUntil(UntilEnd(long.chat_id)))
    last = run_on(engine)[-1]
    assert [out.request_id for out in last.outputs if out.finish_reason] == [long.request_id]
    assert reason_of(engine) == "The answer ended."


def test_it_runs_until_a_decode_finds_no_room():
    def fail_once(batch):
        if not failures and batch.positions[0] >= 40:
            failures.append(batch)
            raise NoKvCellsError("no room")

    failures: list[object] = []
    engine = Engine(CountingBackend(endless_token, fail_once))
    for text in ("hello", "another"):
        engine.add_request(request(text, max_tokens=60))
    engine.obey(RunUntil(UntilDecodeFails()))
    last = run_on(engine)[-1]
    assert (last.return_code, last.spans) == (1, ())
    assert reason_of(engine) == "llama_decode returned 1."


def test_a_fatal_decode_is_told_with_its_batch():
    def fail(_batch):
        raise DecodeError("code -3", -3)

    engine = Engine(CountingBackend(endless_token, fail))
    engine.add_request(request("hello"))
    engine.obey(RunUntil(UntilDecodeFails()))
    with pytest.raises(DecodeError) as caught:
        engine.step()
    report = engine.post_mortem(caught.value)
    assert report.return_code == -3
    assert report.spans[0].first_pos == 0


def test_it_stands_still_when_nothing_is_left_to_do(engine):
    engine.add_request(request("hello", max_tokens=4))
    engine.obey(RunUntil(UntilPosition(seq_id=3, pos=1)))
    run_on(engine)
    assert reason_of(engine) == NO_WORK


def test_a_pause_is_no_part_of_what_a_step_takes():
    engine = Engine(CountingBackend(endless_token))
    engine.add_request(request("hello", max_tokens=20))
    learned: list[float] = []
    engine._idle.learn = lambda _num_decoding, _num_prompt, step_ms: learned.append(step_ms)
    engine.step()
    engine.obey(Pause())
    plan = engine.plan()
    engine.obey(StepOnce())
    report = engine.step()
    assert learned[-1] == report.decode_ms
    assert report.started_at > plan.started_at, "its clock starts with the step, not with the plan"


def test_the_time_of_a_pause_belongs_to_no_answer(monkeypatch):
    now = 100.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    monkeypatch.setattr("app.engine.batching.stepping.perf_counter", lambda: now)
    engine = Engine(CountingBackend(endless_token))
    asked = request("begun", max_tokens=30)
    engine.add_request(asked)
    for _step in range(5):
        now += 0.1
        engine.step()
    engine.obey(Pause())
    now += 60.0
    late = request("sent in the pause", max_tokens=2)
    engine.add_request(late)
    now += 60.0
    engine.obey(StepOnce())
    engine.step()
    now += 60.0
    engine.obey(Resume())
    done = Run()
    while engine.has_work:
        now += 0.1
        done.add(engine.step())
    usage, late_usage = (done.answers[one.request_id].usage for one in (asked, late))
    assert usage.tokens_per_s == pytest.approx(10, rel=0.05)
    assert usage.queue_s + usage.prompt_s < 0.5
    assert 0 <= late_usage.queue_s < 0.5
