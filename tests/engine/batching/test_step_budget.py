"""A machine of which only the step times are known: the budget finds its best chunk."""

import math

import numpy as np
import pytest

from app.engine.batching.step_budget import (
    AHEAD_MS,
    FIRST_CHUNK,
    GROWTH_ROWS,
    MIN_CHUNK,
    ROWS_WAITED_FOR,
    STEPS_BETWEEN_LOOKS,
    STRETCH,
    StepBudget,
)
from app.protocol.load import Speed

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
        chunk = budget.prompt_rows(num_decoding)
        took_ms = step_ms(chunk + num_decoding)
        budget.learn(num_decoding, chunk, took_ms)
        chunks.append((chunk, took_ms))
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
    steps = [took_ms for _, took_ms in prefill(budget, two_cores, num_decoding=3)]
    assert max(steps) <= stretch * calm_ms
    assert max(steps[20:]) >= 0.6 * stretch * calm_ms  # and none of the time is given away


# Milliseconds of a step of three answers and so many rows of a prompt at position 8 and 900: 0.6B, Q4_K_M,
# two CPU threads with AVX-512 VNNI, with the patches; medians of 5. The prompt alone took 3.8 s then.
SIZES = [0, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 29, 37, 45, 61, 93, 125, 189, 253]
AT_8 = [37, 49, 56, 61, 67, 75, 95, 104, 107, 110, 114, 129, 171, 190, 233, 350, 461, 688, 885]
AT_900 = [37, 68, 77, 85, 87, 97, 113, 118, 128, 150, 173, 182, 234, 249, 322, 493, 666, 979, 1263]


def measured(num_prompt_rows: int, pos: int) -> float:
    share = pos / 900
    return float(np.interp(num_prompt_rows, SIZES, np.multiply(AT_8, 1 - share) + np.multiply(AT_900, share)))


@pytest.mark.parametrize(
    ("speed", "stretch", "seconds"), [(Speed.RESPONSIVE, 3.0, 9.5), (Speed.BALANCED, 10.0, 5.3)]
)
def test_a_long_prompt_keeps_to_the_limit_while_its_steps_become_dearer(speed, stretch, seconds):
    """2.5 and 1.4 times what it took alone."""
    budget = StepBudget(N_BATCH)
    budget.speed = speed
    for _ in range(2):  # the second one begins with what was learned at the end of the first
        pos, steps = 0, []
        for _ in range(10):
            budget.learn(3, 0, measured(0, 0))
        while pos < 1024:
            chunk = min(budget.prompt_rows(3), 1024 - pos)
            steps.append(measured(chunk, pos))
            budget.learn(3, chunk, steps[-1])
            pos += chunk
    assert max(steps) <= stretch * measured(0, 0)
    assert sum(steps) / 1000 <= seconds


def test_a_disturbed_step_of_answers_does_not_change_the_chunks_either():
    budget = StepBudget(N_BATCH)
    before = settled(budget, two_cores, num_decoding=4, num_steps=20)[-1]
    budget.learn(4, 0, 10 * two_cores(4))
    assert budget.prompt_rows(4) == before


def test_one_disturbed_step_does_not_change_the_chunks_after_it():
    budget = StepBudget(N_BATCH)
    before = settled(budget, two_cores, num_decoding=4, num_steps=20)[-1]
    budget.learn(4, before, 10 * two_cores(4 + before))
    assert budget.prompt_rows(4) == before


def test_answers_are_computed_alone_now_and_then_so_that_the_limit_is_of_today():
    """The whole machine becomes slower, or the answers longer: the prompt gets as large a part as before."""
    budget = StepBudget(N_BATCH)
    budget.speed = Speed.BALANCED
    before = settled(budget, two_cores, num_decoding=3)
    assert before.count(0) == pytest.approx(len(before) / STEPS_BETWEEN_LOOKS, abs=1)
    steps = []
    for _ in range(8 * STEPS_BETWEEN_LOOKS):
        steps.append(budget.prompt_rows(3))
        budget.learn(3, steps[-1], 2 * two_cores(3 + steps[-1]))
    assert 0 < steps[STEPS_BETWEEN_LOOKS - 2] < 0.6 * before[-1]
    assert steps[-2] == pytest.approx(before[-1], rel=0.1)


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
    assert set(chunks[1:]) == {0, MIN_CHUNK}


def test_rows_of_answers_and_prompts_fit_the_batch_together():
    budget = StepBudget(n_batch=8)
    assert budget.prompt_rows(num_decoding=8) == 0
    assert budget.prompt_rows(num_decoding=5) <= 3
    budget.speed = Speed.THROUGHPUT
    assert budget.prompt_rows(num_decoding=5) == 3


def test_a_target_below_what_anybody_notices_is_not_aimed_at():
    """A tiny model: steps of 1 ms could be 20 ms long without a stutter."""
    budget = StepBudget(N_BATCH)

    def tiny(num_rows: int) -> float:
        return 0.5 + 0.05 * num_rows

    chunk = settled(budget, tiny, num_decoding=4)[-1]
    assert math.isclose(tiny(4 + chunk), 20.0, rel_tol=0.4)


def test_before_anything_is_measured_the_chunk_is_small():
    assert StepBudget(N_BATCH).prompt_rows(num_decoding=3) == FIRST_CHUNK


def test_a_chunk_grows_step_by_step():
    """One step that took no time at all does not let the next one take the whole batch."""
    budget = StepBudget(N_BATCH)
    budget.learn(3, 0, 40.0)
    budget.learn(3, FIRST_CHUNK, 40.1)
    assert budget.prompt_rows(3) == FIRST_CHUNK + GROWTH_ROWS  # of 509 that would fit


@pytest.mark.parametrize("speed", [Speed.RESPONSIVE, Speed.BALANCED])
def test_a_step_of_a_picture_and_the_answers_behind_it_keep_to_the_limit_while_those_get_slower(speed):
    budget = StepBudget(512)
    budget.speed = speed
    answers_ms, num_steps = 30.0, 60
    for _ in range(5):
        budget.learn(3, 0, answers_ms)
    for number in range(num_steps):
        num_rows = budget.media_rows(3, begins=number == 0)
        picture_ms = 28.0 + 1.2 * num_rows  # all weights are read for the first row
        later_ms = answers_ms * (1 + 0.2 * number / num_steps)  # its rows are in the answers' way
        budget.learn_media(3, num_rows, picture_ms)
        budget.learn(3, 0, later_ms)
        assert picture_ms + later_ms <= 1.05 * STRETCH[speed] * answers_ms
    assert picture_ms + later_ms > 0.85 * STRETCH[speed] * answers_ms


@pytest.mark.parametrize("num_others", [0, 3])
def test_what_large_steps_of_pictures_cost_says_nothing_about_small_ones(num_others):
    """A step of 14 rows takes far more than 14 of 512 parts of a step of 512 rows."""
    budget = StepBudget(N_BATCH)
    for _ in range(5):
        budget.learn(3, 0, measured(0, 0))
    budget.speed = Speed.THROUGHPUT
    budget.learn_media(num_others, N_BATCH, 512 * 2.9)
    budget.speed = Speed.RESPONSIVE
    assert budget.media_rows(3, begins=True) == FIRST_CHUNK


def test_a_picture_keeps_to_the_limit_from_its_first_rows_on_whatever_was_before():
    """The one before has ended with dear rows, or with few left, and was computed alone in between."""
    budget = StepBudget(N_BATCH)
    for _ in range(5):
        budget.learn(3, 0, measured(0, 0))
    for num_rows in (700, 701, 702, 1024):
        budget.learn_media(0, N_BATCH, 512 * 2.9)
        done, sizes = 0, []
        while done < num_rows:
            chunk = min(budget.media_rows(3, begins=not done), num_rows - done)
            # A decode of its own reads all weights again, and makes no logits.
            took_ms = measured(max(chunk - 3, 0), done)
            sizes.append((chunk, took_ms))
            budget.learn_media(3, chunk, took_ms)
            budget.learn(3, 0, measured(0, 0))
            done += chunk
        assert max(took_ms for _, took_ms in sizes) + measured(0, 0) <= 3.0 * measured(0, 0)
        assert sizes[2][0] >= 7  # none of the time is given away


def test_a_picture_that_came_before_any_step_of_answers_alone_learns_its_limit_from_the_next_one():
    budget = StepBudget(512)
    assert budget.media_rows(3, begins=True) == FIRST_CHUNK
    budget.learn_media(3, FIRST_CHUNK, 40.0)
    budget.learn(3, 0, 40.0)
    assert budget.media_rows(3) > FIRST_CHUNK


def test_a_picture_alone_takes_all_rows_that_are_computed_at_once():
    assert StepBudget(512, 256).media_rows(0) == 256


def test_few_rows_of_a_picture_promise_little_of_more():
    """Where each row costs the same, twelve take three times as long as four."""
    row_ms, answers_ms = 17.0, 87.0  # AVX2, two threads, 0.6B
    budget = StepBudget(512)
    for _ in range(5):
        budget.learn(3, 0, answers_ms)
    num_rows = 4
    for _ in range(20):
        took_ms = row_ms * num_rows
        assert took_ms + answers_ms <= 1.05 * STRETCH[Speed.RESPONSIVE] * answers_ms
        budget.learn_media(3, num_rows, took_ms)
        num_rows = budget.media_rows(3)


def test_a_prompt_for_which_another_engine_waits_is_computed_in_short_steps() -> None:
    budget = StepBudget(512)
    assert budget.prompt_rows(0) > ROWS_WAITED_FOR
    budget.is_waited_for = True
    assert budget.prompt_rows(0) == ROWS_WAITED_FOR, "nothing was measured yet"
    budget.learn(0, 8, step_ms=16.0)
    assert budget.prompt_rows(0) == AHEAD_MS / 2.0
    budget.speed = Speed.THROUGHPUT
    assert budget.prompt_rows(0) > AHEAD_MS
