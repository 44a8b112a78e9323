from collections.abc import Iterator
from typing import Any

import pytest

from app.engine.engine import Engine


@pytest.fixture
def engine(backend: Any) -> Iterator[Engine]:
    """On the fake and on llama.cpp. Its books are compared with the cells in each step."""
    engine = Engine(backend, verify=True)
    yield engine
    engine.close()
