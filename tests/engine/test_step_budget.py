from app.engine.step_budget import FIRST_CHUNK, MIN_CHUNK, TARGET_STEP_MS, StepBudget

N_BATCH = 512


def test_with_nobody_talking_a_prompt_gets_the_whole_batch():
    assert StepBudget(N_BATCH).num_prompt_tokens(num_decoding=0) == N_BATCH


def test_before_anything_is_measured_the_chunk_is_small():
    assert StepBudget(N_BATCH).num_prompt_tokens(num_decoding=3) == FIRST_CHUNK


def test_the_chunk_fills_the_step_up_to_its_target():
    budget = StepBudget(N_BATCH)
    budget.learn(num_prompt_tokens=0, step_ms=40.0)
    budget.learn(num_prompt_tokens=100, step_ms=40.0 + 100 * 2.0)
    assert budget.num_prompt_tokens(num_decoding=3) == int((TARGET_STEP_MS - 40.0) / 2.0)


def test_a_slow_machine_still_moves_on_with_prompts():
    budget = StepBudget(N_BATCH)
    budget.learn(num_prompt_tokens=0, step_ms=400.0)
    budget.learn(num_prompt_tokens=32, step_ms=4000.0)
    assert budget.num_prompt_tokens(num_decoding=1) == MIN_CHUNK


def test_rows_of_answers_and_prompts_fit_the_batch_together():
    budget = StepBudget(n_batch=8)
    assert budget.num_prompt_tokens(num_decoding=8) == 0
    assert budget.num_prompt_tokens(num_decoding=5) == 3
