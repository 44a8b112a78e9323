"""The last request of each chat, to explain where the cached prefix of its next one ends.

Engine thread only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.prefix import LastTurn, why_prefix_ended
from app.engine.prompt import CachedPrefix
from app.protocol.output import PrefixEnd

if TYPE_CHECKING:
    from app.engine.sequence import Sequence

MAX_REMEMBERED_CHATS = 1000


class LastTurns:
    """The last turns of recent chats, by chat id."""

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

    def told(self, chat_id: str, held: list[int]) -> list[int]:
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
