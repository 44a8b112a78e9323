"""The list of slow tests."""

import tomllib
from pathlib import Path

from tests.conftest import SLOW_TESTS

ROOT = Path(__file__).parents[1]


def test_each_that_is_listed_is_there_and_has_a_reason() -> None:
    for name, reason in tomllib.loads(SLOW_TESTS.read_text()).items():
        file, _, test = name.partition("::")
        assert f"def {test.rpartition('::')[2]}(" in (ROOT / file).read_text(encoding="utf-8")
        assert reason
