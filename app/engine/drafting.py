"""Guesses how answers go on from their own chats, and says how many guesses the next step should check.

The last few tokens of an answer are looked for in its chat; what followed them there is the guess. Computing
it beside the answer's own token takes time, and each right guess saves a step. Both are measured, so where
guessing does not pay there is none. Works on tokens and times alone: never decodes, never samples. Engine
thread only.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.sequence import Sequence

NGRAM = 3  # tokens by which a place is found; those behind it are guessed
MAX_READ = 8192  # tokens of a chat in one step: a document of a hundred thousand must not hold it up

MEMORY = 8.0  # guesses that count: text that is copied and text that is new take turns
FADING = 0.99  # of what was learned, with each step, so that what was given up is tried again now and then
NUM_MEASURED = 3  # of one thing
LONG_AGO = 100  # steps: what was measured then and what is measured now have nothing in common
UNTRIED_ROW = 0.25  # of what an answer's own row takes, before any was measured
WORTH_IT = 1.03  # tokens per second with guesses, against without
STRETCH_OF_OTHERS = 1.25  # of a step in which some answers have no guess, and wait for those that have


class PromptLookup:
    """Finds where the last tokens of one chat came before.

    Its index grows with the chat: each token is entered once, in some 130 bytes. As long as the text goes on
    as it did at the place that was found, that place is kept.
    """

    def __init__(self) -> None:
        self._behind: dict[tuple[int, ...], int] = {}  # n-gram: index of the token behind its last place
        self._num_read = 0
        self._place = 0  # index of the token that comes next if the text repeats itself; 0: not found

    def guess(self, token_ids: list[int], most: int) -> list[int]:
        """What may follow `token_ids`, which begin with what they were the last time."""
        new = token_ids[self._num_read :]
        goes_on = self._place > 0 and token_ids[self._place : self._place + len(new)] == new
        self._read(token_ids)
        self._place = self._place + len(new) if goes_on else self._find(token_ids)
        if not self._place:
            return []
        guessed = token_ids[self._place : self._place + most]
        period = len(token_ids) - self._place
        while len(guessed) < most:  # what repeats is the end itself
            guessed.append(guessed[-period])
        return guessed

    def _read(self, token_ids: list[int]) -> None:
        """Enter the n-grams in front of each new token."""
        begin, end = max(self._num_read, NGRAM), min(len(token_ids), self._num_read + MAX_READ)
        if begin < end:
            columns = [token_ids[begin - back : end - back] for back in range(NGRAM, 0, -1)]
            self._behind.update(zip(zip(*columns, strict=True), range(begin, end), strict=True))
        self._num_read = end

    def _find(self, token_ids: list[int]) -> int:
        is_all_read = self._num_read == len(token_ids)
        return self._behind.get(tuple(token_ids[-NGRAM:]), 0) if is_all_read else 0


class Drafter:
    """Guesses for one answer, and how often they were right lately."""

    def __init__(self) -> None:
        self.num_drafted = 0  # guesses that were computed
        self.num_kept = 0  # those that were right, and all before them in the same step
        self._lookup = PromptLookup()
        self._right = self._wrong = 0.0  # how many lately: the newest count most

    @property
    def chance(self) -> float:
        """That a guess is right, if all before it in the same step are."""
        return (self._right + 0.5) / (self._right + self._wrong + 1)

    def guess(self, token_ids: list[int], most: int) -> list[int]:
        """Called once for each step."""
        self._fade(FADING)
        return self._lookup.guess(token_ids, most)

    def learn(self, is_right: bool) -> None:
        """Of one guess. What stands behind a wrong one tells nothing."""
        self.num_kept += is_right
        self._right += is_right
        self._wrong += not is_right
        self._fade(min(1.0, MEMORY / (self._right + self._wrong)))

    def forget_text(self) -> None:
        """Another prompt stands before the answer now."""
        self._lookup = PromptLookup()

    def _fade(self, share: float) -> None:
        self._right *= share
        self._wrong *= share


class Drafting:
    """Shares the guesses that one step can check among the running answers.

    A step takes as long as one of the answers alone, and for each guess a share of that more. What was not
    measured for long is believed to have become faster, until it is tried again.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._most = backend.model.num_drafted_tokens
        self._n_outputs_max = backend.model.n_outputs_max
        self._step = 0
        self._alone_ms: dict[int, _Measured] = {}  # by number of answers, since the newest of them began
        # Of such a step, for one guess: by number of answers, and number of guesses as a power of two.
        self._shares: dict[tuple[int, int], _Measured] = {}

    @property
    def is_on(self) -> bool:
        return self._most > 0

    def choose(self, answers: list[Sequence], num_rows: int) -> dict[Sequence, list[int]]:
        """Guesses for the next step beside the next tokens of all `answers`, at most `num_rows` together."""
        self._step += 1
        num_rows = min(num_rows, self._n_outputs_max - len(answers))
        guesses = {seq: guess for seq in answers if (guess := self._guess(seq)).token_ids}
        alone_ms = self._alone_ms.get(len(answers))
        if not guesses or num_rows <= 0 or alone_ms is None or not alone_ms.is_sure:
            return {}
        ranked = _likeliest(guesses)[:num_rows]
        has_others = len(guesses) < len(answers)
        num_best = self._best_number([chance for chance, _ in ranked], len(answers), has_others)
        numbers = Counter(seq for _, seq in ranked[:num_best])
        return {seq: guesses[seq].token_ids[:number] for seq, number in numbers.items()}

    def learn(self, num_answers: int, num_drafted: int, step_ms: float) -> None:
        """What a step without prompts took."""
        if not self.is_on:
            return
        alone_ms = self._alone_ms.setdefault(num_answers, _Measured())
        if not num_drafted:
            alone_ms.add(step_ms, self._step)
        elif alone_ms.value > 0:
            share = max(step_ms / alone_ms.value - 1, 0.0) / num_drafted
            self._learn_share(num_answers, num_drafted.bit_length(), share)

    def _learn_share(self, num_answers: int, size: int, share: float) -> None:
        known = self._shares.get((num_answers, size))
        if known and known.is_sure and share < known.value - UNTRIED_ROW:
            self._shares.clear()  # far faster than ever: what slowed down the machine has ended
        self._shares.setdefault((num_answers, size), _Measured()).add(share, self._step)

    def _guess(self, seq: Sequence) -> _Guess:
        """Tokens that do not end the answer, and no more than it may still have behind the next one."""
        if seq.drafter is None:
            seq.drafter = Drafter()
            self._alone_ms.clear()  # steps of a long chat take longer than those of a short one
        drafter = seq.drafter
        most = min(self._most, seq.max_tokens - seq.num_generated_tokens - 1)
        guessed = drafter.guess(seq.token_ids, most)
        return _Guess(list(takewhile(self._can_follow, guessed)), drafter.chance)

    def _can_follow(self, token_id: int) -> bool:
        return not self._backend.is_end_of_generation(token_id)

    def _best_number(self, chances: list[float], num_answers: int, has_others: bool) -> int:
        """How many guesses make the most tokens a second. 0: none makes enough of them."""
        longest = STRETCH_OF_OTHERS if has_others else math.inf  # in steps of the answers alone, as all here
        best, most_tokens = 0, WORTH_IT * num_answers / self._alone_ms[num_answers].hope(self._step)
        num_tokens = float(num_answers)
        for number, chance in enumerate(chances, 1):
            num_tokens += chance
            length = 1 + self._expected_share(num_answers, number)
            if length <= longest and num_tokens / length > most_tokens:
                best, most_tokens = number, num_tokens / length
        return best

    def _expected_share(self, num_answers: int, number: int) -> float:
        """For so many guesses. Beyond what was tried each costs little: the first ones may cost most."""
        untried = UNTRIED_ROW / num_answers
        size = number.bit_length()
        while size and not self._is_tried(num_answers, size):
            size -= 1
        if not size:
            return number * untried
        tried = self._shares[num_answers, size]
        num_tried = min(number, (1 << size) - 1)  # the most of that size
        # The more steps another trial costs, the later it comes.
        share = tried.value * tried.hope(self._step, num_steps=max(num_tried * tried.value, 1.0))
        return num_tried * share + (number - num_tried) * min(untried, share)

    def _is_tried(self, num_answers: int, size: int) -> bool:
        share = self._shares.get((num_answers, size))
        return share is not None and share.is_sure


class _Guess(NamedTuple):
    token_ids: list[int]
    chance: float  # of the first to be right, and of each further one if those before it are


def _likeliest(guesses: dict[Sequence, _Guess]) -> list[tuple[float, Sequence]]:
    """All guesses with the chance that each and those before it are right, the highest first."""
    each = (
        (guess.chance**place, seq)
        for seq, guess in guesses.items()
        for place in range(1, len(guess.token_ids) + 1)
    )
    return sorted(each, key=itemgetter(0), reverse=True)


class _Measured:
    """The lowest of the newest few measurements: whatever else the machine does only adds to them."""

    def __init__(self) -> None:
        self.value = 0.0
        self._newest: deque[float] = deque(maxlen=NUM_MEASURED)
        self._at = 0

    @property
    def is_sure(self) -> bool:
        return len(self._newest) > 1

    def add(self, value: float, step: int) -> None:
        if step - self._at > LONG_AGO:
            self._newest.clear()
        self._newest.append(value)
        self.value = min(self._newest)
        self._at = step

    def hope(self, step: int, num_steps: float = 1.0) -> float:
        """How much of it is believed to be left at `step`."""
        return math.pow(FADING, (step - self._at) / num_steps)
