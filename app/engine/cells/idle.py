"""Decides when to hibernate an idle chat although cells are free: in a unified cache they slow down steps.

Every row's attention walks over all cells up to the highest used one, also over those of other sequences (12
instead of 8 ms a step with seven idle chats of 1,000 tokens, 0.1B model, 2 CPU threads). The gain depends on
machine and model, so each time is a trial whose gain is measured. Engine thread only.
"""

from __future__ import annotations

import time
from collections import deque
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.engine.cells.slots import SlotPool

MIN_CELLS = 256  # fewer make no measurable difference
SHORTEST_IDLE_S, LONGEST_IDLE_S = 10.0, 3600.0
TRIAL_STEPS = 8
STEPS_TO_PAY = 100  # the gain of so many steps must exceed saving and restoring


class IdleChats:
    """Begins trials, and learns how long a chat must have been idle."""

    def __init__(self) -> None:
        self.min_idle_s = SHORTEST_IDLE_S
        self._num_decoding = 0
        self._step_ms: deque[float] = deque(maxlen=TRIAL_STEPS)
        self._before_ms = 0.0  # a step before the trial that runs now
        self._cost_ms = 0.0

    @property
    def can_try(self) -> bool:
        """Steps are comparable, and the last trial is over."""
        return self._before_ms == 0.0 and len(self._step_ms) == TRIAL_STEPS

    def hibernate_one(self, slots: SlotPool) -> None:
        """The chat that was idle longest, if that is long enough and a trial can begin."""
        if not self.can_try:
            return
        now = time.perf_counter()
        slot = slots.oldest_idle(MIN_CELLS)
        if slot and now - slot.last_used_at >= self.min_idle_s:
            slots.hibernate(slot)
            self.note_hibernated((time.perf_counter() - now) * 1000)
        else:
            self._step_ms.clear()  # try again after as many steps

    def note_hibernated(self, cost_ms: float) -> None:
        self._before_ms = median(self._step_ms)
        self._cost_ms = cost_ms
        self._step_ms.clear()

    def learn(self, num_decoding: int, num_prompt_tokens: int, step_ms: float) -> None:
        if num_prompt_tokens or num_decoding != self._num_decoding:  # steps that cannot be compared
            self._num_decoding = num_decoding
            self._before_ms = 0.0
            self._step_ms.clear()
            return
        self._step_ms.append(step_ms)
        if self._before_ms and len(self._step_ms) == TRIAL_STEPS:
            self._judge(self._before_ms - median(self._step_ms))
            self._before_ms = 0.0

    def _judge(self, gain_ms: float) -> None:
        """Restoring takes about as long as saving."""
        if gain_ms * STEPS_TO_PAY > 2 * self._cost_ms:
            self.min_idle_s = max(self.min_idle_s / 2, SHORTEST_IDLE_S)
        else:
            self.min_idle_s = min(self.min_idle_s * 2, LONGEST_IDLE_S)
