"""Writes answers, whole or in pieces, to readers that may be slow or gone."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from app.api.json_body import as_json
from app.api.limits import LIMITS

DONE = "[DONE]"  # OpenAI's last event


class EventStream:
    """Server-sent events. Raises ConnectionError when the reader is gone, or reads nothing for too long."""

    content_type = "text/event-stream"
    sign_of_life = ":\n\n"  # a comment

    def __init__(self, request: web.Request) -> None:
        self._request = request
        headers = {"Content-Type": self.content_type, "Cache-Control": "no-cache"}
        self.response = web.StreamResponse(headers=headers)
        self._sent_at = 0.0

    @property
    def silent_s(self) -> float:
        """Since anything was sent."""
        return time.monotonic() - self._sent_at

    async def begin(self) -> None:
        await self.response.prepare(self._request)
        self._sent_at = time.monotonic()

    async def send(self, *events: dict[str, Any] | str) -> None:
        """All in one write."""
        await self._write("".join(map(self.written, events)))

    async def keep_alive(self) -> None:
        """Keeps the connection open, and shows whether the reader is still there."""
        await self._write(self.sign_of_life)

    async def end(self) -> web.StreamResponse:
        async with _deadline(self._request):
            await self.response.write_eof()
        return self.response

    def written(self, event: dict[str, Any] | str) -> str:
        return f"data: {event if isinstance(event, str) else as_json(event)}\n\n"

    async def _write(self, text: str) -> None:
        if text:
            async with _deadline(self._request):
                await self.response.write(text.encode())
            self._sent_at = time.monotonic()


class NamedEventStream(EventStream):
    """Each event is an object, and its `type` the event's name."""

    def written(self, event: dict[str, Any] | str) -> str:
        assert isinstance(event, dict)
        return f"event: {event['type']}\n{super().written(event)}"


class LineStream(EventStream):
    """A JSON object on each line. A space before one changes nothing."""

    content_type = "application/x-ndjson"
    sign_of_life = " "

    def written(self, event: dict[str, Any] | str) -> str:
        return f"{as_json(event)}\n"


async def send_whole(request: web.Request, response: web.StreamResponse) -> None:
    """An answer in one piece; nothing if it has been sent already."""
    async with _deadline(request):
        await response.prepare(request)
        await response.write_eof()


@asynccontextmanager
async def _deadline(request: web.Request) -> AsyncIterator[None]:
    """Disconnects a reader that has read nothing for so long."""
    try:
        async with asyncio.timeout(request.app[LIMITS].send_s):
            yield
    except TimeoutError:
        if request.transport:
            request.transport.abort()
        raise ConnectionResetError("the reader takes nothing") from None
