"""What the engine needs of a sampler. Engine thread only."""

from typing import Protocol

from app.protocol.output import SampledToken


class Sampler(Protocol):
    """Chooses the next tokens of one sequence and owns the native memory that takes. Engine thread only."""

    def sample(self, row: int) -> int:
        """Choose from the logits of batch row `row` of the last decode, and remember the choice.

        Raises BadLogitsError when there is nothing sane to choose from, GrammarError when nothing allowed.
        """

    def sample_with_logprobs(self, row: int, num_logprobs: int) -> SampledToken:
        """As `sample`, and tell how likely the token and so many others were."""

    def close(self) -> None:
        """Free it. A second call does nothing."""
