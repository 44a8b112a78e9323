"""What can be asked about a part of an answer, and the answers. Frozen values for the engine's mailbox.

Each question names itself by `query_id`, so does its answer. A later question of the same kind replaces one
that is still open, which is not answered then.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from app.protocol.travel import Part, Sentence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float32]
else:  # see `report`
    Floats = Annotated[Any, Part("<f4")]

Span = tuple[int, int]  # the first token, and the one behind the last


@dataclass(frozen=True, slots=True)
class ReadAttention:
    """Which tokens were read for those of `part`? Answer: an `Attention`.

    `token_ids` begin as those that `chat_id` holds do; what it holds is copied, not computed.
    """

    query_id: str
    chat_id: str
    token_ids: tuple[int, ...]
    part: Span


@dataclass(frozen=True, slots=True)
class LeaveOut:
    """How likely is `part` without each of `spans`, which stand before it? Answers: `Scores`, one for each.

    The first is with all of them; the last span is left out first, since that costs the least.
    """

    query_id: str
    chat_id: str
    token_ids: tuple[int, ...]
    part: Span
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ReadLayers:
    """What would each layer have said after `token_ids`? Answer: a `LayerWords`."""

    query_id: str
    chat_id: str
    token_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StopLens:
    """Nobody wants the answer any more."""

    query_id: str


LensQuestion = ReadAttention | LeaveOut | ReadLayers


@dataclass(frozen=True, slots=True, eq=False)
class Attention:
    """The mean over the tokens of the part. `weights`: shape (layers, head groups, tokens before its end).

    `layers` are the numbers of those that have attention. The heads of a group read the same keys.
    """

    query_id: str
    weights: Floats
    layers: tuple[int, ...]
    seconds: float
    num_computed_tokens: int


@dataclass(frozen=True, slots=True)
class Scores:
    """The log-probability of each token of the part, without `left_out`; None: with everything."""

    query_id: str
    left_out: Span | None
    logprobs: tuple[float, ...]
    seconds: float
    is_last: bool


@dataclass(frozen=True, slots=True)
class LayerWord:
    """The likeliest tokens after this layer, with their probabilities, and that of the model's own choice."""

    layer: int
    likeliest: tuple[tuple[int, float], ...]
    chosen_probability: float


@dataclass(frozen=True, slots=True)
class LayerWords:
    """From the first layer to the last, whose word is the model's. `chosen_id` is its likeliest token."""

    query_id: str
    chosen_id: int
    words: tuple[LayerWord, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class LensRefusal:
    query_id: str
    reason: Sentence  # one sentence


LensAnswer = Attention | Scores | LayerWords | LensRefusal
