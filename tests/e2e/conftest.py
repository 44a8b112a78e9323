from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, new_desktop
from tests.e2e.skein import Skein

MAX_TOKENS = 300  # more than enough to count from 12 to 70


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    with new_desktop() as desktop:
        yield desktop


@pytest.fixture
def skein(tmp_path: Path, desktop: Desktop) -> Iterator[Skein]:
    """A Skein nobody has used yet. Its answers can be foretold, and have an end."""
    skein = Skein(tmp_path / "home", desktop)
    skein.configure(temperature=0.0, max_tokens=MAX_TOKENS)
    yield skein
    skein.clean_up()
