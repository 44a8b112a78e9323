"""GET /v1/shelves, and what the shelf that a chat names adds to its prompt.

A shelf that fits the model's context stands before the chat, and its cells are those of every chat with it;
another is searched for the last message. They are made in Skein's window; `skein serve` has what it has read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from aiohttp import web

from app.api.errors import invalid
from app.api.json_body import json_response
from app.api.state import SHELVES, client_of, take_model
from app.chats.attachment import with_attachments
from app.protocol.request import SHELF, Message, Request, Role
from app.shelves.documents import with_text_before
from app.shelves.shelf import NamedShelves

NO_SHELVES = (
    "shelf: this server was started without shelves (--no-shelves). Start it with them, or use the API of "
    "Skein's window."
)


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/v1/shelves", shelves)


async def shelves(request: web.Request) -> web.Response:
    access, served = request.app.get(SHELVES), await take_model(request)
    room = served.info.max_sequence_tokens
    listed = await access.ask(partial(_listed, room)) if access else []
    return json_response({"object": "list", "data": listed})


async def with_shelf(request: web.Request, name: str, requests: Sequence[Request]) -> list[Request]:
    """The same requests, of one chat, with what their models are to read first. Raises ApiError."""
    access = request.app.get(SHELVES)
    if access is None:
        raise invalid(NO_SHELVES, "shelf")
    room = client_of(request).model.max_sequence_tokens
    return await access.ask(partial(_with_shelf, name, requests, room))


# The thread of the shelves.


async def _listed(room: int, source: NamedShelves) -> list[dict[str, object]]:
    await source.refresh()
    return [
        {
            "id": one.id,
            "object": "shelf",
            "name": one.name,
            "num_files": one.num_files,
            "num_tokens": one.num_tokens,
            "is_whole": source.is_whole(one.id, room),
        }
        for one in source.listed()
    ]


async def _with_shelf(
    name: str, requests: Sequence[Request], room: int, source: NamedShelves
) -> list[Request]:
    await source.refresh()
    shelf_id = source.id_of(name)
    if shelf_id is None:
        known = ", ".join(repr(one.name) for one in source.listed()) or "none"
        raise invalid(f"shelf: there is no shelf {name!r}. There are: {known}.", "shelf")
    await source.prepare(shelf_id)
    is_whole = source.is_whole(shelf_id, room)
    text = source.text_before(shelf_id, room)
    messages = await _with_passages(source, shelf_id, requests[0].messages, room)
    if text:
        messages = with_text_before(text, messages)
    begins_as = f"{SHELF}{shelf_id}" if is_whole and text else ""
    return [replace(one, messages=messages, begins_as=begins_as) for one in requests]


async def _with_passages(
    source: NamedShelves, shelf_id: str, messages: tuple[Message, ...], room: int
) -> tuple[Message, ...]:
    """With what is found for the last message of the user's, if the shelf is searched."""
    last = max((i for i, one in enumerate(messages) if one.role is Role.USER), default=None)
    if last is None:
        return messages
    question = messages[last]
    before = next((one.content for one in reversed(messages[:last]) if one.role is Role.USER), "")
    found = await source.passages(shelf_id, question.content, before, 1, room)
    if not found:
        return messages
    message = replace(question, content=with_attachments(question.content, found))
    return (*messages[:last], message, *messages[last + 1 :])
