from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, new_desktop
from tests.e2e.skein import Skein


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    with new_desktop() as desktop:
        yield desktop


@pytest.fixture
def skein(tmp_path: Path, desktop: Desktop) -> Iterator[Skein]:
    """An unused Skein, as it is after the set-up."""
    skein = Skein(tmp_path / "home", desktop)
    yield skein
    skein.clean_up()
