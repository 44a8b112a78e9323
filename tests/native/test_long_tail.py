"""A good model in a file that is far longer than it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.engine.children.probe import open_probed_backend
from app.engine.llama.weights import MAX_TAIL_BYTES, has_long_tail
from app.protocol.load import LoadParams
from tests.driver import rows

pytestmark = pytest.mark.native

TAIL_BYTES = 60 << 30  # of no blocks on the disk, but mapped they would fill the memory


@pytest.fixture
def gguf(tmp_path: Path, tiny_gguf: Callable[[str], Path]) -> Path:
    return Path(shutil.copy(tiny_gguf("qwen3"), tmp_path / "model.gguf"))


def test_it_is_tried_loaded_and_answers_as_without_the_tail(gguf: Path) -> None:
    os.truncate(gguf, gguf.stat().st_size + TAIL_BYTES)
    with open_probed_backend(LoadParams(gguf, n_ctx=256, n_seq_max=1, n_threads=1)) as backend:
        backend.decode(rows(backend, (0, 0, [5])))
        assert backend.logits[0].any()


@pytest.mark.parametrize(
    ("num_bytes", "is_long"), [(0, False), (MAX_TAIL_BYTES, False), (MAX_TAIL_BYTES + 1, True)]
)
def test_it_begins_where_the_weights_end(gguf: Path, num_bytes: int, is_long: bool) -> None:
    os.truncate(gguf, gguf.stat().st_size + num_bytes)
    assert has_long_tail(gguf) == is_long


def test_what_is_no_model_has_no_tail(tmp_path: Path) -> None:
    path = tmp_path / "zeros.gguf"
    path.touch()
    os.truncate(path, TAIL_BYTES)
    assert not has_long_tail(path)
