"""How many prompt tokens one step may compute while others wait for their next token.

Learns from measured step times, because the best chunk differs by machine and model. Engine thread only.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from typing import NamedTuple

from app.protocol.load import Speed

# The longest time between two tokens of a running answer, in steps of answers alone. A difference below
# SHORTEST_TARGET_MS is not noticeable.
STRETCH = {Speed.RESPONSIVE: 2.45, Speed.BALANCED: 8.0}
SHORTEST_TARGET_MS = 20.0

AHEAD_MS = 60.0  # a step of a prompt that is not sent yet, or for which another engine waits
ROWS_WAITED_FOR = 16  # or more, if they take no longer than AHEAD_MS
MIN_CHUNK = 4  # beside running answers: whatever the limit, prompts move on
FIRST_CHUNK = 8  # before anything was measured
# From one step to the next: one step says little about a far longer one. Few rows of a picture cost as much
# each as many do, so that a step of four tells less about one of twelve than with a prompt.
MAX_GROWTH, GROWTH_ROWS, GROWTH_ROWS_OF_MEDIA = 1.25, 8, 4
ENTRY_ROWS = 4  # what a prompt costs in a step before its first row, in rows
STEPS_BETWEEN_LOOKS = 16  # at the time of a step of answers alone, while a prompt is computed
CHUNKS_ALONE = (128, 256, 512)  # all near the best there is; smaller ones are slower on every machine
SMOOTHING = 0.5  # weight of the newest measurement
NUM_RECENT_DECODES = 5  # their median counts: one that was disturbed says nothing about the next
# Nearly the slowest step with a prompt counts, because the limit is for all of them.
NUM_RECENT_CHUNKS, DEAR = 16, 0.85


class PromptChunk(NamedTuple):
    """The prompt rows of a step, and the extra time for them."""

    num_rows: int
    ms: float


class StepBudget:
    """Chooses the prompt rows of a step beside `num_decoding` running answers.

    A step takes the time of the answers alone, plus some for each prompt row. The latter grows with the
    length of the prompt, so it is measured in every step.
    """

    def __init__(self, n_batch: int, n_ubatch: int = 0) -> None:
        self.speed = Speed.RESPONSIVE
        self.is_waited_for = False  # by another engine, whose answers wait for each step of this one
        self._n_batch = n_batch
        self._n_ubatch = n_ubatch or n_batch
        # Of the picture that is computed now beside running answers, or else of the last one. By speed: what
        # a row costs in a large step says little about a small one.
        self._recent_media = {speed: deque[PromptChunk](maxlen=NUM_RECENT_CHUNKS) for speed in Speed}
        self._media_begins = False
        # How many answers ran before the picture, and their step: its rows make all later ones longer.
        self._calm: tuple[int, float] = (0, 0.0)
        self._decodes_ms: dict[int, deque[float]] = {}  # by number of running answers, without a prompt
        # Of the prompt that is computed now beside running answers, or else of the last one.
        self._recent: deque[PromptChunk] = deque(maxlen=NUM_RECENT_CHUNKS)
        self._num_steps = 0  # of this prompt since answers were last computed alone
        self._is_looking = False  # at how long that takes
        self._alone_token_ms: dict[int, float] = {}  # by chunk
        self._row_ms = 0.0  # of a prompt alone in the last step that had one; 0: none had

    def prompt_rows(self, num_decoding: int) -> int:
        """The fastest chunk if no answer waits, else as many rows as `speed` allows."""
        if num_decoding == 0 and self.is_waited_for and self.speed is not Speed.THROUGHPUT:
            return min(max(self.rows_ahead(), ROWS_WAITED_FOR), self._n_batch)
        if num_decoding == 0:
            return self._fastest_alone()
        return min(self._chunk_beside(num_decoding), self._n_batch - num_decoding)

    def media_rows(self, num_decoding: int, *, begins: bool = False) -> int:
        """Of a picture, in a step of its own, after which the answers have theirs.

        `begins`: they are its first ones.
        """
        if num_decoding == 0 or self.speed is Speed.THROUGHPUT:
            return self._n_ubatch
        recent, self._media_begins = self._recent_media[self.speed], begins
        decode_ms = self._decode_ms(num_decoding)
        if begins or num_decoding != self._calm[0] or not self._calm[1]:
            self._calm = num_decoding, decode_ms
        if not recent or not self._decodes_ms:
            return FIRST_CHUNK
        num_rows = _rows_within(self._limit_ms(self._calm[1]) - decode_ms, recent)
        if not begins:
            num_rows = min(num_rows, _most_after(recent[-1].num_rows, GROWTH_ROWS_OF_MEDIA))
        return min(max(num_rows, MIN_CHUNK), self._n_ubatch)

    def learn_media(self, num_decoding: int, num_rows: int, step_ms: float) -> None:
        """Record the time of a step of a picture's rows, beside which answers run."""
        if num_decoding == 0 or num_rows < MIN_CHUNK:
            return
        recent = self._recent_media[self.speed]
        if self._media_begins:
            recent.clear()
            self._media_begins = False
        recent.append(PromptChunk(num_rows, step_ms))

    def rows_ahead(self) -> int:
        """Of a prompt that is not sent yet: one that is sent waits until the step ends."""
        wanted = int(AHEAD_MS / self._row_ms) if self._row_ms else FIRST_CHUNK
        return min(max(wanted, MIN_CHUNK), self._n_batch)

    def learn(self, num_decoding: int, num_prompt_rows: int, step_ms: float) -> None:
        """Record the time of a step."""
        if num_prompt_rows == 0:
            self._learn_decode(num_decoding, step_ms)
        elif num_decoding == 0:
            self._row_ms = step_ms / num_prompt_rows
            self._learn_alone(num_prompt_rows, step_ms / num_prompt_rows)
        elif num_prompt_rows >= MIN_CHUNK:  # else the end of a prompt
            self._learn_beside(num_decoding, num_prompt_rows, step_ms)

    # Without running answers.

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
            self._alone_token_ms[chunk] = known + SMOOTHING * (token_ms - known)

    # Beside running answers.

    def _chunk_beside(self, num_decoding: int) -> int:
        if self.speed is Speed.THROUGHPUT:
            return self._n_batch  # answers beside a prompt cost extra in every step: few large ones
        if not self._recent or not self._decodes_ms:
            return FIRST_CHUNK
        self._is_looking = self._num_steps == STEPS_BETWEEN_LOOKS
        if self._is_looking:
            return 0
        decode_ms = self._decode_ms(num_decoding)
        chunk = _rows_within(self._limit_ms(decode_ms) - decode_ms, self._recent)
        if self._num_steps:
            chunk = min(chunk, _most_after(self._recent[-1].num_rows))
        return max(chunk, MIN_CHUNK)

    def _learn_beside(self, num_decoding: int, num_rows: int, step_ms: float) -> None:
        if not self._num_steps:
            self._recent.clear()
        self._num_steps = self._num_steps % STEPS_BETWEEN_LOOKS + 1
        self._recent.append(PromptChunk(num_rows, step_ms - self._decode_ms(num_decoding)))

    def _learn_decode(self, num_decoding: int, step_ms: float) -> None:
        self._decodes_ms.setdefault(num_decoding, deque(maxlen=NUM_RECENT_DECODES)).append(step_ms)
        # After a look the prompt goes on, and else the next one is another.
        self._num_steps = 1 if self._is_looking else 0
        self._is_looking = False

    def _limit_ms(self, decode_ms: float) -> float:
        return max(STRETCH[self.speed] * decode_ms, SHORTEST_TARGET_MS)

    def _decode_ms(self, num_decoding: int) -> float:
        """Measured with as many running answers, or the nearest number of them."""
        nearest = min(self._decodes_ms, key=lambda known: abs(known - num_decoding), default=None)
        return 0.0 if nearest is None else statistics.median(self._decodes_ms[nearest])


def _rows_within(ms: float, recent: deque[PromptChunk]) -> int:
    """How many rows fit into that time."""
    rows_ms = sorted(max(step.ms, 0.001) / (step.num_rows + ENTRY_ROWS) for step in recent)
    return int(ms / rows_ms[int(DEAR * len(rows_ms))]) - ENTRY_ROWS


def _most_after(num_rows: int, growth_rows: int = GROWTH_ROWS) -> int:
    """In the next step."""
    return max(int(MAX_GROWTH * num_rows), num_rows + growth_rows)


class Stopwatch:
    """Times the parts of one step, to a microsecond. Where none was taken, all times are 0."""

    def __init__(self) -> None:
        self._lap_at = time.perf_counter()
        self.started_at = round(self._lap_at, 6)
        self.schedule_ms = self.decode_ms = self.update_ms = self.draft_ms = 0.0

    def lap_ms(self) -> float:
        """Since the last call, or since it was made."""
        before, self._lap_at = self._lap_at, time.perf_counter()
        return round((self._lap_at - before) * 1000, 3)
