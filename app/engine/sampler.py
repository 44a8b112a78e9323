"""What the engine needs of a sampler. Engine thread only."""

from typing import Protocol

from app.protocol.output import SampledToken


class Sampler(Protocol):
    """Chooses the next tokens of one sequence and owns the native memory for that. Engine thread only."""

    @property
    def waits_for_trigger(self) -> bool:
        """It has a grammar that does not hold yet."""

    def sample(self, row: int) -> int:
        """Choose from the logits of batch row `row` of the last decode, and remember the choice.

        Raises BadLogitsError if the logits are not numbers, GrammarError if the grammar allows no token or
        takes too long, SamplingInterruptedError if the backend is interrupted meanwhile.
        """

    def sample_with_logprobs(self, row: int, num_logprobs: int) -> SampledToken:
        """As `sample`, with the probabilities of the token and of so many others."""

    def close(self) -> None:
        """Free it. A second call does nothing."""
