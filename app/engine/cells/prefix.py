"""Where the cached prefix of a prompt ends, and why. Engine thread only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.engine.cells.checkpoints import GAP
from app.engine.media.rows import border
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


MAX_REMEMBERED_CHATS = 1000


class LastTurns:
    """The last turns of recent chats, by chat id: they explain where the cached prefix of the next ends."""

    def __init__(self, text_of: Callable[[list[int]], str]) -> None:
        self._text_of = text_of
        self._turns: OrderedDict[str, LastTurn] = OrderedDict()
        self._only_ahead: set[str] = set()  # chats of which nothing but what is being typed was computed

    def get(self, chat_id: str) -> LastTurn | None:
        return self._turns.get(chat_id)

    def why_prefix_ended(self, seq: Sequence, held: list[int], prefix: CachedPrefix) -> PrefixEnd:
        """`held` are the tokens its chat had before `prefix` was taken for `seq`."""
        if prefix.is_doubted:
            return PrefixEnd.DOUBTED
        last_turn = self._turns.get(seq.request.chat_id)
        return why_prefix_ended(seq, held, prefix, last_turn, self._text_of)

    def note_asked(self, seq: Sequence) -> None:
        request = seq.request
        self._only_ahead.discard(request.chat_id)
        num_asked_tokens = seq.num_prompt_tokens - seq.num_start_tokens
        self._turns.pop(request.chat_id, None)
        self._turns[request.chat_id] = LastTurn(request.messages, num_asked_tokens, request.sampling)
        if len(self._turns) > MAX_REMEMBERED_CHATS:
            self._turns.popitem(last=False)

    def note_answered(self, seq: Sequence, num_held: int) -> None:
        """Its answer ended, and the chat's cells hold so many of its tokens."""
        last_turn = self._turns.get(seq.request.chat_id)
        if last_turn:
            uncomputed = tuple(seq.token_ids[num_held:])
            self._turns[seq.request.chat_id] = replace(last_turn, uncomputed=uncomputed, num_held=num_held)

    def note_ahead(self, seq: Sequence) -> None:
        """What comes next is being computed before it is sent. The end of the last turn may have gone."""
        chat_id = seq.request.chat_id
        last_turn = self._turns.get(chat_id)
        if last_turn is None:
            self._only_ahead.add(chat_id)
        elif seq.num_computed_tokens < last_turn.num_held:
            self._turns[chat_id] = replace(last_turn, num_held=seq.num_computed_tokens, is_whole=False)

    def sent(self, chat_id: str, held: list[int]) -> list[int]:
        """A copy of the tokens that its cells hold, without what was read ahead."""
        if chat_id in self._only_ahead:
            return []
        last_turn = self._turns.get(chat_id)
        return held[: last_turn.num_held or None] if last_turn else list(held)

    def copy(self, chat_id: str, new_chat_id: str) -> None:
        last_turn = self._turns.get(chat_id)
        if last_turn:
            self._turns[new_chat_id] = last_turn

    def forget(self, chat_id: str) -> None:
        self._only_ahead.discard(chat_id)
        self._turns.pop(chat_id, None)
