from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import tiny_ggufs


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Without a chat template each gets our own, which is the same, and needs no process to render it."""
    return tiny_ggufs(tmp_path_factory.mktemp("ggufs"), chat_template=None)
