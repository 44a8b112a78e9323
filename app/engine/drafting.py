"""Chooses how many guesses at the answers the next step checks, and where they come from.

Each chat tells what followed its last tokens before, and a draft model can write it on. A guess takes time,
and a right one saves a step; all of it is measured, so where guessing does not pay there is none. Engine
thread only.
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from app.engine.draft_costs import DraftCosts
from app.engine.draft_model import Draft, DraftModel
from app.engine.drafter import Drafter, Record
from app.protocol.errors import BadLogitsError, DecodeInterruptedError, EngineError
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.sequence import Sequence

log = logging.getLogger(__name__)

WORTH_IT = 1.03  # tokens per second with guesses, against without
STRETCH_OF_OTHERS = 1.25  # of a step in which some answers have no guess, and wait for those that have
READING_SHARE = 0.5  # of a step: what the draft model may take for text that it has not read yet
# A draft model reads a chat before it guesses, so what it did in others is remembered longer.
MEMORY_OF_ALL, FADING_OF_ALL = 16.0, 0.997


class Drafting:
    """Shares the guesses that one step can check among the running answers."""

    def __init__(self, backend: Backend, tell: Callable[[str], None] = log.warning) -> None:
        """`tell` gets a sentence when the draft model is given up."""
        self._backend = backend
        self._tell = tell
        self._most = backend.model.num_drafted_tokens
        self.is_on = self._most > 0
        self._n_outputs_max = backend.model.n_outputs_max
        self._model = DraftModel(backend.draft) if backend.draft and self._most else None
        self._model_at_all = Record(memory=MEMORY_OF_ALL)
        self._model_ms = 0.0  # that nobody has taken yet
        self._costs = DraftCosts(_size_share(backend), self._most)

    def choose(self, answers: list[Sequence], num_rows: int) -> dict[Sequence, list[int]]:
        """Guesses for the next step beside the next tokens of all `answers`, at most `num_rows` together."""
        self._costs.begin_step()
        self._model_at_all.fade(FADING_OF_ALL)
        num_rows = min(num_rows, self._n_outputs_max - len(answers))
        ways = self._ways(answers)
        if num_rows <= 0 or not self._costs.are_known(len(answers)):
            return {}
        plans = [self._plan(guesses, len(answers), num_rows) for guesses in ways]
        return self._carry_out(max(plans, key=attrgetter("speed")), answers)

    def learn(self, num_answers: int, num_drafted: int, step_ms: float) -> None:
        """What a step without prompts took, the draft model not counted."""
        if self.is_on:
            self._costs.learn(num_answers, num_drafted, step_ms)

    def take_model_ms(self) -> float:
        """What the draft model took since the last call."""
        model_ms, self._model_ms = self._model_ms, 0.0
        return model_ms

    # What could be guessed.

    def _ways(self, answers: list[Sequence]) -> list[dict[Sequence, _Guess]]:
        """From the chats alone; or where the draft model is likelier to be right, from that."""
        found: dict[Sequence, _Guess] = {}
        likelier: dict[Sequence, _Guess] = {}
        for seq in answers:
            drafter = self._drafter_of(seq)
            most = min(self._most, seq.max_tokens - seq.num_generated_tokens - 1)  # behind the next token
            token_ids = list(takewhile(self._can_follow, drafter.look_up(seq.token_ids, most)))
            if token_ids:
                found[seq] = likelier[seq] = _Guess(drafter.lookup, len(token_ids), token_ids)
            if most > 0 and not (token_ids and drafter.lookup.chance >= drafter.model.chance):
                likelier[seq] = _Guess(drafter.model, most, [])
        return [found, likelier] if self._model else [found]

    def _drafter_of(self, seq: Sequence) -> Drafter:
        if seq.drafter is None:
            seq.drafter = Drafter(self._model_at_all)
            self._costs.begin_answer()
        return seq.drafter

    def _can_follow(self, token_id: int) -> bool:
        """It does not end the answer, and is none that only a draft model has."""
        return token_id < self._backend.model.n_vocab and not self._backend.is_end_of_generation(token_id)

    # How many of them.

    def _plan(self, guesses: dict[Sequence, _Guess], num_answers: int, num_rows: int) -> _Plan:
        ranked = sorted(_each(guesses), key=attrgetter("chance"), reverse=True)[:num_rows]
        number, speed = self._best_number(ranked, num_answers, len(guesses) < num_answers)
        return _Plan(speed, guesses, Counter(one.seq for one in ranked[:number]))

    def _best_number(self, ranked: list[_Ranked], num_answers: int, has_others: bool) -> tuple[int, float]:
        """How many guesses make the most tokens in the time of a step without them, and how many tokens.

        0 guesses: none makes enough of them.
        """
        longest = STRETCH_OF_OTHERS if has_others else math.inf
        best, most_tokens = 0, WORTH_IT * num_answers / self._costs.length_without(num_answers)
        num_tokens, num_written = float(num_answers), 0
        for number, one in enumerate(ranked, 1):
            num_tokens += one.chance
            num_written = max(num_written, one.num_written)
            length = self._costs.length(num_answers, number, num_written)
            if length <= longest and num_tokens / length > most_tokens:
                best, most_tokens = number, num_tokens / length
        return best, most_tokens

    # What it is.

    def _carry_out(self, plan: _Plan, answers: list[Sequence]) -> dict[Sequence, list[int]]:
        unwritten = {seq: number for seq, number in plan.numbers.items() if not plan.guesses[seq].token_ids}
        written = self._write(unwritten, answers) if unwritten else {}
        drafted: dict[Sequence, list[int]] = {}
        for seq, number in plan.numbers.items():
            source, _, token_ids = plan.guesses[seq]
            if guess := token_ids[:number] or written.get(seq):
                self._drafter_of(seq).source = source
                drafted[seq] = guess
        return drafted

    def _write(self, numbers: dict[Sequence, int], answers: list[Sequence]) -> dict[Sequence, list[int]]:
        """What the draft model is sure of, and no more than these numbers."""
        started = time.perf_counter()
        draft = self._ask({seq: numbers.get(seq, 0) for seq in answers})
        self._model_ms += (time.perf_counter() - started) * 1000
        if draft.num_decodes:
            self._costs.learn_of_model(draft.decode_ms)
        for seq, token_ids in draft.token_ids.items():
            if len(token_ids) < numbers[seq]:  # what it was not sure of would have been wrong
                self._drafter_of(seq).model.learn(is_right=False)
        return {seq: list(takewhile(self._can_follow, guess)) for seq, guess in draft.token_ids.items()}

    def _ask(self, wanted: dict[Sequence, int]) -> Draft:
        """Once the draft model has failed, it is not asked again."""
        assert self._model is not None
        try:
            return self._model.guess(wanted, READING_SHARE * self._costs.alone_ms(len(wanted)))
        except DecodeInterruptedError:
            return Draft({})
        except (EngineError, BadLogitsError) as error:
            name = self._model.name
            self._tell(said("The draft model {name} guesses no more. {reason}", name=name, reason=str(error)))
            self._model = None
            return Draft({})


class _Guess(NamedTuple):
    """Up to `most` tokens of one answer: those that were found, else what the draft model will write."""

    source: Record
    most: int
    token_ids: list[int]


class _Ranked(NamedTuple):
    """One token of a guess, with the chance that it and those before it are right."""

    chance: float
    seq: Sequence
    num_written: int  # by the draft model, up to this one


class _Plan(NamedTuple):
    speed: float  # tokens in the time of a step without guesses
    guesses: dict[Sequence, _Guess]
    numbers: Counter[Sequence]


def _each(guesses: dict[Sequence, _Guess]) -> Iterator[_Ranked]:
    for seq, guess in guesses.items():
        chance = guess.source.chance
        for place in range(1, guess.most + 1):
            yield _Ranked(chance**place, seq, 0 if guess.token_ids else place)


def _size_share(backend: Backend) -> float:
    return backend.draft.model.size_bytes / max(backend.model.size_bytes, 1) if backend.draft else 0.0
