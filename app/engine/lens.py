"""Answers questions about the inside of a model, on a thread of its own: see `engine/llama/lens.py`.

The engine's steps are the same with and without it: it only takes copies of states.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

import numpy as np

from app.engine.backend import Lens
from app.engine.cells.prefix import common_prefix
from app.engine.comparison import log_softmax
from app.protocol.errors import EngineError, LensInterruptedError, LensRefusedError, RequestError
from app.protocol.lens import (
    Attention,
    Floats,
    LayerWord,
    LayerWords,
    LeaveOut,
    LensAnswer,
    LensQuestion,
    LensRefusal,
    ReadAttention,
    ReadLayers,
    Scores,
    StopLens,
)
from app.protocol.media import is_media
from app.protocol.report import SavedState
from app.system.said import said

log = logging.getLogger(__name__)

NUM_LIKELIEST = 5  # told of each layer
IDLE_S = 60.0  # then its context is freed: it is as large as the chat's cells
MAX_COMPUTED = 256  # tokens: a copied state may take hundreds of megabytes


@dataclass(frozen=True, slots=True)
class _Order:
    question: LensQuestion
    saved: SavedState | None


class LensThread:
    """One question at a time; a newer one of the same kind takes the place of an older one."""

    def __init__(self, lens: Lens, put: Callable[[LensAnswer], None], idle_s: float = IDLE_S) -> None:
        """`put` is called on its thread."""
        self._lens, self._put, self._idle_s = lens, put, idle_s
        self._letters: SimpleQueue[_Order | StopLens | None] = SimpleQueue()
        self._orders: list[_Order] = []  # this thread only
        self._current: LensQuestion | None = None
        self._turn = threading.Lock()  # an interruption must not meet the next question
        self._thread: threading.Thread | None = None
        self._is_stopping = False
        self._held: tuple[int, ...] = ()  # by the lens, since the last question

    # The engine thread.

    def ask(self, question: LensQuestion, copied: Callable[[], SavedState | None]) -> None:
        """`copied` makes a copy of what the engine holds of the chat, if that spares much."""
        wanted = list(question.token_ids)
        spares_much = len(wanted) - common_prefix(list(self._held), wanted) > MAX_COMPUTED
        self._letters.put(_Order(question, copied() if spares_much else None))
        self._end_current(lambda one: type(one) is type(question) and one is not question)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="skein-lens")
            self._thread.start()

    def end(self, command: StopLens) -> None:
        self._letters.put(command)
        self._end_current(lambda current: current.query_id == command.query_id)

    def stop(self) -> None:
        """Open questions are not answered."""
        self._is_stopping = True
        self._letters.put(None)
        self._end_current(lambda _current: True)
        if self._thread:
            self._thread.join()

    def _end_current(self, is_meant: Callable[[LensQuestion], bool]) -> None:
        with self._turn:
            if self._current and is_meant(self._current):
                self._lens.interrupt()

    # Its own thread.

    def _run(self) -> None:
        while self._receive():
            order = self._orders.pop(0)
            with self._turn:
                self._current = order.question
                self._lens.resume()
            if not self._is_stopping:
                self._answer(order)
            with self._turn:
                self._current, self._held = None, self._lens.token_ids
        self._lens.close()

    def _receive(self) -> bool:
        """Take all letters; wait for one only when there is no question. False: it is to end."""
        while not (self._orders and self._letters.empty()):
            letter = self._next_letter()
            if letter is None:
                return False
            self._orders = [one for one in self._orders if not _replaces(letter, one.question)]
            if isinstance(letter, _Order):
                self._orders.append(letter)
        return True

    def _next_letter(self) -> _Order | StopLens | None:
        with suppress(Empty):
            return self._letters.get(timeout=self._idle_s)
        self._lens.close()
        self._held = ()
        return self._letters.get()

    def _answer(self, order: _Order) -> None:
        try:
            for answer in answers_to(order.question, self._lens, order.saved):
                self._put(answer)
        except LensInterruptedError:
            pass
        except (RequestError, EngineError) as error:
            self._put(LensRefusal(order.question.query_id, str(error)))
        except Exception:  # the root of this thread: our bug costs one answer
            log.exception("the lens failed")
            self._put(
                LensRefusal(order.question.query_id, said("Skein failed to compute this; the log says why."))
            )


def _replaces(letter: _Order | StopLens, open_: LensQuestion) -> bool:
    if isinstance(letter, StopLens):
        return letter.query_id == open_.query_id
    return type(letter.question) is type(open_)


def answers_to(question: LensQuestion, lens: Lens, saved: SavedState | None) -> Iterator[LensAnswer]:
    """One after the other, as they are known. Raises what the lens raises, and LensRefusedError."""
    begin = time.perf_counter()
    if any(map(is_media, question.token_ids)):
        raise LensRefusedError(said("The lens reads text only, and this chat has pictures or sounds."))
    match question:
        case ReadAttention(query_id, _, token_ids, part):
            before = lens.num_computed_tokens
            weights, layers = lens.attention(token_ids[: part[1]], part, saved)
            num_computed = lens.num_computed_tokens - before
            yield Attention(query_id, weights, layers, time.perf_counter() - begin, num_computed)
        case LeaveOut():
            yield from _scores(question, lens, saved)
        case ReadLayers(query_id, _, token_ids):
            logits = lens.layer_logits(token_ids, saved)
            yield replace(_words(query_id, logits), seconds=time.perf_counter() - begin)


def _scores(question: LeaveOut, lens: Lens, saved: SavedState | None) -> Iterator[Scores]:
    """From the last span to the first: what stands before one is not computed again."""
    first, end = question.part
    token_ids = question.token_ids[:end]
    order = sorted(question.spans, reverse=True)
    for number, span in enumerate((None, *order)):
        begin = time.perf_counter()
        left_out = span or (0, 0)
        kept = token_ids[: left_out[0]] + token_ids[left_out[1] :]
        logprobs = lens.logprobs(kept, first - (left_out[1] - left_out[0]), saved)
        took = time.perf_counter() - begin
        yield Scores(question.query_id, span, logprobs, took, is_last=number == len(order))


def _words(query_id: str, logits: Floats) -> LayerWords:
    chosen_id = int(logits[-1].argmax())
    words = []
    for layer, row in enumerate(np.exp(log_softmax(logits))):
        best = np.argsort(row)[: -NUM_LIKELIEST - 1 : -1]
        likeliest = tuple((int(token_id), float(row[token_id])) for token_id in best)
        words.append(LayerWord(layer, likeliest, float(row[chosen_id])))
    return LayerWords(query_id, chosen_id, tuple(words), 0.0)
