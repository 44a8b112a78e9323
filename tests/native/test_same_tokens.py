"""The next turn computes what is new, whatever tokens the model has written its answers in.

At a high temperature the starter model writes texts that its tokenizer would cut otherwise, as real models
do in Chinese, emoji and code.
"""

from dataclasses import replace

import pytest

from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from app.protocol.sampling import SamplingParams
from app.system import paths
from tests.driver import Answer, ask, next_turn, request

pytestmark = pytest.mark.native

WILD = SamplingParams(temperature=3.0, top_k=0, top_p=1.0, min_p=0.0)


@pytest.fixture(scope="module")
def engine():
    with open_llama_backend(
        LoadParams(paths.starter_model(), n_ctx=2048, n_seq_max=2, n_threads=1)
    ) as backend:
        engine = Engine(backend, verify=True)
        yield engine
        engine.close()


def wild(engine: Engine, one, seed: int, num_tokens: int = 40) -> Answer:
    return ask(engine, replace(one, sampling=replace(WILD, seed=seed), max_tokens=num_tokens))


def test_the_next_turn_finds_the_cells_of_the_answer(engine) -> None:
    num_cut_otherwise = 0
    for seed in range(8):
        first = request("Write.")
        answer = wild(engine, first, seed)
        num_cut_otherwise += engine.prompts.tokenize(answer.text) != list(answer.token_ids)
        second = wild(engine, next_turn(first, answer.text, "And now?"), seed)
        # No cell was computed for the last token.
        held = answer.usage.num_prompt_tokens + len(answer.token_ids) - 1
        assert second.usage.num_cached_tokens >= held
    assert num_cut_otherwise


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_that_was_cut_anywhere_goes_on_from_its_cells(engine, seed) -> None:
    first = request("Write.")
    answer = wild(engine, first, seed, num_tokens=7 + seed)
    rest = wild(engine, replace(first, request_id="rest", answer_start=answer.text), seed)
    assert rest.usage.num_cached_tokens >= answer.usage.num_prompt_tokens + len(answer.token_ids) - 1
