"""What a row computes depends on its own sequence alone, whichever way llama.cpp's CPU code goes for it.

One row, rows of several sequences, few rows of one and many, in one step and on several threads.
"""

import numpy as np
import pytest

from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from tests.driver import rows
from tests.native.tiny_ggufs import Shape, write_tiny_gguf

pytestmark = pytest.mark.native

TALKING = {0: 40, 1: 130, 2: 200}  # seq_id: tokens it has
PROMPT, PROMPT_AT = 3, 90


@pytest.fixture(scope="module", params=["qwen3", "gemma3", "gpt-oss"])  # plain, sliding window, with sinks
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / f"{request.param}.gguf"
    write_tiny_gguf(path, request.param, shape=Shape(n_head=8, n_head_kv=4, head_dim=64))
    return path


@pytest.fixture(scope="module")
def backend(path):
    with open_llama_backend(LoadParams(path, n_ctx=1024, n_seq_max=4, n_batch=256, n_threads=2)) as backend:
        yield backend


@pytest.fixture(scope="module")
def alone(path):
    """`alone(token_ids)` are the logits after these tokens, each of them a step of its own on one thread.

    What has begun with them was computed before: ask for the longest first.
    """
    known: dict[tuple[int, ...], np.ndarray] = {}

    def logits(token_ids: list[int]) -> np.ndarray:
        if (*token_ids,) not in known:
            backend.truncate(0, 0)
            for pos, token_id in enumerate(token_ids):
                backend.decode(rows(backend, (0, pos, [token_id])))
                known[(*token_ids[: pos + 1],)] = backend.logits[0].copy()
        return known[(*token_ids,)]

    with open_llama_backend(LoadParams(path, n_ctx=512, n_seq_max=1, n_threads=1)) as backend:
        yield logits


def tokens(seq_id: int, num_tokens: int) -> list[int]:
    return [3 + (seq_id * 31 + i * 7) % 200 for i in range(num_tokens)]


def clear(backend) -> None:
    for seq_id in range(4):
        backend.truncate(seq_id, 0)


@pytest.mark.parametrize("num_rows", [150, 64, 13, 4, 1])
def test_answers_beside_rows_of_a_prompt_are_computed_as_alone(backend, alone, num_rows):
    expected = [alone(tokens(seq_id, held + 1)) for seq_id, held in TALKING.items()]
    expected.append(alone(tokens(PROMPT, PROMPT_AT + num_rows)))
    talking = [(seq_id, held, tokens(seq_id, held + 1)[-1:]) for seq_id, held in TALKING.items()]
    prompt = (PROMPT, PROMPT_AT, tokens(PROMPT, PROMPT_AT + num_rows)[PROMPT_AT:])
    for _ in range(3):
        clear(backend)
        for seq_id, held in (*TALKING.items(), (PROMPT, PROMPT_AT)):
            backend.decode(rows(backend, (seq_id, 0, tokens(seq_id, held))))
        backend.decode(rows(backend, *talking, prompt))
        for row, logits in zip((0, 1, 2, 2 + num_rows), expected, strict=True):
            np.testing.assert_allclose(backend.logits[row], logits, atol=0.02 * logits.std())


@pytest.mark.parametrize("num_rows", [1, 30])
def test_chats_whose_cells_lie_between_each_other_are_computed_as_alone(backend, alone, num_rows):
    """Three of them, with so many rows each in every step."""
    num_tokens = 150
    expected = [alone(tokens(seq_id, num_tokens)) for seq_id in TALKING]
    clear(backend)
    for pos in range(0, num_tokens, num_rows):
        spans = [(seq_id, pos, tokens(seq_id, pos + num_rows)[pos:]) for seq_id in TALKING]
        backend.decode(rows(backend, *spans))
    for index, logits in enumerate(expected):
        found = backend.logits[(index + 1) * num_rows - 1]
        np.testing.assert_allclose(found, logits, atol=0.02 * logits.std())


@pytest.mark.parametrize("path", ["qwen3"], indirect=True)  # the others share no cells
@pytest.mark.parametrize("num_rows", [40, 16, 4, 1])
def test_branches_of_one_chat_do_not_see_each_other_in_one_step(backend, alone, num_rows):
    """The first sees whole tiles of cells that are hidden from the others, and the other way round."""
    shared, own = 70, {0: 150, 1: 0, 2: 90}  # seq_id: tokens it has after those that it shares

    def branch(seq_id: int) -> list[int]:
        return tokens(3, shared) + tokens(seq_id, own[seq_id] + num_rows)

    expected = [alone(branch(seq_id)) for seq_id in own]
    clear(backend)
    backend.decode(rows(backend, (0, 0, tokens(3, shared))))
    for seq_id in (1, 2):
        backend.share_prefix(0, seq_id, shared)
    for seq_id, held in own.items():
        if held:
            backend.decode(rows(backend, (seq_id, shared, branch(seq_id)[shared : shared + held])))
    backend.decode(
        rows(
            backend,
            *((seq_id, shared + held, branch(seq_id)[shared + held :]) for seq_id, held in own.items()),
        )
    )
    for index, logits in enumerate(expected):
        found = backend.logits[(index + 1) * num_rows - 1]
        np.testing.assert_allclose(found, logits, atol=0.02 * logits.std())
