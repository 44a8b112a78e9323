from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the chats are, in a folder that is not there yet."""
    return tmp_path / "skein" / "chats.db"
