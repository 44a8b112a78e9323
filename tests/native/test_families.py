"""Models whose memory is not plain attention: never a wrong word, at worst a prompt computed again."""

import pytest

from app.engine.engine import Engine
from app.engine.llama_backend import open_llama_backend
from app.engine.types import FinishReason, LoadParams
from tests.driver import ask, next_turn, request, run

pytestmark = pytest.mark.native

FAMILIES = ["llama", "qwen3", "gemma3", "lfm2", "mamba", "qwen2vl"]
TEXTS = ["first chat", "second chat, which is longer than the window of the sliding one", "third"]


@pytest.fixture(params=FAMILIES)
def engine(request, tiny_gguf):
    params = LoadParams(tiny_gguf(request.param), n_ctx=1024, n_seq_max=4, n_batch=64, n_threads=1)
    with open_llama_backend(params) as backend:
        engine = Engine(backend)
        yield engine
        engine.close()


def test_together_as_alone(engine):
    alone = [ask(engine, request(text, keep_cells=False)).text for text in TEXTS]
    asked = [request(text, keep_cells=False) for text in TEXTS]
    result = run(engine, *asked)
    assert [result.answers[one.request_id].text for one in asked] == alone


def test_the_next_turn_of_an_idle_chat_is_right_after_others_have_talked(engine):
    """Another tab's rows may take the idle one's window cells; the answer must not show it."""
    first = request("what is first?")
    answer = ask(engine, first)
    run(engine, *[request(text, max_tokens=30) for text in TEXTS])
    warm = ask(engine, next_turn(first, answer.text, "and then?"))
    engine.forget(first.chat_id)
    fresh = ask(engine, next_turn(first, answer.text, "and then?"))
    assert warm.text == fresh.text


def test_an_edited_message_is_answered_as_if_it_had_always_been_so(engine):
    chat = request("one two three four five")
    ask(engine, chat)
    edited = ask(engine, request("one two three FOUR five", chat.chat_id))
    engine.forget(chat.chat_id)
    assert ask(engine, request("one two three FOUR five")).text == edited.text


def test_an_interrupted_step_is_made_good(engine):
    """As after code 2: what the library kept is used where the model can, else computed again."""
    expected = ask(engine, request("tell me something", keep_cells=False, max_tokens=30)).text
    one = request("tell me something", keep_cells=False, max_tokens=30)
    engine.add_request(one)
    engine.step()
    engine._batch.clear()
    engine._scheduler.schedule(engine._batch)
    engine._backend.decode(engine._batch)  # computed, but nobody was told
    engine._resync()
    result = run(engine)
    begun = expected[: len(expected) - len(result.answers[one.request_id].text)]
    assert begun + result.answers[one.request_id].text == expected


def test_no_cells_are_left_after_many_requests(engine):
    for _ in range(30):
        answer = ask(engine, request("again and again", keep_cells=False, max_tokens=4))
        assert answer.finish_reason is not FinishReason.ERROR
    assert [slot.pos_max for slot in engine.slots.snapshots()] == [-1] * 4
