"""How many prompt tokens one step may compute while others wait for their next token.

Learns from measured step times, because the best chunk differs by machine and model. Engine thread only.
"""

TARGET_STEP_MS = 100.0
FIRST_CHUNK = 32  # before anything was measured
MIN_CHUNK = 16  # below this a step's fixed cost dominates (95 tokens/s against 155 at 128, 2 CPU threads)
SMOOTHING = 0.3  # weight of the newest measurement


class StepBudget:
    """Keeps two moving averages: a step without prompt tokens, and what a prompt token adds to it."""

    def __init__(self, n_batch: int) -> None:
        self._n_batch = n_batch
        self._decode_ms = 0.0
        self._ms_per_prompt_token = 0.0

    def num_prompt_tokens(self, num_decoding: int) -> int:
        """With nobody talking, all that fits; else what keeps the step near the target."""
        room = self._n_batch - num_decoding
        if num_decoding == 0:
            return room
        if not self._ms_per_prompt_token:
            return min(FIRST_CHUNK, room)
        wanted = (TARGET_STEP_MS - self._decode_ms) / self._ms_per_prompt_token
        return min(max(int(wanted), MIN_CHUNK), room)

    def learn(self, num_prompt_tokens: int, step_ms: float) -> None:
        if num_prompt_tokens == 0:
            self._decode_ms = _smoothed(self._decode_ms, step_ms)
        elif num_prompt_tokens >= MIN_CHUNK:
            added_ms = max(step_ms - self._decode_ms, 0.0)
            self._ms_per_prompt_token = _smoothed(self._ms_per_prompt_token, added_ms / num_prompt_tokens)


def _smoothed(average: float, value: float) -> float:
    return value if average == 0.0 else average + SMOOTHING * (value - average)
