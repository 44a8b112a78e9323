"""Two models on one text: what is asked, and what was found for each token. Frozen values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from app.protocol.load import LoadParams
from app.protocol.travel import Part

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Doubles: TypeAlias = npt.NDArray[np.float64]
    Integers: TypeAlias = npt.NDArray[np.int32]
else:  # see `report`
    Doubles = Annotated[Any, Part("<f8")]
    Integers = Annotated[Any, Part("<i4")]

MAX_COMPARED = 1 << 16  # tokens


@dataclass(frozen=True, slots=True)
class Compare:
    """How far is `other` from `base` on a text, or on `token_ids` from `first` on, which are an answer's?

    A window has `n_ctx` tokens; 0: as many as is usual. `are_together`: both are loaded at the same time.
    """

    base: LoadParams
    other: LoadParams
    text: str = ""
    token_ids: tuple[int, ...] = ()
    first: int = 0
    n_ctx: int = 0
    are_together: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The tokens of the text and their bytes. The first ones are `num_given`: no model is asked for them.

    The arrays are about the others. `kl` is KL(base||other) in nats of the two distributions at that place.
    Those of two rows are about the base and the other one: the natural logarithm of the token's probability,
    its rank from 1 on, and which token was likeliest there, whose bytes are in `greedy_pieces`.
    `control_ids` are those of the likeliest that are control tokens: they have no text.
    """

    token_ids: Integers
    pieces: tuple[bytes, ...]
    num_given: int
    kl: Doubles
    logprobs: Doubles
    ranks: Integers
    greedy_ids: Integers
    greedy_pieces: tuple[tuple[bytes, ...], tuple[bytes, ...]]
    n_ctx: int  # of a window
    control_ids: frozenset[int] = frozenset()

    @property
    def partings(self) -> list[int]:
        """The tokens in whose places the two would choose differently, if each chooses its likeliest."""
        base, other = self.greedy_ids
        return [self.num_given + int(place) for place in (base != other).nonzero()[0]]

    @property
    def same_share(self) -> float:
        return 1 - len(self.partings) / len(self.kl)

    @property
    def mean_kl(self) -> float:
        return float(self.kl.mean())

    def kl_quantile(self, share: float) -> float:
        import numpy as np

        return float(np.quantile(self.kl, share))

    @property
    def perplexities(self) -> tuple[float, float]:
        import numpy as np

        base, other = np.exp(-self.logprobs.mean(axis=1))
        return float(base), float(other)
