"""Maps stateless HTTP requests to chats of the engine.

A request that begins like an earlier one continues its chat, so that its cells are reused, even after
hibernation. The number of chats is limited: a new one replaces the least recently used, or is not kept if all
of them are being answered.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass, replace

from app.protocol.request import Message, Request

MAX_TITLE_CHARS = 60

_numbers = itertools.count(1)

Beginning = tuple[Message | str | int, ...]


@dataclass(slots=True)
class _Conversation:
    chat_id: str
    asked: Beginning
    is_busy: bool = True
    was_answered: bool = False


class Conversations:
    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Conversation] = OrderedDict()  # the one used last at the end
        self._passing: dict[str, _Conversation] = {}  # dropped with their answer

    @property
    def titles(self) -> dict[str, str]:
        """Their titles, as a tab would show them, by chat id."""
        every = (*self._kept.values(), *self._passing.values())
        return {one.chat_id: _title(one.asked) for one in every}

    def begin(self, request: Request, max_kept: int) -> Request:
        """`request` with the id of the chat that it continues, or of a new one."""
        asked: Beginning = request.messages or request.prompt
        earlier = found = None
        if request.keep_cells:
            earlier = self._earlier(asked)
            found = earlier or self._to_take_over(max_kept)
        conversation = found or _Conversation(f"api-{next(_numbers)}", asked)
        conversation.asked, conversation.is_busy = asked, True
        conversation.was_answered = earlier is not None
        is_kept = request.keep_cells and (found is not None or len(self._kept) < max_kept)
        (self._kept if is_kept else self._passing)[conversation.chat_id] = conversation
        if is_kept:
            self._kept.move_to_end(conversation.chat_id)
        return replace(request, chat_id=conversation.chat_id, keep_cells=is_kept)

    def end(self, chat_id: str, *, was_answered: bool) -> bool:
        """The request is over. False: no later request can continue this chat, so its cells can be freed."""
        self._passing.pop(chat_id, None)
        conversation = self._kept.get(chat_id)
        if conversation is None:
            return True  # its cells were freed with its answer
        conversation.is_busy = False
        conversation.was_answered = conversation.was_answered or was_answered
        if not conversation.was_answered:
            del self._kept[chat_id]
        return conversation.was_answered

    def _earlier(self, asked: Beginning) -> _Conversation | None:
        found = [one for one in self._idle if _begins_with(asked, one.asked)]
        return max(found, key=lambda one: _length(one.asked), default=None)

    def _to_take_over(self, max_kept: int) -> _Conversation | None:
        return self._idle[0] if self._idle and len(self._kept) >= max_kept else None

    @property
    def _idle(self) -> list[_Conversation]:
        """Chats without an open request, the least recently used first."""
        return [one for one in self._kept.values() if not one.is_busy]


def _begins_with(asked: Beginning, earlier: Beginning) -> bool:
    """The last piece of `earlier` need only be a prefix of its counterpart."""
    end = len(earlier) - 1
    if len(asked) < len(earlier) or asked[:end] != earlier[:end]:
        return False
    ours, theirs = asked[end], earlier[end]
    if isinstance(ours, str) and isinstance(theirs, str):
        return ours.startswith(theirs)
    return ours == theirs


def _length(asked: Beginning) -> int:
    return sum(len(piece) if isinstance(piece, str) else 1 for piece in asked)


def _title(asked: Beginning) -> str:
    last = asked[-1]
    text = last.content if isinstance(last, Message) else last if isinstance(last, str) else "tokens"
    return f"API: {' '.join(text[: 4 * MAX_TITLE_CHARS].split())[:MAX_TITLE_CHARS]}"
