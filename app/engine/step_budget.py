"""How many prompt tokens one step may compute while others wait for their next token.

Learns from measured step times, because the best chunk differs by machine and model. Engine thread only.
"""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass

from app.engine.types import Speed

# The longest time between two tokens of a running answer, in steps of answers alone. Nobody would notice the
# difference below SHORTEST_TARGET_MS.
STRETCH = {Speed.RESPONSIVE: 2.8, Speed.BALANCED: 8.8}
# Less is kept in reserve for chunks of one size: each takes about as long as the one before.
STRETCH_APART = {Speed.RESPONSIVE: 2.8, Speed.BALANCED: 9.4}
SHORTEST_TARGET_MS = 20.0

FIRST_CHUNK = 8  # beside running answers, before anything was measured
MIN_CHUNK = 4  # fewer would take for ever where the whole machine has become slower
MAX_GROWTH = 1.25  # of a chunk from one step to the next: one step says little about a far longer one
CHUNKS_ALONE = (128, 256, 512)  # all near the best there is; smaller ones are slower on every machine
SMOOTHING = 0.5  # weight of the newest measurement
NUM_RECENT = 3  # steps whose median counts: one that was disturbed says nothing about the next

# llama.cpp's attention on the CPU takes about half as long for a row in full tiles of so many
# (`ggml_fa_tile_config::Q`), and rows of others in the batch break the tiles.
TILE = 64
# So much is expected of tiles before they were tried: little enough for a step that is hardly longer than the
# limit where it is not so.
UNTRIED_TILE_GAIN = 0.85
# And so much at most of rows outside of tiles, as long as only tiles were measured.
BROKEN_TILE_LOSS = 2.0


@dataclass(frozen=True, slots=True)
class PromptShare:
    """What one step computes of prompts."""

    num_tokens: int
    leaves_out_answers: bool = False  # they have the next step for themselves


class TokenCost:
    """What one prompt token takes. It grows with the prompt, so a new one begins as the last one began."""

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=NUM_RECENT)
        self._at_start = 0.0

    @property
    def ms(self) -> float:
        """0 before anything was measured."""
        return statistics.median(self._recent) if self._recent else self._at_start

    @property
    def growth(self) -> float:
        """Since the prompt began, in times."""
        return self.ms / self._at_start if self._at_start else 1.0

    def learn(self, token_ms: float) -> None:
        if not self._recent:
            self._at_start = token_ms
        self._recent.append(token_ms)

    def start_again(self) -> None:
        self._recent.clear()


class StepBudget:
    """Chooses the prompt rows of a step beside `num_decoding` running answers.

    A step takes what the answers alone would take, and so much for each prompt token. The latter grows with
    the length of the prompt and falls with the size of the chunk, so it is measured anew with every step.

    Where full tiles of prompts in a step of their own are faster, such steps and those of the answers take
    turns, and both together keep to the limit.
    """

    def __init__(self, n_batch: int) -> None:
        self.speed = Speed.RESPONSIVE
        self._n_batch = n_batch
        self._decode_ms: dict[int, float] = {}  # by number of running answers, without a prompt
        self._beside = TokenCost()  # running answers
        self._apart = TokenCost()  # in full tiles of a step without the answers
        self._last_chunk = 0  # of the prompt that is computed now
        self._last_was_apart = False
        self._answers_are_due = False
        self._alone_token_ms: dict[int, float] = {}  # by chunk

    def share(self, num_decoding: int, num_pending: int) -> PromptShare:
        """For prompts of `num_pending` tokens together.

        The fastest chunk where nobody waits, else what keeps the step as short as `speed` asks for.
        """
        if num_decoding == 0:
            return PromptShare(self._fastest_alone())
        if self._answers_are_due:
            return PromptShare(0)
        beside = self._chunk_beside(num_decoding)
        apart = self._chunk_apart(num_decoding, num_pending)
        if apart and self._is_faster_apart(apart, beside, num_decoding):
            return PromptShare(apart, leaves_out_answers=True)
        return PromptShare(min(beside, self._n_batch - num_decoding))

    def learn(self, num_decoding: int, num_prompt_tokens: int, step_ms: float, num_left_out: int = 0) -> None:
        """What a step took in which `num_left_out` running answers had no part."""
        were_due, self._answers_are_due = self._answers_are_due, num_left_out > 0
        if num_prompt_tokens == 0:
            if not were_due:  # else the prompt is still there, and makes the step longer
                known = self._decode_ms.get(num_decoding, step_ms)
                self._decode_ms[num_decoding] = _smoothed(known, step_ms)
                self._end_prompt()
        elif num_left_out:
            self._apart.learn(step_ms / num_prompt_tokens)
            self._last_chunk, self._last_was_apart = num_prompt_tokens, True
        elif num_decoding == 0:
            self._learn_alone(num_prompt_tokens, step_ms / num_prompt_tokens)
        elif num_prompt_tokens >= MIN_CHUNK:
            self._learn_beside(num_prompt_tokens, step_ms - self._decode_ms_of(num_decoding))

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
        token_ms = self._expected_beside_ms
        if not token_ms or not self._decode_ms:
            return FIRST_CHUNK
        chunk = int(self._spare_ms(num_decoding, STRETCH) / token_ms)
        if self._last_chunk and not self._last_was_apart:
            chunk = min(chunk, int(MAX_GROWTH * self._last_chunk))
        return max(chunk, MIN_CHUNK)

    def _chunk_apart(self, num_decoding: int, num_pending: int) -> int:
        """Full tiles; 0 where none keep to the limit."""
        token_ms = self._apart.ms or UNTRIED_TILE_GAIN * self._beside.ms
        if not token_ms or not self._decode_ms:
            return 0
        chunk = min(self._n_batch, num_pending)
        if self.speed is not Speed.THROUGHPUT:
            within = int(self._spare_ms(num_decoding, STRETCH_APART) / token_ms)
            chunk = min(chunk, within, max(2 * self._last_chunk, TILE if self._apart.ms else 0))
        return chunk // TILE * TILE

    def _is_faster_apart(self, apart: int, beside: int, num_decoding: int) -> bool:
        """By what a prompt token takes with its part of the answers' time. At first it is simply tried."""
        if not self._apart.ms:
            return True
        decode_ms = self._decode_ms_of(num_decoding)
        beside_ms = decode_ms / beside + self._beside.ms * (self._apart.growth if self._last_was_apart else 1)
        return decode_ms / apart + self._apart.ms < beside_ms

    @property
    def _expected_beside_ms(self) -> float:
        """In a step after tiles, what was measured before them is too little: the prompt has grown."""
        return BROKEN_TILE_LOSS * self._apart.ms if self._last_was_apart else self._beside.ms

    def _learn_beside(self, chunk: int, extra_ms: float) -> None:
        if self._last_was_apart:
            self._beside.start_again()
        self._beside.learn(max(extra_ms, 0.0) / chunk)
        self._last_chunk, self._last_was_apart = chunk, False

    def _end_prompt(self) -> None:
        self._beside.start_again()
        self._apart.start_again()
        self._last_chunk, self._last_was_apart = 0, False

    def _spare_ms(self, num_decoding: int, stretch: dict[Speed, float]) -> float:
        """What is left for prompts of the longest time between two tokens of an answer."""
        decode_ms = self._decode_ms_of(num_decoding)
        return max(stretch[self.speed] * decode_ms, SHORTEST_TARGET_MS) - decode_ms

    def _decode_ms_of(self, num_decoding: int) -> float:
        """Measured with as many running answers, or the nearest number of them."""
        nearest = min(self._decode_ms, key=lambda known: abs(known - num_decoding), default=None)
        return 0.0 if nearest is None else self._decode_ms[nearest]


def _smoothed(average: float, value: float) -> float:
    return average + SMOOTHING * (value - average)
