"""Vectors and ranks from a child process, on tiny BERTs: what it computes, refuses, and survives."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from app.engine.children import text_models
from app.engine.children.text_models import TextModels
from app.engine.embedding import TextTokenizer
from app.engine.llama.embedder import open_llama_embedder
from app.protocol.errors import EngineError
from app.protocol.load import LoadParams
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.native

TEXTS = ["one", "two and more", "three"]
LONG = "word " * 3000


@pytest.fixture(scope="module")
def models() -> Iterator[TextModels]:
    models = TextModels()
    yield models
    models.close()


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("bert") / "bert.gguf", "bert", n_ctx_train=128)


def children() -> set[int]:
    """Not those that have ended, and are about to be reaped."""
    found = set()
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "app.engine.children.text_child" in one.cmdline():
                found.add(one.pid)
    return found


def test_vectors_are_those_of_the_model_and_of_length_one(models, bert):
    found = models.embed(bert, [*TEXTS, LONG, ""])
    with open_llama_embedder(LoadParams(bert, n_threads=1, embeds=True)) as embedder:
        tokens = TextTokenizer(embedder).whole((TEXTS[1],))
        (wanted,) = embedder.embed([tokens])
    assert found.shape == (5, embedder.model.n_embd)
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 1, 1, 0], atol=1e-5)  # nothing is in an empty text
    np.testing.assert_allclose(found[1], wanted[0] / np.linalg.norm(wanted), atol=2e-5)


def test_a_reranker_ranks_also_what_is_too_long_and_makes_no_vectors(models, tiny_gguf):
    ranker = tiny_gguf("bert-ranker")
    scores = models.rank(ranker, "What? " + LONG, [*TEXTS, LONG])
    assert scores.shape == (4,)
    assert len(set(scores.tolist())) == 4
    with pytest.raises(EngineError, match="is a reranker"):
        models.embed(ranker, ["text"])


def test_a_bad_file_costs_its_own_question_only(models, bert, tmp_path):
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(bert.read_bytes()[:5000])
    with pytest.raises(EngineError, match=r"damaged|load"):
        models.embed(damaged, ["text"])
    with pytest.raises(EngineError, match="not a reranker"):
        models.rank(bert, "What?", ["text"])
    [child] = children()
    os.kill(child, signal.SIGKILL)
    with suppress(EngineError):  # a question may be on its way before its end is seen
        models.embed(bert, ["text"])
    assert models.embed(bert, ["text"]).shape[0] == 1, "it is started again"


def wait_for_end(pid: int) -> None:
    """Its owner may have reaped it already."""
    with suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(30)


class Clock:
    """Another's processor time: goes on by `step_s` at each look; at the fifth look its process goes on."""

    def __init__(self, pid: int, step_s: float) -> None:
        self.pid, self.step_s, self.num_looks = pid, step_s, 0

    def cpu_times(self) -> SimpleNamespace:
        self.num_looks += 1
        if self.num_looks == 5:
            os.kill(self.pid, signal.SIGCONT)
        return SimpleNamespace(user=self.num_looks * self.step_s, system=0.0)


@pytest.mark.parametrize(("step_s", "is_killed"), [(1.0, False), (0.0, True), (1000.0, True)])
def test_a_child_that_others_keep_waiting_is_given_time(models, bert, monkeypatch, step_s, is_killed):
    models.embed(bert, ["text"])
    [child] = children()
    os.kill(child, signal.SIGSTOP)
    os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOWAIT)  # until all its threads have stopped
    clock = Clock(child, step_s)
    monkeypatch.setattr(text_models, "STUCK_S", 0.01)
    monkeypatch.setattr(psutil, "Process", lambda _pid: clock)
    if is_killed:
        with pytest.raises(EngineError, match="Its process"):
            models.embed(bert, ["text"])
    else:
        assert models.embed(bert, ["text"]).shape[0] == 1
    assert clock.num_looks >= 2


def test_it_ends_when_idle_and_starts_again(bert):
    before = children()
    models = TextModels(idle_s=0.2)
    models.embed(bert, ["text"])
    [child] = children() - before
    wait_for_end(child)
    models.close()
    with pytest.raises(EngineError):
        models.embed(bert, ["text"])
