from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import tiny_ggufs
from tests.native.random_engine import Models


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Without a chat template each gets our own, which is the same, and needs no process to render it."""
    return tiny_ggufs(tmp_path_factory.mktemp("ggufs"), chat_template=None)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    """Of all families, without a chat template. Each is written when it is first asked for."""
    return Models(tmp_path_factory.mktemp("models"))
