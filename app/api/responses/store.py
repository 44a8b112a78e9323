"""Responses of the last while, in memory: what `previous_response_id` and item references go on from.

The oldest are dropped when there are too many. Nothing is written to disk.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from aiohttp import web

from app.api.as_chat import AnyObject
from app.api.errors import ApiError, invalid
from app.api.responses.fields import Item

MAX_RESPONSES = 1000
MAX_BYTES = 32 << 20  # of the bodies they came and went as


@dataclass(frozen=True, slots=True)
class Stored:
    body: AnyObject  # as it was sent
    messages: list[AnyObject]  # the chat so far, this answer included, without instructions
    size_bytes: int

    @property
    def id(self) -> str:
        return str(self.body["id"])


class ResponseStore:
    def __init__(self) -> None:
        self._kept: OrderedDict[str, Stored] = OrderedDict()  # the oldest first
        self._items: dict[str, AnyObject] = {}  # of their outputs, by id
        self._num_bytes = 0

    def keep(self, stored: Stored) -> None:
        self._kept[stored.id] = stored
        self._items |= {item["id"]: item for item in stored.body["output"]}
        self._num_bytes += stored.size_bytes
        while len(self._kept) > MAX_RESPONSES or self._num_bytes > MAX_BYTES:
            self.drop(next(iter(self._kept)))

    def drop(self, response_id: str) -> None:
        """Raises ApiError (404)."""
        stored = self.get(response_id)
        del self._kept[response_id]
        for item in stored.body["output"]:
            del self._items[item["id"]]
        self._num_bytes -= stored.size_bytes

    def get(self, response_id: str) -> Stored:
        """Raises ApiError (404)."""
        if response_id not in self._kept:
            raise ApiError(404, f"There is no response {response_id!r} here, or not any more.")
        return self._kept[response_id]

    def messages_of(self, response_id: str | None) -> list[AnyObject]:
        """The chat to go on with. Raises ApiError (400)."""
        if response_id is None:
            return []
        if response_id not in self._kept:
            raise _gone("previous_response_id", response_id)
        return self._kept[response_id].messages

    def item(self, item_id: str) -> Item:
        """Raises ApiError (400)."""
        if item_id not in self._items:
            raise _gone("input", item_id)
        return Item.model_validate(self._items[item_id])


RESPONSES = web.AppKey("responses", ResponseStore)


def _gone(field: str, kept_id: str) -> ApiError:
    return invalid(
        f"{field}: {kept_id!r} is not kept, or not any more. Send what was said before with the input."
    )
