"""How many prompt tokens one step may compute while others wait for their next token.

Learns from measured step times, because the best chunk differs by machine and model. Engine thread only.
"""

from __future__ import annotations

from app.engine.types import Speed

# The longest step beside running answers, in steps of theirs without a prompt. Nobody would notice the
# difference below SHORTEST_TARGET_MS.
STRETCH = {Speed.RESPONSIVE: 2.8, Speed.BALANCED: 9.0}
SHORTEST_TARGET_MS = 20.0

FIRST_CHUNK = 8  # beside running answers, before anything was measured
MIN_CHUNK = 4  # fewer would take for ever where the whole machine has become slower
MAX_GROWTH = 2  # of a chunk from one step to the next: what one step took says little about a far longer one
CHUNKS_ALONE = (128, 256, 512)  # all near the best there is; smaller ones are slower on every machine
SMOOTHING = 0.5  # weight of the newest measurement


class StepBudget:
    """Chooses the prompt rows of a step beside `num_decoding` running answers.

    A step takes what the answers alone would take, and so much for each prompt token. The latter grows with
    the length of the prompt and falls with the size of the chunk, so it is measured anew with every step.
    """

    def __init__(self, n_batch: int) -> None:
        self.speed = Speed.RESPONSIVE
        self._n_batch = n_batch
        self._decode_ms: dict[int, float] = {}  # by number of running answers, without a prompt
        self._prompt_token_ms = 0.0  # beside running answers
        self._last_chunk = FIRST_CHUNK
        self._alone_token_ms: dict[int, float] = {}  # by chunk

    def num_prompt_tokens(self, num_decoding: int) -> int:
        """The fastest chunk where nobody waits, else what keeps the step as short as `speed` asks for."""
        room = self._n_batch - num_decoding
        if num_decoding == 0:
            return self._fastest_alone()
        if self.speed is Speed.THROUGHPUT:
            return room  # answers beside a prompt cost extra in every step: few large ones
        return min(self._chunk_within(num_decoding), room)

    def learn(self, num_decoding: int, num_prompt_tokens: int, step_ms: float) -> None:
        if num_prompt_tokens == 0:
            known = self._decode_ms.get(num_decoding, step_ms)
            self._decode_ms[num_decoding] = _smoothed(known, step_ms)
        elif num_decoding == 0:
            if num_prompt_tokens in self._alone_chunks:
                token_ms = step_ms / num_prompt_tokens
                known = self._alone_token_ms.get(num_prompt_tokens, token_ms)
                self._alone_token_ms[num_prompt_tokens] = _smoothed(known, token_ms)
        elif num_prompt_tokens >= MIN_CHUNK:
            token_ms = max(step_ms - self._decode_ms_of(num_decoding), 0.0) / num_prompt_tokens
            self._prompt_token_ms = _smoothed(self._prompt_token_ms or token_ms, token_ms)
            self._last_chunk = num_prompt_tokens

    @property
    def _alone_chunks(self) -> list[int]:
        return [chunk for chunk in CHUNKS_ALONE if chunk < self._n_batch] + [self._n_batch]

    def _fastest_alone(self) -> int:
        """The smallest chunk first, then each larger one once, then the fastest of them."""
        untried = [chunk for chunk in self._alone_chunks if chunk not in self._alone_token_ms]
        return untried[0] if untried else min(self._alone_token_ms, key=self._alone_token_ms.__getitem__)

    def _chunk_within(self, num_decoding: int) -> int:
        if not self._prompt_token_ms or not self._decode_ms:
            return FIRST_CHUNK
        decode_ms = self._decode_ms_of(num_decoding)
        target_ms = max(STRETCH[self.speed] * decode_ms, SHORTEST_TARGET_MS)
        chunk = int((target_ms - decode_ms) / self._prompt_token_ms)
        return max(min(chunk, MAX_GROWTH * self._last_chunk), MIN_CHUNK)

    def _decode_ms_of(self, num_decoding: int) -> float:
        """Measured with as many running answers, or the nearest number of them."""
        nearest = min(self._decode_ms, key=lambda known: abs(known - num_decoding), default=None)
        return 0.0 if nearest is None else self._decode_ms[nearest]


def _smoothed(average: float, value: float) -> float:
    return average + SMOOTHING * (value - average)
