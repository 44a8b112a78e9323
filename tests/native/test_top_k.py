"""The k highest of a vocabulary, which llama.cpp finds without a list of all: the same as with one."""

from __future__ import annotations

import llama_cpp as lib
import numpy as np
import pytest

from app.engine.llama.loading import open_llama_backend
from app.engine.llama.logits import Candidates
from app.protocol.load import LoadParams
from tests.driver import rows
from tests.native.tiny_ggufs import Shape, write_tiny_gguf

pytestmark = pytest.mark.native

N_VOCAB = 20_100  # not a multiple of anything
CHOICES = 30


@pytest.fixture(scope="module")
def backend(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "large.gguf"
    write_tiny_gguf(path, "qwen3", shape=Shape(n_vocab=N_VOCAB))
    with open_llama_backend(LoadParams(path, n_ctx=64, n_seq_max=1, n_threads=1)) as backend:
        yield backend


def chain(*samplers: object) -> object:
    pointer = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    for sampler in samplers:
        lib.llama_sampler_chain_add(pointer, sampler)
    return pointer


def top_k(k: int) -> object:
    return chain(lib.llama_sampler_init_top_k(k), lib.llama_sampler_init_dist(7))


def greedy(_k: int) -> object:
    return chain(lib.llama_sampler_init_greedy())


def logits_of(backend, pos: int) -> np.ndarray:
    backend.truncate(0, pos)
    backend.decode(rows(backend, (0, pos, [3])))
    return backend.logits[0]


def sampled(backend, sampler: object) -> int:
    return lib.llama_sampler_sample(sampler, backend._context.pointer, 0)


def sampled_from_all(sampler: object, logits: np.ndarray) -> int:
    candidates = Candidates(logits.size)
    candidates.fill(logits)
    candidates.apply(sampler)
    return candidates.selected


def shuffled(random: np.random.Generator) -> np.ndarray:
    """No two are equal."""
    return random.permutation(N_VOCAB) / 2000


@pytest.mark.parametrize(
    ("make", "k"), [(greedy, 1), *((top_k, k) for k in (1, 2, 40, 78, 79, 500, N_VOCAB, N_VOCAB + 1))]
)
def test_the_same_tokens_are_chosen_as_from_all(backend, make, k):
    random = np.random.default_rng(k)
    ours, reference = make(k), make(k)
    for pos in range(CHOICES):
        logits = logits_of(backend, pos)
        logits[:] = shuffled(random)
        if pos % 2:
            logits[random.permutation(N_VOCAB)[:8000]] = -np.inf
        chosen = sampled(backend, ours)
        assert chosen == sampled_from_all(reference, logits)
        assert logits[chosen] >= np.sort(logits)[-min(k, N_VOCAB)]
    for sampler in (ours, reference):
        lib.llama_sampler_free(sampler)


@pytest.mark.parametrize("num_numbers", [N_VOCAB - 3, 41, 20, 0])
def test_where_some_logits_are_no_numbers_a_token_is_chosen_all_the_same(backend, num_numbers):
    """`LlamaBackend` refuses such rows as far as it reads them; the library must not end the process."""
    random = np.random.default_rng(num_numbers)
    sampler = top_k(40)
    for pos in range(CHOICES):
        logits = logits_of(backend, pos)
        logits[:] = shuffled(random)
        logits[random.permutation(N_VOCAB)[num_numbers:]] = np.nan
        assert 0 <= sampled(backend, sampler) < N_VOCAB
    lib.llama_sampler_free(sampler)
