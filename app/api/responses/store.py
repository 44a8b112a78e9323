"""Responses of the last while, in memory: what `previous_response_id` and item references go on from.

They are kept as JSON text, so that their sizes are known. The oldest are dropped when they become too many.
Nothing is written to disk. The asyncio loop's thread, but for what says otherwise.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from aiohttp import web

from app.api.errors import ApiError, invalid
from app.api.json_body import AnyObject, parse, validated
from app.api.responses.fields import Item

MAX_RESPONSES = 1000
MAX_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Stored:
    """`messages` are the chat so far and this response, without instructions; `items` its output by id."""

    id: str
    body: bytes
    messages: bytes
    items: dict[str, bytes]

    @property
    def size_bytes(self) -> int:
        return len(self.body) + len(self.messages) + sum(map(len, self.items.values()))


class ResponseStore:
    def __init__(self) -> None:
        self._kept: OrderedDict[str, Stored] = OrderedDict()  # the oldest first
        self._items: dict[str, bytes] = {}
        self._num_bytes = 0

    def keep(self, stored: Stored) -> None:
        self._kept[stored.id] = stored
        self._items |= stored.items
        self._num_bytes += stored.size_bytes
        while len(self._kept) > MAX_RESPONSES or self._num_bytes > MAX_BYTES:
            self.drop(next(iter(self._kept)))

    def drop(self, response_id: str) -> None:
        """Raises ApiError (404)."""
        stored = self.get(response_id)
        del self._kept[response_id]
        for item_id in stored.items:
            del self._items[item_id]
        self._num_bytes -= stored.size_bytes

    def get(self, response_id: str) -> Stored:
        """Raises ApiError (404)."""
        if response_id not in self._kept:
            raise ApiError(404, f"There is no response {response_id[:100]!r} here, or not any more.")
        return self._kept[response_id]

    def messages_of(self, response_id: str | None) -> list[AnyObject]:
        """The chat to go on with. Any thread. Raises ApiError (400)."""
        if not response_id:
            return []
        stored = self._kept.get(response_id)
        if stored is None:
            raise _gone("previous_response_id", response_id)
        try:
            messages: list[AnyObject] = parse(stored.messages)
        except ValueError as error:
            raise invalid(f"previous_response_id: the chat has become too long: {error}.") from None
        return messages

    def item(self, item_id: str) -> Item:
        """Any thread. Raises ApiError (400)."""
        item = self._items.get(item_id)
        if item is None:
            raise _gone("input", item_id)
        return validated(parse(item), Item)


RESPONSES = web.AppKey("responses", ResponseStore)


def _gone(field: str, kept_id: str) -> ApiError:
    return invalid(
        f"{field}: {kept_id[:100]!r} is not kept, or not any more. Send what was said before with the input."
    )
