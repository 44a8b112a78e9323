"""The thread of the lens: who is answered, and that the engine's steps are the same beside it."""

import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from app.engine.lens import LensThread, answers_to
from app.engine.llama.attention import LensCells, alibi_slopes, attention_weights
from app.protocol.errors import LensInterruptedError, LensRefusedError
from app.protocol.lens import (
    Attention,
    LayerWords,
    LeaveOut,
    LensAnswer,
    LensRefusal,
    ReadAttention,
    ReadLayers,
    Scores,
    StopLens,
)

TOKENS = tuple(range(100, 120))


class CountingLens:
    """A token is as likely as the number of tokens before it says; `works_until` holds it up."""

    def __init__(self, works_until: threading.Event | None = None) -> None:
        self.num_computed_tokens = 0
        self.token_ids: tuple[int, ...] = ()
        self.is_closed = False
        self.asked: list[tuple[int, ...]] = []
        self.has_begun = threading.Event()
        self._go_on = works_until
        self._is_interrupted = threading.Event()

    def interrupt(self) -> None:
        self._is_interrupted.set()
        if self._go_on:
            self._go_on.set()

    def resume(self) -> None:
        self._is_interrupted.clear()

    def close(self) -> None:
        self.is_closed = True

    def attention(self, token_ids, part, saved=None):
        self.has_begun.set()
        if self._go_on:
            self._go_on.wait(10)
        if self._is_interrupted.is_set():
            raise LensInterruptedError
        self.num_computed_tokens += len(token_ids)
        return np.full((2, 1, part[1]), 1 / part[1], np.float32), (0, 1)

    def logprobs(self, token_ids: Sequence[int], first: int, saved=None) -> tuple[float, ...]:
        self.asked.append(tuple(token_ids))
        return tuple(float(-number) for number in range(first, len(token_ids)))

    def layer_logits(self, token_ids, saved=None):
        raise LensRefusedError("No layers here.")


@pytest.fixture
def thread() -> Callable[..., tuple[LensThread, list[LensAnswer], CountingLens]]:
    """Stopped at the end of the test."""
    threads: list[LensThread] = []

    def make(lens: CountingLens) -> tuple[LensThread, list[LensAnswer], CountingLens]:
        answers: list[LensAnswer] = []
        threads.append(LensThread(lens, answers.append))
        return threads[-1], answers, lens

    yield make
    for each in threads:
        each.stop()


def attention(query_id: str) -> ReadAttention:
    return ReadAttention(query_id, "chat", TOKENS, (15, 20))


def test_a_newer_question_of_a_kind_replaces_the_older_one(thread) -> None:
    gate = threading.Event()
    asked, answers, lens = thread(CountingLens(gate))
    asked.ask(attention("old"), lambda: None)
    lens.has_begun.wait(10)
    asked.ask(ReadLayers("layers", "chat", TOKENS), lambda: None)
    asked.ask(attention("new"), lambda: None)
    asked.ask(attention("newest"), lambda: None)
    asked.stop()
    told = {answer.query_id for answer in answers}
    assert "old" not in told
    assert "new" not in told
    assert lens.is_closed


def test_a_refusal_is_an_answer_and_one_that_is_stopped_has_none(thread) -> None:
    done = threading.Event()
    lens = CountingLens()
    answers: list[LensAnswer] = []

    def put(answer: LensAnswer) -> None:
        answers.append(answer)
        if answer.query_id == "last":
            done.set()

    asked = LensThread(lens, put)
    asked.end(StopLens("nobody asked"))
    asked.ask(ReadLayers("layers", "chat", TOKENS), lambda: None)
    asked.ask(attention("last"), lambda: None)
    assert done.wait(10)
    asked.stop()
    refusal, found = answers
    assert refusal == LensRefusal("layers", "No layers here.")
    assert isinstance(found, Attention)
    assert (found.layers, found.num_computed_tokens) == ((0, 1), 20)


def test_an_idle_lens_gives_its_context_back_and_answers_again(thread) -> None:
    class ClosedSoon(CountingLens):
        def __init__(self) -> None:
            super().__init__()
            self.was_closed = threading.Event()

        def close(self) -> None:
            self.was_closed.set()

    lens, done = ClosedSoon(), threading.Event()
    asked = LensThread(lens, lambda _answer: done.set(), idle_s=0.01)
    for query_id in ("first", "again"):
        done.clear()
        lens.was_closed.clear()
        asked.ask(attention(query_id), lambda: None)
        assert done.wait(10)
        assert lens.was_closed.wait(10)
    asked.stop()


def test_a_chat_with_pictures_is_refused() -> None:
    question = ReadAttention("q", "chat", (*TOKENS, -2), (15, 20))
    with pytest.raises(LensRefusedError, match="pictures"):
        next(answers_to(question, CountingLens(), None))


def test_what_stands_last_is_left_out_first() -> None:
    lens = CountingLens()
    question = LeaveOut("q", "chat", TOKENS, (15, 18), ((0, 4), (8, 10)))
    told = list(answers_to(question, lens, None))
    assert [one.left_out for one in told if isinstance(one, Scores)] == [None, (8, 10), (0, 4)]
    assert lens.asked == [TOKENS[:18], TOKENS[:8] + TOKENS[10:18], TOKENS[4:18]]
    assert [len(one.logprobs) for one in told if isinstance(one, Scores)] == [3, 3, 3]
    assert told[-1].is_last
    assert not told[0].is_last


def test_the_words_of_the_layers_are_probabilities() -> None:
    lens = CountingLens()
    lens.layer_logits = lambda token_ids, saved=None: np.log(
        np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]], np.float32)
    )
    (words,) = answers_to(ReadLayers("q", "chat", TOKENS), lens, None)
    assert isinstance(words, LayerWords)
    assert words.chosen_id == 2
    assert [(word.layer, word.likeliest[0][0]) for word in words.words] == [(0, 0), (1, 2)]
    assert [round(word.chosen_probability, 3) for word in words.words] == [0.1, 0.8]


# The weights themselves: beside llama.cpp in tests/native/test_lens.py.


def test_each_key_head_serves_a_group_and_a_sink_takes_a_share() -> None:
    queries, keys = np.zeros((4, 2, 8), np.float32), np.zeros((2, 3, 8), np.float32)
    mask = np.array([[0, 0, -np.inf], [0, 0, 0]], np.float32)
    weights = attention_weights(queries, keys, mask, scale=1.0)
    assert weights.shape == (4, 2, 3)
    assert np.allclose(weights[3], [[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    with_sink = attention_weights(queries, keys, mask, np.zeros(4, np.float32), scale=1.0)
    assert np.allclose(with_sink[0, 1], 1 / 4)


def test_slopes_of_alibi_are_those_of_the_paper() -> None:
    slopes = alibi_slopes(8, 8.0)
    assert slopes is not None
    assert np.allclose(slopes, [2.0**-n for n in range(1, 9)])
    assert alibi_slopes(8, 0.0) is None


def test_new_tokens_take_the_lowest_free_cells() -> None:
    cells = LensCells()
    cells.hold(np.array([0, 3, 1, 2, 4], np.int32))
    cells.truncate(2)
    cells.add(2, 4)
    assert cells.cells_of(6).tolist() == [0, 2, 1, 3, 4, 5]
    assert cells.in_order.tolist() == [0, 2, 1, 3, 4, 5]
    cells.truncate(3)
    assert cells.in_order.tolist() == [0, 2, 1]
