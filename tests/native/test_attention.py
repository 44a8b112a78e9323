"""What a row computes depends on its own sequence alone, whichever way llama.cpp's CPU code goes for it.

One row, rows of several sequences, few rows of one and many, in one step and on several threads.
"""

import numpy as np
import pytest

from app.engine.llama.loading import open_llama_backend
from app.engine.types import LoadParams
from tests.driver import rows
from tests.native.tiny_ggufs import Shape, write_tiny_gguf

pytestmark = pytest.mark.native

TALKING = {0: 40, 1: 130, 2: 200}  # seq_id: tokens it has
PROMPT, PROMPT_AT = 3, 90


@pytest.fixture(scope="module", params=["qwen3", "gemma3", "gpt-oss"])  # plain, sliding window, with sinks
def backend(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / f"{request.param}.gguf"
    write_tiny_gguf(path, request.param, shape=Shape(n_head=8, n_head_kv=4, head_dim=64))
    with open_llama_backend(LoadParams(path, n_ctx=1024, n_seq_max=4, n_batch=256, n_threads=2)) as backend:
        yield backend


def tokens(seq_id: int, num_tokens: int) -> list[int]:
    return [3 + (seq_id * 31 + i * 7) % 200 for i in range(num_tokens)]


def clear(backend) -> None:
    for seq_id in range(4):
        backend.truncate(seq_id, 0)


def alone(backend, seq_id: int, num_tokens: int) -> np.ndarray:
    """The logits after so many tokens, each of them a step of its own."""
    clear(backend)
    for pos, token_id in enumerate(tokens(seq_id, num_tokens)):
        backend.decode(rows(backend, (seq_id, pos, [token_id])))
    return backend.logits(0).copy()


@pytest.mark.parametrize("num_rows", [1, 3, 4, 13, 16, 40, 64, 150])
def test_answers_beside_rows_of_a_prompt_are_computed_as_alone(backend, num_rows):
    expected = [alone(backend, seq_id, held + 1) for seq_id, held in TALKING.items()]
    expected.append(alone(backend, PROMPT, PROMPT_AT + num_rows))
    talking = [(seq_id, held, tokens(seq_id, held + 1)[-1:]) for seq_id, held in TALKING.items()]
    prompt = (PROMPT, PROMPT_AT, tokens(PROMPT, PROMPT_AT + num_rows)[PROMPT_AT:])
    for _ in range(3):
        clear(backend)
        for seq_id, held in (*TALKING.items(), (PROMPT, PROMPT_AT)):
            backend.decode(rows(backend, (seq_id, 0, tokens(seq_id, held))))
        backend.decode(rows(backend, *talking, prompt))
        for row, logits in zip((0, 1, 2, 2 + num_rows), expected, strict=True):
            np.testing.assert_allclose(backend.logits(row), logits, atol=0.02 * logits.std())
