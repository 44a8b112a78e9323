"""How many prompt tokens one step may compute while others wait for their next token.

Learns from measured step times, because the best chunk differs by machine and model. Engine thread only.
"""

from __future__ import annotations

import statistics
from collections import deque

from app.engine.types import Speed

# The longest time between two tokens of a running answer, in steps of answers alone. Nobody would notice the
# difference below SHORTEST_TARGET_MS.
STRETCH = {Speed.RESPONSIVE: 2.7, Speed.BALANCED: 8.4}
SHORTEST_TARGET_MS = 20.0

FIRST_CHUNK = 8  # beside running answers, before anything was measured
MIN_CHUNK = 4  # fewer would take for ever where the whole machine has become slower
MAX_GROWTH = 1.25  # of a chunk from one step to the next: one step says little about a far longer one
CHUNKS_ALONE = (128, 256, 512)  # all near the best there is; smaller ones are slower on every machine
SMOOTHING = 0.5  # weight of the newest measurement
NUM_RECENT = 5  # steps whose median counts: one that was disturbed says nothing about the next

# llama.cpp multiplies so many rows of a batch at once on the CPU, and takes much longer for each that is left
# over: beside 3 answers 12 rows of a prompt take longer than 13 do.
BLOCKS = (16, 8)
# What a prompt costs in a step before its first row, in rows: with it the cost of a row is about the same in
# chunks of 5 to 61 rows.
ENTRY_ROWS = 4


class StepBudget:
    """Chooses the prompt rows of a step beside `num_decoding` running answers.

    A step takes what the answers alone would take, and so much for each row of prompts. The latter grows with
    the length of the prompt, so it is measured anew with every step.
    """

    def __init__(self, n_batch: int) -> None:
        self.speed = Speed.RESPONSIVE
        self._n_batch = n_batch
        self._decode_ms: dict[int, float] = {}  # by number of running answers, without a prompt
        self._row_ms: deque[float] = deque(maxlen=NUM_RECENT)  # of a prompt beside them
        self._first_row_ms = 0.0  # at the beginning of the last prompt, where the next one begins, too
        self._num_steps = 0  # of the prompt that is computed now
        self._last_chunk = 0  # of it
        self._alone_token_ms: dict[int, float] = {}  # by chunk

    def prompt_rows(self, num_decoding: int) -> int:
        """The fastest chunk where nobody waits, else what keeps the step as short as `speed` asks for."""
        if num_decoding == 0:
            return self._fastest_alone()
        return min(self._chunk_beside(num_decoding), self._n_batch - num_decoding)

    def learn(self, num_decoding: int, num_prompt_rows: int, step_ms: float) -> None:
        """What a step took."""
        if num_prompt_rows == 0:
            self._decode_ms[num_decoding] = _smoothed(self._decode_ms.get(num_decoding, step_ms), step_ms)
            self._row_ms.clear()
            self._num_steps = self._last_chunk = 0
        elif num_decoding == 0:
            self._learn_alone(num_prompt_rows, step_ms / num_prompt_rows)
        elif num_prompt_rows >= MIN_CHUNK:
            self._learn_beside(num_prompt_rows, max(step_ms - self._decode_ms_of(num_decoding), 0.0))

    # With nobody talking.

    @property
    def _alone_chunks(self) -> list[int]:
        return [chunk for chunk in CHUNKS_ALONE if chunk < self._n_batch] + [self._n_batch]

    def _fastest_alone(self) -> int:
        """The smallest chunk first, then each larger one once, then the fastest of them."""
        untried = [chunk for chunk in self._alone_chunks if chunk not in self._alone_token_ms]
        return untried[0] if untried else min(self._alone_token_ms, key=self._alone_token_ms.__getitem__)

    def _learn_alone(self, chunk: int, token_ms: float) -> None:
        if chunk in self._alone_chunks:
            known = self._alone_token_ms.get(chunk, token_ms)
            self._alone_token_ms[chunk] = _smoothed(known, token_ms)

    # Beside running answers.

    def _chunk_beside(self, num_decoding: int) -> int:
        if self.speed is Speed.THROUGHPUT:
            return self._n_batch  # answers beside a prompt cost extra in every step: few large ones
        row_ms = statistics.median(self._row_ms) if self._row_ms else self._first_row_ms
        if not row_ms or not self._decode_ms:
            return _in_whole_blocks(FIRST_CHUNK, num_decoding)
        chunk = int(self._spare_ms(num_decoding) / row_ms) - ENTRY_ROWS
        if self._last_chunk:
            chunk = min(chunk, max(int(MAX_GROWTH * self._last_chunk), self._last_chunk + max(BLOCKS)))
        return _in_whole_blocks(max(chunk, MIN_CHUNK), num_decoding)

    def _learn_beside(self, chunk: int, extra_ms: float) -> None:
        self._row_ms.append(extra_ms / (chunk + ENTRY_ROWS))
        self._num_steps += 1
        if self._num_steps <= NUM_RECENT:
            self._first_row_ms = statistics.median(self._row_ms)
        self._last_chunk = chunk

    def _spare_ms(self, num_decoding: int) -> float:
        """What is left for prompts of the longest time between two tokens of an answer."""
        decode_ms = self._decode_ms_of(num_decoding)
        return max(STRETCH[self.speed] * decode_ms, SHORTEST_TARGET_MS) - decode_ms

    def _decode_ms_of(self, num_decoding: int) -> float:
        """Measured with as many running answers, or the nearest number of them."""
        nearest = min(self._decode_ms, key=lambda known: abs(known - num_decoding), default=None)
        return 0.0 if nearest is None else self._decode_ms[nearest]


def _in_whole_blocks(chunk: int, num_decoding: int) -> int:
    """The largest chunk up to this one that fills, with the answers, blocks of one of the sizes."""
    for block in BLOCKS:
        whole = (num_decoding + chunk) // block * block - num_decoding
        if whole >= MIN_CHUNK:
            return whole
    return chunk


def _smoothed(average: float, value: float) -> float:
    return average + SMOOTHING * (value - average)
