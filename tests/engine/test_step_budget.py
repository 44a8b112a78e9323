"""A machine of which only the step times are known: the budget finds its best chunk."""

import math

import numpy as np
import pytest

from app.engine.step_budget import FIRST_CHUNK, MAX_GROWTH, MIN_CHUNK, StepBudget
from app.engine.types import Speed

N_BATCH = 512


def two_cores(num_rows: int, ms_per_row: float = 6.0) -> float:
    """Full blocks of 16 rows are cheaper than broken ones."""
    return 10.0 + ms_per_row * (0.7 * (num_rows // 16) * 16 + num_rows % 16)


def fixed_cost(num_rows: int) -> float:
    """As on a GPU: the weights are read once, whatever the number of rows."""
    return 30.0 + 0.05 * num_rows


def settled(budget: StepBudget, step_ms, num_decoding: int, num_steps: int = 60) -> list[int]:
    """The chunks of a long prompt beside `num_decoding` answers that talked alone before."""
    if num_decoding:
        for _ in range(5):
            budget.learn(num_decoding, 0, step_ms(num_decoding))
    chunks = []
    for _ in range(num_steps):
        chunks.append(budget.num_prompt_tokens(num_decoding))
        budget.learn(num_decoding, chunks[-1], step_ms(num_decoding + chunks[-1]))
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
    steps = [two_cores(3 + chunk) for chunk in settled(budget, two_cores, num_decoding=3)]
    assert max(steps) <= stretch * calm_ms
    assert max(steps[20:]) >= 0.6 * stretch * calm_ms  # and none of the time is given away


def measured(num_rows: int, pos: int) -> float:
    """Milliseconds of a step of three short answers and a prompt at `pos`: 0.6B, Q4_K_M, two CPU threads.

    With them, nobody who knew all times in advance could take less than 17.1 and 8.2 s for 1,024 tokens.
    """
    sizes = [3, 8, 11, 12, 16, 32, 64, 128]
    at_0 = [38, 70, 86, 88, 87, 144, 315, 560]
    at_900 = [43, 118, 154, 163, 187, 355, 544, 996]
    share = pos / 900
    return float(np.interp(num_rows, sizes, np.multiply(at_0, 1 - share) + np.multiply(at_900, share)))


@pytest.mark.parametrize(
    ("speed", "stretch", "seconds"), [(Speed.RESPONSIVE, 3.0, 18.8), (Speed.BALANCED, 10.0, 9.0)]
)
def test_a_long_prompt_keeps_to_the_limit_while_its_steps_become_dearer(speed, stretch, seconds):
    budget = StepBudget(N_BATCH)
    budget.learn(0, 128, 510.0)
    budget.speed = speed
    for _ in range(2):  # the second one begins with what was learned at the end of the first
        pos, steps = 0, []
        for _ in range(10):
            budget.learn(3, 0, measured(3, 0))
        while pos < 1024:
            chunk = min(budget.num_prompt_tokens(3), 1024 - pos)
            steps.append(measured(3 + chunk, pos))
            budget.learn(3, chunk, steps[-1])
            pos += chunk
    assert max(steps) <= stretch * measured(3, 0)
    assert sum(steps) / 1000 <= seconds


def test_throughput_fills_the_batch_also_beside_running_answers():
    budget = StepBudget(N_BATCH)
    budget.speed = Speed.THROUGHPUT
    chunk = settled(budget, two_cores, num_decoding=3)[-1]
    assert chunk == N_BATCH - 3


def test_a_machine_that_becomes_slower_gets_smaller_chunks_at_once():
    budget = StepBudget(N_BATCH)
    budget.speed = Speed.BALANCED
    before = settled(budget, two_cores, num_decoding=3)[-1]
    for _ in range(5):
        chunk = budget.num_prompt_tokens(3)
        budget.learn(3, chunk, 3 * two_cores(3 + chunk))
    assert budget.num_prompt_tokens(3) < before


def test_a_slow_machine_still_moves_on_with_prompts():
    budget = StepBudget(N_BATCH)
    chunks = settled(budget, lambda rows: 2000.0 * rows, num_decoding=1)
    assert min(chunks) == MIN_CHUNK


def test_rows_of_answers_and_prompts_fit_the_batch_together():
    budget = StepBudget(n_batch=8)
    assert budget.num_prompt_tokens(num_decoding=8) == 0
    assert budget.num_prompt_tokens(num_decoding=5) <= 3
    budget.speed = Speed.THROUGHPUT
    assert budget.num_prompt_tokens(num_decoding=5) == 3


def test_a_target_below_what_anybody_notices_is_not_aimed_at():
    """A tiny model: steps of 1 ms could be 20 ms long without a stutter."""
    budget = StepBudget(N_BATCH)

    def tiny(num_rows: int) -> float:
        return 0.5 + 0.05 * num_rows

    chunk = settled(budget, tiny, num_decoding=4)[-1]
    assert math.isclose(tiny(4 + chunk), 20.0, rel_tol=0.4)


def test_before_anything_is_measured_the_chunk_is_small():
    assert StepBudget(N_BATCH).num_prompt_tokens(num_decoding=3) == FIRST_CHUNK


def test_a_chunk_grows_step_by_step():
    """One step that took no time at all does not let the next one take the whole batch."""
    budget = StepBudget(N_BATCH)
    budget.learn(3, 0, 40.0)
    budget.learn(3, FIRST_CHUNK, 40.1)
    assert budget.num_prompt_tokens(3) == MAX_GROWTH * FIRST_CHUNK
