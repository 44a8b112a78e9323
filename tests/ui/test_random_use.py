from pathlib import Path

import pytest

from tests.effort import EFFORT
from tests.ui.random_use import use

NUM_RUNS = 4 * EFFORT  # `python -m tests.ui.random_use 1000` does more


@pytest.mark.parametrize("seed", range(NUM_RUNS))
async def test_whatever_is_done_in_whatever_order_nothing_fails_and_no_answer_stays_open(
    qloop: object, tmp_path: Path, seed: int
) -> None:
    assert await use(seed, tmp_path) == []
