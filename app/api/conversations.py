"""Maps stateless HTTP requests to chats of the engine.

A request that begins like an earlier one continues its chat, so that its cells are reused, even after
hibernation: there may be more chats than slots. Beyond a limit the least recently used is forgotten, or a new
one is not kept if all are being answered. Prompts of tokens, such as those of gaps, seldom go on: no more of
them than slots are kept, so that they push nothing out of memory.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from app.protocol.request import Request

MAX_KEPT = 256
MAX_LENGTH = 2_000_000  # characters, tokens and messages of all of them
MAX_TITLE_CHARS = 60

_numbers = itertools.count(1)

Beginning = tuple[str | int, ...]  # pieces of a prompt, or messages by their hashes


@dataclass(slots=True)
class _Conversation:
    chat_id: str
    asked: Beginning = ()
    is_of_tokens: bool = False
    title: str = ""
    is_busy: bool = True
    was_begun: bool = False


class Conversations:
    """`forget` is called with the id of each chat whose cells no later request can use."""

    def __init__(self, forget: Callable[[str], object]) -> None:
        self._forget = forget
        self._kept: OrderedDict[str, _Conversation] = OrderedDict()  # the one used last at the end
        self._passing: dict[str, _Conversation] = {}  # dropped with their answer

    @property
    def titles(self) -> dict[str, str]:
        """Their titles, as a tab would show them, by chat id."""
        every = (*self._kept.values(), *self._passing.values())
        return {one.chat_id: one.title for one in every}

    def begin(self, request: Request, num_slots: int) -> Request:
        """`request` with the id of the chat that it continues, or of a new one."""
        asked: Beginning = tuple(map(hash, request.messages)) or request.prompt
        earlier = self._earlier(asked) if request.keep_cells else None
        is_of_tokens = not request.messages and isinstance(request.prompt[0], int)
        if is_of_tokens and not earlier:
            self._leave_of_tokens(num_slots - 1)
        conversation = earlier or _Conversation(f"api-{next(_numbers)}", is_of_tokens=is_of_tokens)
        conversation.asked, conversation.is_busy = asked, True
        conversation.title = _title(request)
        is_kept = request.keep_cells and (earlier is not None or self._has_room(_length(asked)))
        (self._kept if is_kept else self._passing)[conversation.chat_id] = conversation
        if is_kept:
            self._kept.move_to_end(conversation.chat_id)
        return replace(request, chat_id=conversation.chat_id, keep_cells=is_kept)

    def end(self, chat_id: str, *, was_begun: bool) -> None:
        """The request is over. One that its caller broke off may come again: what was computed stays."""
        self._passing.pop(chat_id, None)  # its cells were freed with its answer
        conversation = self._kept.get(chat_id)
        if conversation is None:
            return
        conversation.is_busy = False
        conversation.was_begun = conversation.was_begun or was_begun
        if not conversation.was_begun:
            self._drop(conversation)

    def _earlier(self, asked: Beginning) -> _Conversation | None:
        found = [one for one in self._idle if _begins_with(asked, one.asked)]
        return max(found, key=lambda one: _length(one.asked), default=None)

    def _has_room(self, length: int) -> bool:
        """For a new one, at the cost of those that were not used for longest."""
        length += sum(_length(one.asked) for one in self._kept.values())
        for oldest in self._idle:
            if len(self._kept) < MAX_KEPT and length <= MAX_LENGTH:
                break
            length -= _length(oldest.asked)
            self._drop(oldest)
        return len(self._kept) < MAX_KEPT

    def _leave_of_tokens(self, number: int) -> None:
        idle = [one for one in self._idle if one.is_of_tokens]
        for oldest in idle[: max(len(idle) - number, 0)]:
            self._drop(oldest)

    def _drop(self, conversation: _Conversation) -> None:
        del self._kept[conversation.chat_id]
        self._forget(conversation.chat_id)

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


def _title(request: Request) -> str:
    last = request.messages[-1].content if request.messages else request.prompt[-1]
    text = last if isinstance(last, str) else "tokens"
    return f"API: {' '.join(text[: 4 * MAX_TITLE_CHARS].split())[:MAX_TITLE_CHARS]}"
