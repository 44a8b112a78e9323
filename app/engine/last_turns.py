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
            self._turns[seq.request.chat_id] = replace(last_turn, uncomputed=uncomputed)

    def copy(self, chat_id: str, new_chat_id: str) -> None:
        last_turn = self._turns.get(chat_id)
        if last_turn:
            self._turns[new_chat_id] = last_turn

    def forget(self, chat_id: str) -> None:
        self._turns.pop(chat_id, None)
