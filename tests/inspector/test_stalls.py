from dataclasses import replace

import pytest

from app.inspector.stalls import Before, Stall, causes_of, deliver_ms, has_run, worst_of
from app.protocol.events import EventKind, Told
from app.protocol.report import PauseState, SlotState, StepReport, WaitReason
from tests.inspector.steps import STEP_S, idle_step, slot, span, step, waiting

BEFORE = Before().after(step(1, span(0, 9), span(1, 9)))


def texts(report: StepReport, before: Before = BEFORE) -> list[str]:
    return [cause.text for cause in causes_of(report, before)]


def test_steps_that_follow_one_another_have_no_cause() -> None:
    assert texts(step(2, span(0, 10), span(1, 10))) == []
    assert worst_of(step(2, span(0, 10), span(1, 10)), BEFORE) is Stall.NONE


def test_a_return_code_is_told_in_words() -> None:
    failed = step(2, return_code=1, slots=BEFORE_SLOTS)
    assert texts(failed) == ["llama_decode returned 1: no KV slot for the batch."]
    assert worst_of(failed, BEFORE) is Stall.FAILED
    assert texts(step(2, return_code=-3)) == ["llama_decode returned -3: fatal error."]


BEFORE_SLOTS = (slot(0, 10), slot(1, 10))


def test_nobody_wanted_anything() -> None:
    done = Before().after(step(1, span(0, 9), slots=(slot(0, 10, SlotState.WARM),)))
    assert texts(late(), done) == ["Nothing ran for 1.0 s before this step: no chat had work for it."]
    assert worst_of(late(), done) is Stall.NO_WORK


@pytest.mark.parametrize(
    ("reason", "words"), [("", " by a user."), ("An answer ended.", ". An answer ended.")]
)
def test_the_batcher_was_paused(reason: str, words: str) -> None:
    paused = BEFORE.after(replace(idle_step(1), pause=PauseState(reason), slots=BEFORE_SLOTS))
    resumed = paused.after(replace(idle_step(1), slots=BEFORE_SLOTS))
    for before in (paused, resumed):
        assert texts(late(), before) == [
            f"Nothing ran for 1.0 s before this step: the batcher was paused{words}"
        ]
        assert worst_of(late(), before) is Stall.PAUSED


def test_a_step_that_ran_ends_the_pause() -> None:
    paused = BEFORE.after(replace(idle_step(1), pause=PauseState(""), slots=BEFORE_SLOTS))
    assert "paused" not in texts(late(), paused.after(step(2, span(0, 10))))[0]


def test_a_gap_that_no_report_explains_is_said_to_be_one() -> None:
    assert texts(late()) == [
        "Nothing ran for 1.0 s before this step although there was work, for an unknown reason."
    ]


def test_reports_without_times_have_no_gaps() -> None:
    assert texts(step(2, span(0, 10), span(1, 10), started_at=0.0)) == []
    assert Before().after(step(1, started_at=0.0)).gap_ms(step(2)) == 0.0


def test_saving_cells_takes_the_time_of_scheduling() -> None:
    saved = Told(EventKind.HIBERNATE, "hibernated sequence 3: 400 tokens", 3)
    pinned = Told(EventKind.PIN, "pinned", 1)
    slow = step(2, span(0, 10), span(1, 10), schedule_ms=60.0, events=(saved, pinned))
    assert texts(slow) == ["Scheduling took 60.0 ms: hibernated sequence 3: 400 tokens."]
    assert texts(replace(slow, draft_ms=59.0)) == []


def test_a_prompt_took_the_step() -> None:
    prompt = span(2, 0, 480, is_prefill=True)
    slow = step(2, span(0, 10), span(1, 10), prompt, decode_ms=90.0)
    assert texts(slow) == [
        "Prefill of seq 2 (480 rows) lengthened the step: 90.0 ms instead of about 10.0 ms."
    ]
    assert worst_of(slow, BEFORE) is Stall.HELD_UP


def test_a_prompt_alone_holds_nobody_up() -> None:
    alone = Before().after(step(1, span(0, 9))).after(step(2, slots=()))
    assert texts(step(3, span(2, 0, 480, is_prefill=True), decode_ms=90.0), alone) == []


def test_a_slow_decode_without_a_prompt_is_the_machines() -> None:
    assert texts(step(2, span(0, 10), span(1, 10), decode_ms=90.0)) == [
        "The decode took 90.0 ms instead of about 10.0 ms without any prompt: the machine was slow."
    ]


def test_a_step_with_guesses_may_take_longer_and_is_not_the_usual_one() -> None:
    guessed = step(2, replace(span(0, 10, 4), num_drafted=3), span(1, 10), decode_ms=45.0)
    assert texts(guessed) == []
    assert BEFORE.after(guessed).usual_ms == 10.0
    assert texts(replace(guessed, decode_ms=90.0)) != []


def test_one_slow_step_is_not_the_usual_one() -> None:
    after = BEFORE.after(step(2, span(0, 10), decode_ms=90.0))
    assert after.usual_ms == pytest.approx(18.0)
    assert BEFORE.after(step(2, span(2, 0, 64, is_prefill=True), decode_ms=90.0)).usual_ms == 10.0


def test_an_answer_that_got_no_row_is_named() -> None:
    prompt = span(2, 0, 30, is_prefill=True)
    without = step(2, span(0, 10), prompt, slots=(slot(0, 11), slot(1, 10), slot(2, 30, SlotState.PREFILL)))
    assert texts(without) == ["seq 1 got no row: prefill of seq 2 took the step."]


def test_an_answer_that_ended_was_not_left_out() -> None:
    assert texts(step(2, span(0, 10), slots=(slot(0, 11), slot(1, 10, SlotState.WARM)))) == []


def test_a_step_without_a_batch_tells_what_holds_the_others_back() -> None:
    nothing = step(2, waiting=(waiting(WaitReason.SHARES_PREFIX), waiting(WaitReason.PAUSED)))
    assert texts(nothing) == [
        "Nothing could be computed; all work is on hold: paused, waiting for a shared prefix."
    ]


def test_a_step_that_was_stopped_has_not_failed() -> None:
    assert [cause.kind for cause in causes_of(replace(step(1), return_code=2), Before())] == [Stall.PAUSED]


def test_the_worst_comes_first() -> None:
    both = replace(late(), return_code=1)
    assert [cause.kind for cause in causes_of(both, BEFORE)] == [Stall.FAILED, Stall.HELD_UP]


def test_news_between_two_steps_are_no_step() -> None:
    assert not has_run(idle_step(1))
    assert has_run(step(1))
    assert BEFORE.after(idle_step(1)).ended_at == BEFORE.ended_at


def test_delivering_is_what_is_left_of_the_update() -> None:
    assert deliver_ms(step(1)) == pytest.approx(0.3)
    assert deliver_ms(step(1, sample_ms=0.7)) == 0.0


def late() -> StepReport:
    """A second after the end of the first step."""
    return step(2, span(0, 10), span(1, 10), started_at=1000.0 + STEP_S + 0.0106 + 1.0)
