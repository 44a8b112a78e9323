"""With a sliding window the library drops cells while it plans a decode: none that the decode still needs."""

import random

import pytest

from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from tests.driver import rows
from tests.effort import EFFORT
from tests.native.oracle import compare
from tests.native.random_engine import WINDOW

pytestmark = pytest.mark.native

NUM_STEPS = 60


@pytest.mark.parametrize("is_isolated", [False, True], ids=["unified", "isolated"])
@pytest.mark.parametrize("family", ["gemma3", "gemma4", "gpt-oss", WINDOW])
def test_rows_of_any_batch_see_all_of_their_window(models, family, is_isolated):
    """Cells that a chat leaves are holes, so the next rows do not lie in the order of their positions."""
    wrong = [number for seed in range(EFFORT) for number in wrong_rows(seed, models, family, is_isolated)]
    assert wrong == []


def wrong_rows(seed, models, family, is_isolated):
    rng = random.Random(seed)
    n_ctx = 4096 if is_isolated else 1024
    params = LoadParams(
        models.path_of(family),
        n_ctx=n_ctx,
        n_seq_max=4,
        n_batch=160,
        n_ubatch=64,
        n_threads=1,
        isolated=is_isolated,
    )
    held = [[] for _ in range(4)]
    sampled = {}
    with open_llama_backend(params) as backend:
        for _ in range(NUM_STEPS):
            if rng.random() < 0.15:
                closed = rng.randrange(4)
                backend.truncate(closed, 0)
                held[closed].clear()
            spans = random_spans(rng, backend.model, held)
            if not spans:
                continue
            batch = rows(backend, *spans)
            backend.decode(batch)
            for span, (seq_id, _, token_ids) in zip(batch.spans, spans, strict=True):
                held[seq_id] += token_ids
                sampled[tuple(held[seq_id])] = [backend.logits[span.last_row].copy()]
    compared = compare(sampled, params)
    assert compared.num_rows > NUM_STEPS
    return compared.wrong


def random_spans(rng, model, held):
    spans, num_rows, has_prompt = [], 0, False
    for seq_id, token_ids in enumerate(held):
        number = rng.choice([0, 1, rng.randint(1, 20), rng.randint(1, 100)])
        if has_prompt and model.takes_one_prompt_a_step:
            number = min(number, 1)
        room = model.n_ctx - sum(map(len, held)) - num_rows
        number = min(number, model.n_batch - num_rows, model.n_ctx_seq - len(token_ids), room)
        if number:
            spans.append((seq_id, len(token_ids), [rng.randrange(256) for _ in range(number)]))
            num_rows += number
            has_prompt = has_prompt or number > 1
    return spans
