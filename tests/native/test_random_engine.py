"""Whatever happens to chats in between, each token is sampled from the logits of a run alone.

More of the same: `python -m tests.native.random_engine --seeds 5000`.
"""

import pytest

from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from tests.effort import EFFORT
from tests.native.oracle import ROWS_ALONE, compare, logits_alone
from tests.native.random_engine import random_run

pytestmark = pytest.mark.native

NUM_RUNS, RUNS_A_TEST = 40 * EFFORT, 2  # each family twice


@pytest.mark.parametrize("first", range(0, NUM_RUNS, RUNS_A_TEST))
def test_random_runs(models, first):
    for seed in range(first, first + RUNS_A_TEST):
        run = random_run(seed, models)
        assert run.compared.wrong == [], f"seed {seed}, {run.what}"


def test_random_runs_do_what_they_are_for(models):
    runs = [random_run(seed, models, "qwen3") for seed in range(10)]
    assert sum(run.compared.num_rows for run in runs) > 500
    assert sum(run.num_broken_off for run in runs) > 10
    assert sum(run.num_drafted for run in runs) > sum(run.num_kept for run in runs) > 50


@pytest.mark.parametrize("family", ["qwen3", "gemma3", "mamba2"])
def test_one_other_token_is_seen(models, family):
    """What a run alone has behind other tokens is wrong."""
    params = LoadParams(models.path_of(family), n_ctx=256, n_seq_max=ROWS_ALONE, n_threads=1)
    right, other = (*range(20),), (*range(10), 99, *range(11, 20))
    with open_llama_backend(params) as backend:
        sampled = {right: [next(logits_alone(backend, one, [20]))[1].copy() for one in (right, other)]}
    compared = compare(sampled, params)
    assert (compared.num_rows, len(compared.wrong)) == (2, 1)
