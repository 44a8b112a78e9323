"""Where the cached prefix of a prompt ends, and why. Engine thread only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from app.engine.media.rows import border
from app.protocol.output import CHANGES, PrefixEnd
from app.protocol.request import Message, Request, Role

if TYPE_CHECKING:
    from app.engine.sequence import Sequence

TextOf = Callable[[list[int]], str]

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

    request: Request
    num_prompt_tokens: int  # without the beginning of its answer
    uncomputed: tuple[int, ...] = ()
    num_held: int | None = None  # tokens in its cells at its end: those behind were read ahead. None: all are
    is_whole: bool = True  # else the chat's cells do not hold its end any more
    lost_by: PrefixEnd | None = None  # why cells of it were given up since: all, or those that are not held


def why_prefix_ended(
    seq: Sequence, held: list[int], num_kept: int, last_turn: LastTurn | None, text_of: TextOf
) -> PrefixEnd:
    """Where all that `held` has in common with the prompt could be used: the first `num_kept` tokens.

    `held` are the tokens that the chat had, in cells or saved.
    """
    if not (held or last_turn):
        return PrefixEnd.NEW_CHAT
    num_common = common_prefix(held, seq.token_ids)
    if last_turn and last_turn.lost_by and num_common == len(held):
        return _still(last_turn.lost_by, what_changed(seq.request, held, num_common, last_turn, text_of))
    if not held:
        return PrefixEnd.EVICTED
    if num_common == len(held):
        return PrefixEnd.RESUMED if seq.leased_at else PrefixEnd.NEW_TEXT
    if max(num_common, num_kept) == len(seq.token_ids) - 1:
        return PrefixEnd.SAME
    if seq.is_shortened:
        return PrefixEnd.DROPPED
    return what_changed(seq.request, held, num_common, last_turn, text_of)


def _still(lost_by: PrefixEnd, changed: PrefixEnd) -> PrefixEnd:
    """What was read ahead may have followed other messages than those that were sent then."""
    return PrefixEnd.REPLACED if lost_by in CHANGES and lost_by is not changed else lost_by


def what_changed(
    request: Request, held: list[int], num_common: int, last_turn: LastTurn | None, text_of: TextOf
) -> PrefixEnd:
    """Of two requests of a chat whose prompts differ behind `num_common` tokens."""
    if last_turn is None or request.prompt or last_turn.request.prompt:
        return PrefixEnd.DIFFERENT
    before, now = last_turn.request.messages, request.messages
    if _system(before) != _system(now):
        return PrefixEnd.SYSTEM
    if request.num_summed_up != last_turn.request.num_summed_up:
        return PrefixEnd.SUMMED_UP
    if any(_said(one) != _said(other) for one, other in zip_longest(before, now[: len(before)])):
        return PrefixEnd.EDITED
    if _tools(request) != _tools(last_turn.request):
        return PrefixEnd.TOOLS
    if request.template_variables != last_turn.request.template_variables:
        return PrefixEnd.OPTIONS
    answer = [*held[last_turn.num_prompt_tokens :], *last_turn.uncomputed]
    is_in_answer = num_common >= last_turn.num_prompt_tokens
    if is_in_answer and not (now[len(before) :] and _is_written(now[len(before)], text_of(answer))):
        return PrefixEnd.ANSWER
    return PrefixEnd.TEMPLATE


def _system(messages: tuple[Message, ...]) -> list[str]:
    return [one.content for one in messages if one.role is Role.SYSTEM]


def _said(message: Message | None) -> object:
    """Without what the program knows about it: how its model wrote it."""
    return message and (message.role, message.content, message.fields, message.media)


def _tools(request: Request) -> str:
    return request.chat_params.tools if request.chat_params.offers_tools else ""


def _is_written(message: Message, text: str) -> bool:
    return text.strip() in (message.content.strip(), message.written.strip())


MAX_REMEMBERED_CHATS = 1000


class LastTurns:
    """The last turns of recent chats, by chat id: they explain where the cached prefix of the next ends."""

    def __init__(self, text_of: Callable[[list[int]], str]) -> None:
        self._text_of = text_of
        self._turns: OrderedDict[str, LastTurn] = OrderedDict()
        self._only_ahead: set[str] = set()  # chats of which nothing but what is being typed was computed
        self.given: dict[str, int] = {}  # first tokens that others had when it was read ahead

    def get(self, chat_id: str) -> LastTurn | None:
        return self._turns.get(chat_id)

    def why_prefix_ended(self, seq: Sequence, held: list[int], num_kept: int) -> PrefixEnd:
        """Where all that could be used of the tokens `held` by its chat was used."""
        return why_prefix_ended(seq, held, num_kept, self._turns.get(seq.request.chat_id), self._text_of)

    def note_asked(self, seq: Sequence) -> None:
        request = seq.request
        self._only_ahead.discard(request.chat_id)
        self.given.pop(request.chat_id, None)
        num_asked_tokens = seq.num_prompt_tokens - seq.num_start_tokens
        self._turns.pop(request.chat_id, None)
        if not request.keep_cells:  # it has no next turn
            return
        self._turns[request.chat_id] = LastTurn(request, num_asked_tokens)
        if len(self._turns) > MAX_REMEMBERED_CHATS:
            self._turns.popitem(last=False)

    def note_lost(self, chat_id: str | None, lost_by: PrefixEnd) -> None:
        """Nothing of it is left in cells or saved."""
        if chat_id is not None and (last_turn := self._turns.get(chat_id)):
            self._turns[chat_id] = replace(last_turn, lost_by=lost_by, num_held=0, is_whole=False)

    def note_answered(self, seq: Sequence, num_held: int) -> None:
        """Its answer ended, and the chat's cells hold so many of its tokens."""
        last_turn = self._turns.get(seq.request.chat_id)
        if last_turn:
            uncomputed = tuple(seq.token_ids[num_held:])
            self._turns[seq.request.chat_id] = replace(last_turn, uncomputed=uncomputed, num_held=num_held)

    def note_ahead(
        self, seq: Sequence, held: list[int], num_left: int, prefix_end: PrefixEnd, num_given: int
    ) -> None:
        """What comes next is being computed before it is sent. Of the tokens `held`, so many are left."""
        chat_id = seq.request.chat_id
        self.given[chat_id] = num_given
        last_turn = self._turns.get(chat_id)
        if last_turn is None:
            self._only_ahead.add(chat_id)
        else:
            left = replace(last_turn, num_held=num_left)
            if num_left < len(held):
                lost_by = prefix_end if prefix_end in CHANGES else PrefixEnd.REPLACED
                uncomputed = (*held[num_left:], *left.uncomputed)
                left = replace(left, is_whole=False, lost_by=lost_by, uncomputed=uncomputed)
            self._turns[chat_id] = left

    def sent(self, chat_id: str, held: list[int]) -> list[int]:
        """A copy of the tokens that its cells hold, without what was read ahead."""
        if chat_id in self._only_ahead:
            return []
        last_turn = self._turns.get(chat_id)
        return held[: last_turn.num_held] if last_turn else list(held)

    def copy(self, chat_id: str, new_chat_id: str) -> None:
        if chat_id in self._only_ahead:
            self._only_ahead.add(new_chat_id)
        if chat_id in self.given:
            self.given[new_chat_id] = self.given[chat_id]
        if last_turn := self._turns.get(chat_id):
            self._turns[new_chat_id] = last_turn

    def forget(self, chat_id: str) -> None:
        self._only_ahead.discard(chat_id)
        self.given.pop(chat_id, None)
        self._turns.pop(chat_id, None)
