"""What another program on the machine does to the times must not make the self-test fail."""

import pytest

from app.selftest.bench import CheckFailedError
from app.selftest.checks import _compared_times


def test_times_that_grow_each_time_are_found():
    with pytest.raises(CheckFailedError, match="grew: 10 ms, then 90 ms"):
        _compared_times(lambda: ([0.01] * 5, [0.09] * 5), "grew")


def test_a_slow_while_is_no_growth():
    noisy = iter([([0.01] * 5, [0.2] * 5), ([0.01] * 5, [0.3] * 5), ([0.01] * 5, [0.3] * 4 + [0.02])])
    assert _compared_times(lambda: next(noisy), "grew") == ([0.01] * 5, [0.3] * 4 + [0.02])
