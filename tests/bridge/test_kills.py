"""50 kills, and half a second instead of two: `python -m tests.benchmarks durability`."""

from pathlib import Path

import pytest

from tests.bridge.kills import kill_after


@pytest.mark.parametrize("after_s", [0.1, 0.7, 1.3])
def test_a_kill_loses_no_message_no_ended_answer_and_nothing_seen_a_while_before(
    tmp_path: Path, after_s: float
) -> None:
    path = tmp_path / "skein" / "chats.db"
    # A busy machine may hold the child up for a second.
    outcome = kill_after(after_s, path, num_tabs=8, tokens_per_s=200, window_s=2)
    assert outcome.problems == []
    assert outcome.num_asked >= 8
    assert outcome.num_shown > 0
