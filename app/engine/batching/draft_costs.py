"""Costs of verifying draft tokens and of running a draft model: measured, and estimated before that.

All in units of a step without draft tokens. Each draft token to verify adds a share of such a step. Estimates
that were not measured for long decay, so that drafting is tried again. Engine thread only.
"""

from __future__ import annotations

import math
from collections import deque

FADING = 0.99  # the decay of a measurement, for each step
NUM_MEASURED = 3  # measurements of one kind
LONG_AGO = 100  # steps: older measurements are dropped
UNTRIED_ROW = 0.25  # of the time of an answer's own row, before any was measured


class DraftCosts:
    def __init__(self, size_share: float, most: int) -> None:
        """`size_share`: the draft model's size over the main model's. At most `most` draft tokens a step."""
        self._size_share = size_share
        self._most = most
        self._step = 0
        self._alone_ms: dict[int, _Measured] = {}  # by number of answers, since the newest of them began
        # For one draft token, by the number of answers and the bit length of the number of draft tokens.
        self._shares: dict[tuple[int, int], _Measured] = {}
        self._model_ms = _Measured()  # for the next token of each answer

    def begin_step(self) -> None:
        self._step += 1

    def begin_answer(self) -> None:
        """Steps of a long chat take longer than those of a short one."""
        self._alone_ms.clear()

    def are_known(self, num_answers: int) -> bool:
        return num_answers in self._alone_ms and self._alone_ms[num_answers].is_sure

    def alone_ms(self, num_answers: int) -> float:
        return self._alone_ms[num_answers].value

    def learn(self, num_answers: int, num_drafted: int, step_ms: float) -> None:
        """Record the time of a step without prompts."""
        alone_ms = self._alone_ms.setdefault(num_answers, _Measured())
        if not num_drafted:
            alone_ms.add(step_ms, self._step)
        elif alone_ms.value > 0:
            share = max(step_ms / alone_ms.value - 1, 0.0) / num_drafted
            self._learn_share(num_answers, num_drafted.bit_length(), share)

    def learn_of_model(self, decode_ms: float) -> None:
        self._model_ms.add(decode_ms, self._step)

    def length_without(self, num_answers: int) -> float:
        """The length of a step without draft tokens."""
        return self._alone_ms[num_answers].decay(self._step)

    def length(self, num_answers: int, num_draft_tokens: int, num_written: int) -> float:
        """The length of a step with so many draft tokens, for which the draft model decodes so many times."""
        written = num_written * self._model_share(num_answers) if num_written else 0.0
        return 1 + self._expected_share(num_answers, num_draft_tokens) + written

    def _learn_share(self, num_answers: int, size: int, share: float) -> None:
        known = self._shares.get((num_answers, size))
        if known and known.is_sure and share < known.value - UNTRIED_ROW:
            self._shares.clear()  # much faster than before: the machine was busy and no longer is
        self._shares.setdefault((num_answers, size), _Measured()).add(share, self._step)

    def _expected_share(self, num_answers: int, number: int) -> float:
        """For so many draft tokens. Those beyond the tried number count as cheap: the first may cost most."""
        untried = UNTRIED_ROW / num_answers
        size = number.bit_length()
        while size and not self._is_tried(num_answers, size):
            size -= 1
        if not size:
            return number * untried
        tried = self._shares[num_answers, size]
        num_tried = min(number, (1 << size) - 1)  # the most of that size
        # The more steps another trial costs, the later it comes.
        share = tried.value * tried.decay(self._step, num_steps=max(num_tried * tried.value, 1.0))
        return num_tried * share + (number - num_tried) * min(untried, share)

    def _is_tried(self, num_answers: int, size: int) -> bool:
        share = self._shares.get((num_answers, size))
        return share is not None and share.is_sure

    def _model_share(self, num_answers: int) -> float:
        """Before it was measured, by its size: to compute a token, all weights are read once."""
        if not self._model_ms.is_sure:
            return self._size_share
        share = self._model_ms.value / self.alone_ms(num_answers)
        return share * self._model_ms.decay(self._step, num_steps=max(self._most * share, 1.0))


class _Measured:
    """The minimum of the last few measurements, since other load on the machine only adds to them."""

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

    def decay(self, step: int, num_steps: float = 1.0) -> float:
        """The factor by which the measurement has decayed at `step`."""
        return math.pow(FADING, (step - self._at) / num_steps)
