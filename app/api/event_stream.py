"""Writes answers, whole or in pieces, to readers that may be slow or gone."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from app.api.errors import invalid
from app.api.json_body import LIMITS, as_json

MAX_RECORDED_BYTES = 4 << 20
MAX_PIECE_BYTES = 64 << 10
DONE = "[DONE]"  # OpenAI's last event


class StreamRecording:
    """What an event stream has written, also for readers that come later. The last so many bytes are kept."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._num_dropped = 0
        self._changed = asyncio.Event()  # is set once, then replaced
        self.begun = asyncio.Event()  # or ended without having begun
        self.has_begun = self.is_done = False
        self.content_type = ""
        self.done_at = 0.0  # time.monotonic()

    @property
    def num_bytes(self) -> int:
        return self._num_dropped + len(self._kept)

    def begin(self, content_type: str) -> None:
        self.content_type, self.has_begun = content_type, True
        self.begun.set()

    def add(self, data: bytes) -> None:
        self._kept += data
        excess = max(len(self._kept) - MAX_RECORDED_BYTES, 0)
        del self._kept[:excess]
        self._num_dropped += excess
        self._note_change()

    def finish(self) -> None:
        if not self.is_done:
            self.is_done, self.done_at = True, time.monotonic()
            self.begun.set()
            self._note_change()

    def check(self, start: int) -> None:
        """Raises ApiError if it cannot be read from there on."""
        if start < self._num_dropped:
            raise invalid("from: what came before is not kept any more.")

    async def read(self, start: int) -> AsyncIterator[bytes]:
        """From this byte to the end, waiting for what is not there yet. Raises ConnectionError."""
        while True:
            if start < self._num_dropped:
                raise ConnectionResetError("the reader is slower than the answer")
            changed = self._changed
            if piece := bytes(self._kept[start - self._num_dropped :][:MAX_PIECE_BYTES]):
                start += len(piece)
                yield piece
            elif self.is_done:
                return
            else:
                await changed.wait()

    def _note_change(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


RECORDING = web.RequestKey("recording", StreamRecording)


class EventStream:
    """Server-sent events. Raises ConnectionError when the reader is gone, or reads nothing for too long."""

    content_type = "text/event-stream"
    sign_of_life = ":\n\n"  # a comment

    def __init__(self, request: web.Request) -> None:
        self._request = request
        headers = {"Content-Type": self.content_type, "Cache-Control": "no-cache"}
        self.response = web.StreamResponse(headers=headers)
        self._sent_at = 0.0
        self._recording = request.get(RECORDING)  # takes what would be sent

    @property
    def silent_s(self) -> float:
        """Since anything was sent."""
        return time.monotonic() - self._sent_at

    async def begin(self) -> None:
        if self._recording:
            self._recording.begin(self.content_type)
        else:
            await self.response.prepare(self._request)
        self._sent_at = time.monotonic()

    async def send(self, *events: dict[str, Any] | str) -> None:
        """All in one write."""
        await self._write("".join(map(self.written, events)))

    async def keep_alive(self) -> None:
        """Keeps the connection open, and shows whether the reader is still there."""
        await self._write(self.sign_of_life)

    async def end(self) -> web.StreamResponse:
        if self._recording:
            return self.response
        async with _deadline(self._request):
            await self.response.write_eof()
        return self.response

    def written(self, event: dict[str, Any] | str) -> str:
        return f"data: {event if isinstance(event, str) else as_json(event)}\n\n"

    async def _write(self, text: str) -> None:
        if text:
            if self._recording:
                self._recording.add(text.encode())
                await asyncio.sleep(0)
            else:
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


async def send_pieces(
    request: web.Request, content_type: str, pieces: AsyncIterator[bytes]
) -> web.StreamResponse:
    """Raises ConnectionError when the reader is gone, or reads nothing for too long."""
    response = web.StreamResponse(headers={"Content-Type": content_type, "Cache-Control": "no-cache"})
    await response.prepare(request)
    async for piece in pieces:
        async with _deadline(request):
            await response.write(piece)
    async with _deadline(request):
        await response.write_eof()
    return response


async def send_whole(request: web.Request, response: web.StreamResponse) -> None:
    """An answer that is there as a whole; nothing if it has been sent already."""
    body = response.body if isinstance(response, web.Response) else None
    async with _deadline(request):
        await response.prepare(request)
        if isinstance(body, bytes) and len(body) > MAX_PIECE_BYTES and request.method != "HEAD":
            # Between two pieces the loop serves others: to hand over megabytes at once takes it 20 ms.
            for start in range(0, len(body), MAX_PIECE_BYTES):
                await response.write(body[start : start + MAX_PIECE_BYTES])
            await web.StreamResponse.write_eof(response)
        else:
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
