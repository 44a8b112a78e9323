from dataclasses import replace

import pytest

from app.inspector.draft_steps import DraftSteps
from app.protocol.report import StepReport
from tests.inspector.steps import span, step


def drafted(number: int, *drafts: tuple[int, int], took_ms: float, **changes: object) -> StepReport:
    """A step in which each answer had so many draft tokens, of which so many were accepted."""
    spans = (
        replace(span(seq_id, 50, 1 + num_drafted), num_drafted=num_drafted, num_kept=num_kept)
        for seq_id, (num_drafted, num_kept) in enumerate(drafts)
    )
    return replace(step(number, *spans), schedule_ms=1.0, decode_ms=took_ms - 2.0, update_ms=1.0, **changes)


def noted(*reports: StepReport) -> DraftSteps:
    steps = DraftSteps()
    for report in reports:
        steps.note(report)
    return steps


def test_each_place_counts_the_tokens_that_were_reached_and_those_that_were_right() -> None:
    steps = noted(drafted(1, (3, 3), (5, 0), took_ms=20), drafted(2, (3, 1), (0, 0), took_ms=20))
    assert steps.by_position == [(2, 3), (1, 2), (1, 1), (0, 0), (0, 0)]
    assert steps.in_words() == "4 of the last 11 draft tokens were right."
    assert steps.all_in_words().endswith("By position 1: 2 of 3, 2: 1 of 2, 3: 1 of 1.")


def test_the_speed_is_compared_with_that_of_steps_with_as_many_answers_without_drafts() -> None:
    one = [drafted(1, (0, 0), took_ms=10)] * 3 + [
        drafted(2, (4, 2), took_ms=15)
    ] * 6  # 3 tokens for 1.5 steps
    two = [drafted(3, (0, 0), (0, 0), took_ms=20)] * 3 + [drafted(4, (4, 2), (0, 0), took_ms=20)] * 6
    three = [drafted(5, *[(4, 0)] * 3, took_ms=900)]  # nothing to compare it with
    steps = noted(*one, *two, *three)
    alone = 3 * 10 + 3 * 20
    assert steps.speedup == pytest.approx((alone + 6 * 30 + 6 * 40) / (alone + 6 * 15 + 6 * 20))
    assert steps.in_words().endswith("draft tokens were right; answers came 1.7 times as fast.")


def test_prompts_and_failed_steps_tell_no_time() -> None:
    steps = noted(
        *[drafted(1, (0, 0), took_ms=10)] * 20,
        *[drafted(2, (4, 4), took_ms=10, return_code=1)] * 20,
        *[replace(drafted(3, (4, 4), took_ms=10), spans=(*drafted(3, (4, 4), took_ms=10).spans, PROMPT))]
        * 20,
    )
    assert steps.speedup is None
    assert steps.by_position[0] == (40, 40)


PROMPT = span(5, 0, 8, is_prefill=True)


def test_where_nothing_was_drafted_nothing_is_said() -> None:
    assert noted().all_in_words() == ""
    assert noted(drafted(1, (0, 0), took_ms=10)).all_in_words() == ""
