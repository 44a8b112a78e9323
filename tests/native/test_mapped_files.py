"""A model file that is cut short while it is open ends the engine with a sentence, never the process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.engine.llama.loading import open_llama_backend
from app.engine.llama.mapped_files import MappedFiles
from app.protocol.errors import EngineError
from app.protocol.load import LoadParams
from tests.driver import rows

pytestmark = [pytest.mark.native, pytest.mark.skipif(os.name != "posix", reason="the system forbids it")]

ROOT = Path(__file__).parents[2]


@pytest.fixture
def gguf(tmp_path: Path, tiny_gguf: Callable[[str], Path]) -> Path:
    """To be damaged."""
    return Path(shutil.copy(tiny_gguf("qwen3"), tmp_path / "model.gguf"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a file be held")
@pytest.mark.parametrize("num_steps", range(1, 9))
def test_a_file_cut_short_in_the_middle_of_a_step_is_whole_until_its_end(gguf: Path, num_steps: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.native.answering", str(gguf)], cwd=ROOT, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout
        for _ in range(num_steps):
            child.stdout.readline()
        os.truncate(gguf, 4096)
        last_words = child.stdout.read().decode()
    assert child.returncode == 0
    assert last_words.endswith("model.gguf was changed on disk while it was open.")


def test_a_file_cut_short_between_two_steps_is_not_computed_with(gguf: Path) -> None:
    with open_llama_backend(LoadParams(gguf, n_ctx=256, n_seq_max=1, n_threads=1)) as backend:
        backend.decode(rows(backend, (0, 0, [5])))
        with gguf.open("r+b") as file:  # also by one who may write to it already
            file.truncate(4096)
            with pytest.raises(EngineError, match="was changed on disk"):
                backend.decode(rows(backend, (0, 1, [5])))
            with pytest.raises(EngineError, match="was changed on disk"):
                backend.refusal_of(0, 1, [5])


def test_a_file_that_somebody_has_open_to_write_answers_all_the_same(gguf: Path) -> None:
    """Such as a program that shares it with others."""
    with open_llama_backend(LoadParams(gguf, n_ctx=256, n_seq_max=1, n_threads=1)) as backend:
        with gguf.open("r+b"):
            for position in range(3):
                backend.decode(rows(backend, (0, position, [5])))
        backend.decode(rows(backend, (0, 3, [5])))


def test_each_part_of_a_split_model_is_looked_at(tmp_path: Path) -> None:
    parts = [tmp_path / f"model-0000{number}-of-00002.gguf" for number in (1, 2)]
    for part in parts:
        part.write_bytes(b"GGUF")
    with MappedFiles(parts[0]) as files:
        files.hold()
        files.let_go()
        parts[1].write_bytes(b"G")
        with pytest.raises(EngineError, match=r"model-00002-of-00002\.gguf was changed"):
            files.hold()


def test_a_file_that_is_replaced_by_another_is_still_open(gguf: Path) -> None:
    with open_llama_backend(LoadParams(gguf, n_ctx=256, n_seq_max=1, n_threads=1)) as backend:
        other = gguf.with_suffix(".new")
        other.write_bytes(b"GGUF")
        other.replace(gguf)
        backend.decode(rows(backend, (0, 0, [5])))


def test_weights_that_are_in_memory_need_no_file(gguf: Path) -> None:
    params = LoadParams(gguf, n_ctx=256, n_seq_max=1, n_threads=1, use_mmap=False)
    with open_llama_backend(params) as backend:
        os.truncate(gguf, 0)
        backend.decode(rows(backend, (0, 0, [5])))
