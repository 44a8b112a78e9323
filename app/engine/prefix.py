"""Where the cached prefix of a prompt ends, and why. Pure functions on tokens and messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.checkpoints import GAP
from app.engine.media_rows import border
from app.protocol.output import PrefixEnd
from app.protocol.request import Message

if TYPE_CHECKING:
    from app.engine.prompt import CachedPrefix
    from app.engine.sequence import Sequence
    from app.protocol.sampling import SamplingParams

# A run of tokens that moved must be this long to be worth moving its cells.
MIN_MOVED_TOKENS = 32
NEEDLE = 4


def common_prefix(held: list[int], wanted: list[int]) -> int:
    """The length of the common prefix, at most all but the last token of `wanted`.

    The last one is always computed: without it there are no logits to sample. It ends in no picture.
    """
    limit = max(min(len(held), len(wanted) - 1), 0)
    if held[:limit] == wanted[:limit]:
        return border(wanted, limit) if limit else 0
    return border(wanted, next(index for index in range(limit) if held[index] != wanted[index]))


def moved_run(held: list[int], wanted: list[int], start: int) -> tuple[int, int]:
    """The longest run of `held` behind a gap at `start` that continues `wanted` there: its borders.

    (start, start) when none is long enough. Turns that were left out leave such a gap.
    """
    needle = wanted[start : start + NEEDLE]
    best = (start, start)
    for begin in range(start + 1, len(held) - MIN_MOVED_TOKENS + 1):
        if held[begin : begin + NEEDLE] == needle:
            length = common_prefix(held[begin:], wanted[start:])
            if length >= MIN_MOVED_TOKENS and length > best[1] - best[0]:
                best = (begin, begin + length)
    return best


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The last request of a chat, to tell an edited message from a template that rewrites history.

    The slot's tokens plus `uncomputed` are the whole answer: mostly its last token.
    """

    messages: tuple[Message, ...]
    num_prompt_tokens: int  # without the beginning of its answer
    sampling: SamplingParams | None = None
    uncomputed: tuple[int, ...] = ()
    num_held: int = 0  # tokens in its cells at its end; what comes behind them was read ahead. 0: not known
    is_whole: bool = True  # else the chat's cells do not hold its end any more


def why_prefix_ended(
    seq: Sequence,
    held: list[int],
    prefix: CachedPrefix,
    last_turn: LastTurn | None,
    text_of: Callable[[list[int]], str],
) -> PrefixEnd:
    """`held` are the tokens the chat had, in cells or saved, before `prefix` was taken."""
    if not held:
        return PrefixEnd.EVICTED if last_turn else PrefixEnd.NEW_CHAT
    num_common, num_kept = common_prefix(held, seq.token_ids), prefix.num_tokens
    goes_on = num_common == min(len(held), len(seq.token_ids) - 1)
    if num_common - num_kept >= (GAP if prefix.is_from_checkpoint else 1):
        return PrefixEnd.CHECKPOINT if prefix.is_from_checkpoint else PrefixEnd.NO_ROLLBACK
    if goes_on:
        return PrefixEnd.NEW_TEXT
    if seq.is_shortened:
        return PrefixEnd.DROPPED
    if last_turn and _same_history(seq.request.messages, held, num_common, last_turn, text_of):
        return PrefixEnd.TEMPLATE
    return PrefixEnd.EDITED


def _same_history(
    messages: tuple[Message, ...],
    held: list[int],
    num_common: int,
    last_turn: LastTurn,
    text_of: Callable[[list[int]], str],
) -> bool:
    """Whether the chat continues unchanged, so that only its rendering can differ."""
    index = len(last_turn.messages)
    if not index or messages[:index] != last_turn.messages:
        return False  # one of the two was a raw prompt, or the chat was edited
    if num_common < last_turn.num_prompt_tokens or len(messages) <= index:
        return True
    return messages[index].content.strip() == text_of(held[last_turn.num_prompt_tokens :]).strip()
