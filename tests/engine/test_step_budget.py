"""A machine of which only the step times are known: the budget finds its best chunk."""

import math

import numpy as np
import pytest

from app.engine.step_budget import FIRST_CHUNK, MAX_GROWTH, MIN_CHUNK, PromptShare, StepBudget
from app.engine.types import Speed

N_BATCH = 512


def two_cores(num_rows: int, ms_per_row: float = 6.0) -> float:
    """Full blocks of 16 rows are cheaper than broken ones."""
    return 10.0 + ms_per_row * (0.7 * (num_rows // 16) * 16 + num_rows % 16)


def fixed_cost(num_rows: int) -> float:
    """As on a GPU: the weights are read once, whatever the number of rows."""
    return 30.0 + 0.05 * num_rows


def settled(budget: StepBudget, step_ms, num_decoding: int, num_steps: int = 60) -> list[int]:
    """The chunks of an endless prompt beside `num_decoding` answers that talked alone before."""
    return [chunk for chunk, _ in prefill(budget, step_ms, num_decoding, num_steps)]


def prefill(budget: StepBudget, step_ms, num_decoding: int, num_steps: int = 60) -> list[tuple[int, float]]:
    """Chunks, and what the answers had to wait for each."""
    if num_decoding:
        for _ in range(5):
            budget.learn(num_decoding, 0, step_ms(num_decoding))
    chunks = []
    while len(chunks) < num_steps:
        share = budget.share(num_decoding, 10**6)
        took_ms = step_ms(share.num_tokens + (0 if share.leaves_out_answers else num_decoding))
        if share.leaves_out_answers:
            budget.learn(0, share.num_tokens, took_ms, num_left_out=num_decoding)
            assert budget.share(num_decoding, 10**6) == PromptShare(0), "the answers have the next step"
            budget.learn(num_decoding, 0, step_ms(num_decoding))
            took_ms += step_ms(num_decoding)
        else:
            budget.learn(num_decoding, share.num_tokens, took_ms)
        chunks.append((share.num_tokens, took_ms))
    return chunks


def best_rate(step_ms) -> float:
    return max(rows / step_ms(rows) for rows in (16, 32, 64, 128, 256, 512))


@pytest.mark.parametrize("machine", [two_cores, fixed_cost])
def test_with_nobody_talking_a_prompt_gets_the_fastest_chunk(machine):
    chunk = settled(StepBudget(N_BATCH), machine, num_decoding=0)[-1]
    assert chunk / machine(chunk) >= 0.95 * best_rate(machine)


@pytest.mark.parametrize(("speed", "stretch"), [(Speed.RESPONSIVE, 3.0), (Speed.BALANCED, 10.0)])
def test_no_step_beside_running_answers_is_much_longer_than_theirs(speed, stretch):
    budget = StepBudget(N_BATCH)
    budget.speed = speed
    calm_ms = two_cores(3)
    steps = [waited_ms for _, waited_ms in prefill(budget, two_cores, num_decoding=3)]
    assert sorted(steps)[-2] <= stretch * calm_ms
    assert max(steps) <= 1.2 * stretch * calm_ms  # the one that tries whether full tiles are faster
    assert max(steps[20:]) >= 0.6 * stretch * calm_ms  # and none of the time is given away


# Milliseconds of a step: 0.6B, Q4_K_M, two CPU threads. Three short answers and so many prompt rows at
# position 0 and at 900, and so many prompt rows in a step of their own.
SIZES = [0, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128]
BESIDE_AT_0 = [49, 73, 96, 114, 115, 169, 225, 397, 458, 515, 652]
BESIDE_AT_900 = [50, 111, 171, 226, 265, 383, 582, 626, 729, 894, 1144]
APART_AT_0 = [0, 33, 58, 76, 72, 128, 159, 252, 300, 413, 524]
APART_AT_900 = [0, 70, 133, 186, 228, 360, 482, 579, 445, 708, 849]


def measured(num_prompt_rows: int, pos: int, is_apart: bool = False) -> float:
    at_0, at_900 = (APART_AT_0, APART_AT_900) if is_apart else (BESIDE_AT_0, BESIDE_AT_900)
    share = pos / 900
    return float(np.interp(num_prompt_rows, SIZES, np.multiply(at_0, 1 - share) + np.multiply(at_900, share)))


# Nobody who knew all times in advance could take less than 16.7 and 7.4 s, or 11.8 s in steps with answers
# in each of them.
@pytest.mark.parametrize(
    ("speed", "stretch", "seconds"), [(Speed.RESPONSIVE, 3.0, 19.0), (Speed.BALANCED, 10.0, 9.5)]
)
def test_a_long_prompt_keeps_to_the_limit_while_its_steps_become_dearer(speed, stretch, seconds):
    budget = StepBudget(N_BATCH)
    budget.learn(0, 128, 524.0)
    budget.speed = speed
    for _ in range(2):  # the second one begins with what was learned at the end of the first
        pos, waits = 0, []
        for _ in range(10):
            budget.learn(3, 0, measured(0, 0))
        while pos < 1024:
            share = budget.share(3, 1024 - pos)
            chunk = min(share.num_tokens, 1024 - pos)
            waits.append(measured(chunk, pos, share.leaves_out_answers))
            budget.learn(0 if share.leaves_out_answers else 3, chunk, waits[-1], 3 * share.leaves_out_answers)
            if share.leaves_out_answers:
                assert budget.share(3, 1024) == PromptShare(0)
                budget.learn(3, 0, measured(0, pos))
                waits[-1] += measured(0, pos)
            pos += chunk
    assert max(waits) <= stretch * measured(0, 0)
    assert sum(waits) / 1000 <= seconds


def test_where_a_step_for_all_is_faster_answers_are_in_every_step_but_the_one_that_was_tried():
    budget = StepBudget(N_BATCH)
    budget.speed = Speed.BALANCED

    def step_ms(num_rows: int) -> float:
        return 40.0 + 2.0 * num_rows

    for _ in range(5):
        budget.learn(3, 0, step_ms(3))
    num_apart = 0
    for _ in range(40):
        share = budget.share(3, 10**6)
        num_apart += share.leaves_out_answers
        if share.leaves_out_answers:
            budget.learn(0, share.num_tokens, step_ms(share.num_tokens), num_left_out=3)
        else:
            budget.learn(3, share.num_tokens, step_ms(3 + share.num_tokens))
    assert num_apart == 1


def test_throughput_fills_the_batch_also_beside_running_answers():
    budget = StepBudget(N_BATCH)
    budget.speed = Speed.THROUGHPUT
    assert settled(budget, two_cores, num_decoding=3)[-1] >= N_BATCH - 3


def test_a_machine_that_becomes_slower_gets_smaller_chunks_at_once():
    budget = StepBudget(N_BATCH)
    budget.speed = Speed.BALANCED
    before = settled(budget, two_cores, num_decoding=3)[-1]
    after = settled(budget, lambda rows: two_cores(rows) if rows == 3 else 3 * two_cores(rows), 3, 5)[-1]
    assert after < before


def test_a_slow_machine_still_moves_on_with_prompts():
    budget = StepBudget(N_BATCH)
    chunks = settled(budget, lambda rows: 2000.0 * rows, num_decoding=1)
    assert min(chunks) == MIN_CHUNK


def test_rows_of_answers_and_prompts_fit_the_batch_together():
    budget = StepBudget(n_batch=8)
    assert budget.share(num_decoding=8, num_pending=9).num_tokens == 0
    assert budget.share(num_decoding=5, num_pending=9).num_tokens <= 3
    budget.speed = Speed.THROUGHPUT
    assert budget.share(num_decoding=5, num_pending=9).num_tokens == 3


def test_a_target_below_what_anybody_notices_is_not_aimed_at():
    """A tiny model: steps of 1 ms could be 20 ms long without a stutter."""
    budget = StepBudget(N_BATCH)

    def tiny(num_rows: int) -> float:
        return 0.5 + 0.05 * num_rows

    chunk = settled(budget, tiny, num_decoding=4)[-1]
    assert math.isclose(tiny(4 + chunk), 20.0, rel_tol=0.4)


def test_before_anything_is_measured_the_chunk_is_small():
    assert StepBudget(N_BATCH).share(num_decoding=3, num_pending=1000) == PromptShare(FIRST_CHUNK)


def test_a_chunk_grows_step_by_step():
    """One step that took no time at all does not let the next one take the whole batch."""
    budget = StepBudget(N_BATCH)
    budget.learn(3, 0, 40.0)
    budget.learn(3, FIRST_CHUNK, 40.1)
    assert budget.share(3, 1000) == PromptShare(int(MAX_GROWTH * FIRST_CHUNK))
