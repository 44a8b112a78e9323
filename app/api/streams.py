"""Streamed answers that outlive their connection, so that a caller whose connection broke reads on.

A request with the header X-Conversation-Id goes on without its reader, and what it writes is kept: GET
/v1/stream reads it, from any byte on, and waits for what is still to come; DELETE ends it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Annotated

from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import Field

from app.api.errors import ApiError, invalid
from app.api.event_stream import RECORDING, StreamRecording, send_pieces
from app.api.json_body import Body, json_response, read_fields

HEADER = "X-Conversation-Id"
MAX_NAME_CHARS = 500
MAX_STREAMS = 32
KEPT_S = 300.0  # after the last word
UNKNOWN = "There is no such stream here, or not any more."


class Streams:
    """By the names that callers gave them, the oldest first."""

    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}

    def begin(self, name: str, stream: _Stream) -> None:
        """A second one of the same name ends the first."""
        self.end(name)
        self._drop_old()
        if len(self._streams) >= MAX_STREAMS:
            finished = (one for one, stream in self._streams.items() if stream.recording.is_done)
            self.end(next(finished, next(iter(self._streams))))
        self._streams[name] = stream

    def end(self, name: str) -> None:
        """With its answer."""
        if stream := self._streams.pop(name, None):
            stream.task.cancel()
            stream.recording.finish()

    def note_end(self, name: str, stream: _Stream) -> None:
        """The answer is complete. One that was no stream is not kept."""
        stream.recording.finish()
        if not stream.recording.has_begun and self._streams.get(name) is stream:
            del self._streams[name]
        if not stream.task.cancelled():
            stream.task.exception()  # its reader may have left

    def get(self, name: str) -> StreamRecording:
        """Raises ApiError (404)."""
        self._drop_old()
        if name not in self._streams:
            raise ApiError(404, UNKNOWN)
        return self._streams[name].recording

    def named(self, names: list[str]) -> Iterator[tuple[str, StreamRecording]]:
        """The streams of these conversations: a model's name may come behind "::"."""
        self._drop_old()
        for name, stream in self._streams.items():
            if name in names or name.rpartition("::")[0] in names:
                yield name, stream.recording

    async def close(self, _application: web.Application) -> None:
        for name in list(self._streams):
            self.end(name)

    def _drop_old(self) -> None:
        for name, stream in list(self._streams.items()):
            if stream.recording.is_done and time.monotonic() > stream.recording.done_at + KEPT_S:
                del self._streams[name]


class _Stream:
    def __init__(self, recording: StreamRecording, task: asyncio.Future[web.StreamResponse]) -> None:
        self.recording, self.task = recording, task


STREAMS = web.AppKey("streams", Streams)


class LookupFields(Body):
    conversation_ids: Annotated[list[str], Field(max_length=10_000, fail_fast=True)]


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/v1/stream", read_on)
    router.add_delete("/v1/stream", end)
    router.add_post("/v1/streams/lookup", look_up)


@web.middleware
async def record(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers a request that asks for it in a task of its own, whose events are kept."""
    name = request.headers.get(HEADER, "")
    if not name or request.method != "POST" or request.path.startswith("/v1/stream"):
        return await handler(request)
    if len(name) > MAX_NAME_CHARS:
        raise invalid(f"{HEADER}: at most {MAX_NAME_CHARS} characters.")
    request[RECORDING] = recording = StreamRecording()
    task = asyncio.ensure_future(handler(request))
    stream = _Stream(recording, task)
    request.app[STREAMS].begin(name, stream)
    task.add_done_callback(lambda _done: request.app[STREAMS].note_end(name, stream))
    await recording.begun.wait()
    if recording.has_begun:
        return await send_pieces(request, recording.content_type, recording.read(0))
    if task.cancelled():
        raise invalid("The request was cancelled.")
    return task.result()


async def read_on(request: web.Request) -> web.StreamResponse:
    recording = request.app[STREAMS].get(_name(request))
    start = request.query.get("from") or "0"
    if not start.isdecimal():
        raise invalid("from: the number of bytes that were read already.")
    recording.check(int(start))
    await recording.begun.wait()
    return await send_pieces(request, recording.content_type, recording.read(int(start)))


async def end(request: web.Request) -> web.Response:
    """Also of one that there is not any more."""
    request.app[STREAMS].end(_name(request))
    return web.Response(status=204)


async def look_up(request: web.Request) -> web.Response:
    """Which of the caller's own conversations have one."""
    fields = await read_fields(request, LookupFields)
    found = request.app[STREAMS].named(fields.conversation_ids)
    return json_response(
        [
            {"conversation_id": name, "is_done": recording.is_done, "total_bytes": recording.num_bytes}
            for name, recording in found
        ]
    )


def _name(request: web.Request) -> str:
    if not (name := request.query.get("conv_id", "")):
        raise invalid("conv_id: which conversation?")
    return name
