"""How many prompt tokens one step may compute while others wait for their next token.

Learns from measured step times, because the best chunk differs by machine and model. Engine thread only.
"""

from __future__ import annotations

import math

import numpy as np

from app.engine.types import Speed

# The longest step beside running answers, in steps of theirs without a prompt. No longest one: the prompt
# takes its fastest chunk. Below SHORTEST_TARGET_MS nobody would notice the difference.
STRETCH = {Speed.RESPONSIVE: 2.6, Speed.BALANCED: 8.5}
SHORTEST_TARGET_MS = 20.0
UNKNOWN_TARGET_MS = 100.0  # while no step without a prompt was measured

# Rows a step may have, and how long such a step takes relative to one row: 0.6B in Q4_K_M on two CPU threads.
# Where to begin; the blocks of 16 rows that matrix products are made of show on other machines, too.
RELATIVE_MS = {
    1: 1.0, 2: 1.5, 4: 2.4, 8: 4.2, 12: 5.6, 16: 5.7, 24: 8.6, 32: 10.0, 40: 12.9, 48: 14.3, 64: 18.6,
    96: 27.5, 128: 36.0, 192: 55.0, 256: 74.0, 384: 115.0, 512: 157.0,
}  # fmt: skip
SMOOTHING = 0.4  # weight of the newest measurement
# Most of a surprise is believed of every size (longer chats, a busy machine), the rest of the measured one.
DRIFT, OWN = 0.4, 0.1
WORTH_A_TRY = 0.9  # of the best known rate
MIN_PROMPT_TOKENS = 4  # fewer a step would take for ever where the whole machine has become slower


class StepBudget:
    """Chooses the rows a prompt gets beside `num_decoding` running answers."""

    def __init__(self, n_batch: int) -> None:
        self.speed = Speed.RESPONSIVE
        self._decode_ms: dict[int, float] = {}  # by number of running answers, without a prompt
        self._times = _StepTimes(n_batch)

    def num_prompt_tokens(self, num_decoding: int) -> int:
        """At the fastest chunk where nobody waits or the user wants it; else what keeps the step short."""
        return self._times.fastest(num_decoding, self._target_ms(num_decoding)) - num_decoding

    def learn(self, num_decoding: int, num_prompt_tokens: int, step_ms: float) -> None:
        if num_prompt_tokens == 0:
            known = self._decode_ms.get(num_decoding, step_ms)
            self._decode_ms[num_decoding] = known + SMOOTHING * (step_ms - known)
        else:
            self._times.learn(num_decoding + num_prompt_tokens, step_ms)

    def _target_ms(self, num_decoding: int) -> float:
        stretch = STRETCH.get(self.speed)
        if num_decoding == 0 or stretch is None:
            return math.inf
        return max(stretch * self._decode_ms_of(num_decoding), SHORTEST_TARGET_MS)

    def _decode_ms_of(self, num_decoding: int) -> float:
        """Measured with as many running answers, or the nearest number of them."""
        if not self._decode_ms:
            return UNKNOWN_TARGET_MS / STRETCH[Speed.RESPONSIVE]
        nearest = min(self._decode_ms, key=lambda known: abs(known - num_decoding))
        return self._decode_ms[nearest]


class _StepTimes:
    """Expected milliseconds of a step by its number of rows."""

    def __init__(self, n_batch: int) -> None:
        self._sizes = [size for size in RELATIVE_MS if size < n_batch] + [n_batch]
        relative = np.interp(self._sizes, list(RELATIVE_MS), list(RELATIVE_MS.values()))
        self._ms = [float(ms) for ms in relative]
        self._measured: set[int] = set()  # sizes

    def fastest(self, num_decoding: int, target_ms: float) -> int:
        """The size with most prompt tokens per second among those within the target, else the smallest.

        A larger one that was never tried is tried where it promises nearly as much.
        """
        usable = [i for i, size in enumerate(self._sizes) if size >= num_decoding + MIN_PROMPT_TOKENS]
        if not usable:
            return self._sizes[-1]
        within = [index for index in usable if self._ms[index] <= target_ms]
        if not within or (target_ms < math.inf and not self._measured):
            within = usable[:1]

        def tokens_per_ms(index: int) -> float:
            return (self._sizes[index] - num_decoding) / self._ms[index]

        best = max(within, key=tokens_per_ms)
        untried = [i for i in within if i > best and self._sizes[i] not in self._measured]
        if untried and tokens_per_ms(untried[0]) >= WORTH_A_TRY * tokens_per_ms(best):
            best = untried[0]
        return self._sizes[best]

    def learn(self, num_rows: int, step_ms: float) -> None:
        surprise = step_ms / float(np.interp(num_rows, self._sizes, self._ms))
        is_new_size = num_rows in self._sizes and num_rows not in self._measured
        for index, size in enumerate(self._sizes):
            self._ms[index] *= surprise ** self._weight(size, num_rows, is_new_size)
        if is_new_size:
            self._measured.add(num_rows)

    def _weight(self, size: int, num_rows: int, is_new_size: bool) -> float:
        """How much of the surprise at `num_rows` is believed of `size`."""
        if not self._measured:
            return 1.0
        if is_new_size:  # what was assumed of it, and of larger ones, is replaced by what was seen
            return 1.0 if size >= num_rows and size not in self._measured else 0.0
        return DRIFT + OWN if size == num_rows else DRIFT
