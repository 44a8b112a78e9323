"""After a start the real library goes on from what an earlier run has written, to the same words."""

from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.commands import KeepCells
from app.protocol.load import CellStore, LoadParams
from app.protocol.request import Message, Role
from app.system import paths
from tests.driver import Answer, ask, request

pytestmark = pytest.mark.native

QUESTION, NEXT = "What is a KV cache?", "What is 34 + 21?"
KEY = bytes(range(32))


def run(store: CellStore | None, text: str, *history: str, **params: object) -> Answer:
    """One run of the program: a model, one answer in the chat "ann", the end."""
    params = {"n_ctx": 1024, "n_seq_max": 2, "n_threads": 1} | params
    messages = tuple(
        Message(role, said) for role, said in zip((Role.USER, Role.ASSISTANT), history, strict=False)
    )
    with open_llama_backend(LoadParams(paths.starter_model(), **params)) as backend:  # type: ignore[arg-type]
        engine = Engine(backend, verify=True)
        engine.obey(KeepCells(store))
        engine.slots.hibernated.prefetch("ann")
        answer = ask(engine, request(text, "ann", history=messages, max_tokens=60, is_saved=True))
        engine.close()
    return answer


def test_only_what_is_new_is_computed_and_the_words_are_the_same(tmp_path: Path) -> None:
    store = CellStore(tmp_path, KEY)
    first = run(store, QUESTION)
    fresh = run(None, NEXT, QUESTION, first.text)
    again = run(store, NEXT, QUESTION, first.text)
    assert again.text == fresh.text
    usage, computed = again.usage, fresh.usage.num_computed_tokens
    num_old = first.usage.num_prompt_tokens + first.usage.num_generated_tokens
    assert usage.num_restored_tokens >= num_old - 2
    assert usage.num_computed_tokens == computed - usage.num_restored_tokens


def test_with_other_settings_all_is_computed_again(tmp_path: Path) -> None:
    store = CellStore(tmp_path, KEY)
    first = run(store, QUESTION)
    again = run(store, NEXT, QUESTION, first.text, isolated=True)
    assert again.usage.num_restored_tokens == 0
    assert again.text == run(None, NEXT, QUESTION, first.text, isolated=True).text
