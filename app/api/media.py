"""Pictures and sounds in the messages of a request: they are in its body, and read in a child process."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections import OrderedDict
from dataclasses import replace
from hashlib import sha256

from aiohttp import web

from app.api.errors import invalid
from app.api.state import client_of
from app.engine.media.encoder import cannot
from app.media.reading import MediaReading, MediaRefusedError
from app.protocol.media import Media, MediaKind
from app.protocol.request import Message, Request

MAX_AT_ONCE = 2  # child processes
MAX_KNOWN = 1000  # files whose sizes are remembered: a chat sends its pictures with each turn
DATA_URL = "data:"
ONLY_DATA = "image_url must be a data: URL with base64: this server fetches nothing and opens no files."


def unread(kind: MediaKind, base64_text: str, where: str, at: int) -> Media:
    """What a body has; its size is not known yet. Raises ApiError."""
    try:
        file = base64.b64decode("".join(base64_text.split()), validate=True)  # many tools break its lines
    except (binascii.Error, ValueError) as error:
        raise invalid(f"messages: {where} is not valid base64.", "messages") from error
    return Media(kind, sha256(file).hexdigest(), file, at=at)


def base64_of(url: str) -> str:
    """What follows in a data: URL. Raises ApiError for any other."""
    head, _, data = url.partition(",")
    if not head.startswith(DATA_URL) or not head.endswith(";base64"):
        raise invalid(f"messages: {ONLY_DATA}", "messages")
    return data


class MediaReader:
    """Reads the media of all requests of one server."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Media] = OrderedDict()  # without their files
        self._turns = asyncio.Semaphore(MAX_AT_ONCE)

    async def read(self, media: Media) -> Media:
        """The same with its size. Raises ApiError."""
        known = self._known.get(media.sha256)
        if known is None:
            try:
                async with self._turns:
                    read = await asyncio.to_thread(MediaReading(media.file).run)
            except MediaRefusedError as error:
                raise invalid(f"messages: {error}", "messages") from error
            known = self._known[media.sha256] = replace(read.media, file=b"")
            if len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)
        if known.kind is not media.kind:
            raise invalid(f"messages: this is a {known.kind}, not a {media.kind}.", "messages")
        return replace(known, file=media.file, at=media.at)


MEDIA_READER = web.AppKey("media_reader", MediaReader)


async def with_read_media(request: web.Request, asked: list[Request]) -> list[Request]:
    """Requests of one body, which have the same messages. Raises ApiError."""
    if not any(message.media for message in asked[0].messages):
        return asked
    senses = client_of(request).model.senses
    reader = request.app[MEDIA_READER]
    messages: list[Message] = []
    for message in asked[0].messages:
        for one in message.media:
            if not senses.takes(one.kind):
                raise invalid(senses.reason or cannot(one.kind), "messages")
        media = await asyncio.gather(*map(reader.read, message.media))
        messages.append(replace(message, media=tuple(media)))
    return [replace(one, messages=tuple(messages)) for one in asked]
