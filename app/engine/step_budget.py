"""How many prompt tokens one step may compute while others wait for their next token.

Learns from measured step times, because the best chunk differs by machine and model. Engine thread only.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.types import Speed

# The longest time between two tokens of a running answer, in steps of answers alone. Nobody would notice the
# difference below SHORTEST_TARGET_MS.
STRETCH = {Speed.RESPONSIVE: 2.8, Speed.BALANCED: 9.0}
# Less is kept in reserve for chunks of one size: each takes about as long as the one before.
STRETCH_APART = {Speed.RESPONSIVE: 2.9, Speed.BALANCED: 9.5}
SHORTEST_TARGET_MS = 20.0

FIRST_CHUNK = 8  # beside running answers, before anything was measured
MIN_CHUNK = 4  # fewer would take for ever where the whole machine has become slower
MAX_GROWTH = 1.25  # of a chunk from one step to the next: one step says little about a far longer one
CHUNKS_ALONE = (128, 256, 512)  # all near the best there is; smaller ones are slower on every machine
SMOOTHING = 0.5  # weight of the newest measurement

# llama.cpp's attention on the CPU takes about half as long for a row in full tiles of so many
# (`ggml_fa_tile_config::Q`), and rows of others in the batch break the tiles. So much is expected before it
# was tried: little enough for a step that is hardly longer than the limit where it is not so.
TILE = 64
UNTRIED_TILE_GAIN = 0.85


@dataclass(frozen=True, slots=True)
class PromptShare:
    """What one step computes of prompts."""

    num_tokens: int
    leaves_out_answers: bool = False  # they have the next step for themselves


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
        self._prompt_token_ms = 0.0  # beside running answers
        self._apart_token_ms: float | None = None  # in full tiles of a step without the answers
        self._apart_token_ms_at_start: float | None = None  # of a prompt: what the next one begins with
        self._last_chunk = FIRST_CHUNK
        self._last_was_apart = False  # what a token takes beside answers has changed since it was measured
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
        apart = self._chunk_apart(num_decoding, num_pending)
        if self._is_faster_apart(apart, num_decoding):
            return PromptShare(apart, leaves_out_answers=True)
        beside = self._chunk_beside(num_decoding)
        if self.speed is not Speed.THROUGHPUT:
            most = FIRST_CHUNK if self._last_was_apart else int(MAX_GROWTH * self._last_chunk)
            beside = max(min(beside, most), MIN_CHUNK)
        return PromptShare(min(beside, self._n_batch - num_decoding))

    def learn(self, num_decoding: int, num_prompt_tokens: int, step_ms: float, num_left_out: int = 0) -> None:
        """What a step took in which `num_left_out` running answers had no part."""
        were_due, self._answers_are_due = self._answers_are_due, num_left_out > 0
        if num_prompt_tokens == 0:
            known = self._decode_ms.get(num_decoding, step_ms)
            self._decode_ms[num_decoding] = _smoothed(known, step_ms)
            if not were_due:
                self._apart_token_ms = None  # the next prompt begins at another position
        elif num_left_out:
            self._learn_apart(num_prompt_tokens, step_ms / num_prompt_tokens)
        elif num_decoding == 0:
            self._learn_alone(num_prompt_tokens, step_ms / num_prompt_tokens)
        elif num_prompt_tokens >= MIN_CHUNK:
            token_ms = max(step_ms - self._decode_ms_of(num_decoding), 0.0) / num_prompt_tokens
            known = token_ms if self._last_was_apart else self._prompt_token_ms or token_ms
            self._prompt_token_ms = _smoothed(known, token_ms)
            self._last_chunk, self._last_was_apart = num_prompt_tokens, False

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
        if not self._prompt_token_ms or not self._decode_ms:
            return FIRST_CHUNK
        return int(self._spare_ms(num_decoding, STRETCH) / self._prompt_token_ms)

    def _chunk_apart(self, num_decoding: int, num_pending: int) -> int:
        """Full tiles; 0 where none keep to the limit."""
        if not self._prompt_token_ms or not self._decode_ms:
            return 0
        chunk = min(self._n_batch, num_pending)
        if self.speed is not Speed.THROUGHPUT:
            within = int(self._spare_ms(num_decoding, STRETCH_APART) / self._expected_apart_ms)
            chunk = min(chunk, within, 2 * self._last_chunk)
        return chunk // TILE * TILE

    def _is_faster_apart(self, apart: int, num_decoding: int) -> bool:
        """By what a prompt token takes with its part of the answers' time. At first it is simply tried."""
        if not apart or self._apart_token_ms_at_start is None:
            return apart > 0
        decode_ms = self._decode_ms_of(num_decoding)
        beside_ms = decode_ms / max(self._chunk_beside(num_decoding), MIN_CHUNK) + self._prompt_token_ms
        return decode_ms / apart + self._expected_apart_ms < beside_ms

    @property
    def _expected_apart_ms(self) -> float:
        known = self._apart_token_ms or self._apart_token_ms_at_start
        return known or UNTRIED_TILE_GAIN * self._prompt_token_ms

    def _learn_apart(self, chunk: int, token_ms: float) -> None:
        if self._apart_token_ms is None:
            self._apart_token_ms_at_start = token_ms
        self._apart_token_ms = _smoothed(self._apart_token_ms or token_ms, token_ms)
        self._last_chunk, self._last_was_apart = chunk, True

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
