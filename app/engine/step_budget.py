"""How many prompt tokens one step may compute while others wait for their next token.

Learns from measured step times, because the best chunk differs by machine and model. Engine thread only.
"""

from __future__ import annotations

import statistics
from collections import deque
from typing import NamedTuple

from app.engine.types import Speed

# The longest time between two tokens of a running answer, in steps of answers alone. Nobody would notice the
# difference below SHORTEST_TARGET_MS.
STRETCH = {Speed.RESPONSIVE: 2.65, Speed.BALANCED: 8.5}
SHORTEST_TARGET_MS = 20.0

FIRST_CHUNK = 8  # beside running answers, before anything was measured
MIN_CHUNK = 4  # fewer would take for ever where the whole machine has become slower
MAX_GROWTH = 1.25  # of a chunk from one step to the next: one step says little about a far longer one
CHUNKS_ALONE = (128, 256, 512)  # all near the best there is; smaller ones are slower on every machine
SMOOTHING = 0.5  # weight of the newest measurement
NUM_RECENT = 5  # steps whose median counts: one that was disturbed says nothing about the next

# llama.cpp multiplies so many rows of a batch at once on the CPU, and takes much longer for each that is left
# over: beside 3 answers 12 rows of a prompt take longer than 13 do.
BLOCK, HALF_BLOCK = 16, 8
# What a prompt costs in a step before its first row, in rows. Beyond one block it is left out of account, so
# that a step with more rows than were ever measured is rather too short than too long.
ENTRY_ROWS = 8


class Chunk(NamedTuple):
    """What a step computed of prompts, and how much longer it took for it."""

    num_rows: int
    ms: float


class StepBudget:
    """Chooses the prompt rows of a step beside `num_decoding` running answers.

    A step takes what the answers alone would take, and so much for each row of prompts. The latter grows with
    the length of the prompt, so it is measured anew with every step.
    """

    def __init__(self, n_batch: int) -> None:
        self.speed = Speed.RESPONSIVE
        self._n_batch = n_batch
        self._decode_ms: dict[int, float] = {}  # by number of running answers, without a prompt
        # Of the prompt that is computed now beside running answers.
        self._recent: deque[Chunk] = deque(maxlen=NUM_RECENT)
        self._few_rows_do_not_help = False
        self._before: tuple[Chunk, ...] = ()  # the end of the last one, which tells where this one may begin
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
            self._end_prompt()
        elif num_decoding == 0:
            self._learn_alone(num_prompt_rows, step_ms / num_prompt_rows)
        elif num_prompt_rows >= MIN_CHUNK:
            self._learn_beside(num_decoding, num_prompt_rows, step_ms)

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
        if not (self._recent or self._before) or not self._decode_ms:
            return _in_whole_blocks(FIRST_CHUNK, num_decoding, HALF_BLOCK)
        chunk = max(self._rows_within(num_decoding), min(self._rows_within(num_decoding, ENTRY_ROWS), BLOCK))
        if self._recent:
            last = self._recent[-1].num_rows
            chunk = min(chunk, max(int(MAX_GROWTH * last), last + BLOCK))
        return _in_whole_blocks(chunk, num_decoding, BLOCK if self._few_rows_do_not_help else HALF_BLOCK)

    def _rows_within(self, num_decoding: int, entry_rows: int = 0) -> int:
        """How many rows the limit leaves time for, where a step takes time for so many more of them."""
        row_ms = statistics.median(
            max(chunk.ms, 0.001) / (chunk.num_rows + entry_rows) for chunk in self._recent or self._before
        )
        return int((self._limit_ms(num_decoding) - self._decode_ms_of(num_decoding)) / row_ms) - entry_rows

    def _learn_beside(self, num_decoding: int, num_rows: int, step_ms: float) -> None:
        self._recent.append(Chunk(num_rows, step_ms - self._decode_ms_of(num_decoding)))
        is_smallest = num_rows + num_decoding <= HALF_BLOCK
        if is_smallest and step_ms > self._limit_ms(num_decoding):
            # The machine became slower, and a step of answers alone would take longer, too.
            self._few_rows_do_not_help = True

    def _end_prompt(self) -> None:
        if self._recent:
            self._before = tuple(self._recent)
            self._recent.clear()
        self._few_rows_do_not_help = False

    def _limit_ms(self, num_decoding: int) -> float:
        return max(STRETCH[self.speed] * self._decode_ms_of(num_decoding), SHORTEST_TARGET_MS)

    def _decode_ms_of(self, num_decoding: int) -> float:
        """Measured with as many running answers, or the nearest number of them."""
        nearest = min(self._decode_ms, key=lambda known: abs(known - num_decoding), default=None)
        return 0.0 if nearest is None else self._decode_ms[nearest]


def _in_whole_blocks(chunk: int, num_decoding: int, least: int) -> int:
    """The most rows up to `chunk` that fill blocks together with the answers, or `least` of them, if more."""
    num_rows = (num_decoding + chunk) // BLOCK * BLOCK or least
    while num_rows - num_decoding < MIN_CHUNK:
        num_rows += least
    return num_rows - num_decoding


def _smoothed(average: float, value: float) -> float:
    return average + SMOOTHING * (value - average)
