"""Messages between a window and an engine that is lent, over a connection that may break. One asyncio loop.

Each is a numbered frame. What the other side has not seen is sent again over the next connection: every
message arrives once, in order.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import Any

import aiohttp
from aiohttp import web

from app.protocol.errors import RequestError
from app.protocol.wire import WireError, frame, message_in
from app.system.worker import Message

Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse[bool]

NOT_UNDERSTOOD = (ValueError, TypeError, LookupError, RequestError)
PATH = "/engine"
VERSION = 1  # of the messages and all values in them
MAX_FRAME_BYTES = 64 << 20
HEARTBEAT_S = 10.0  # between pings; after half of it without an answer the connection counts as broken


class Link:
    def __init__(self, on_message: Callable[[dict[str, Any], list[bytes]], None]) -> None:
        """`on_message` may raise NOT_UNDERSTOOD for what is none of its messages."""
        self.seen = 0  # number of the last message that came
        self.num_unseen_bytes = 0
        self._on_message = on_message
        self._unseen: deque[bytes] = deque()  # the frames from here to there, the last one is `_num_put`
        self._num_put = self._num_sent = 0
        self._news = asyncio.Event()

    def put(self, message: dict[str, Any], *parts: bytes) -> None:
        self._num_put += 1
        self._unseen.append(frame(message | {"n": self._num_put}, *parts))
        self.num_unseen_bytes += len(self._unseen[-1])
        self._news.set()

    async def run(self, socket: Socket, seen: int) -> None:
        """Until the connection ends. `seen`: how far the other side is. Raises WireError."""
        self._note_seen(seen)
        self._num_sent = self._num_put - len(self._unseen)
        sending = asyncio.ensure_future(self._send(socket))
        try:
            async for message in socket:
                if message.type is not aiohttp.WSMsgType.BINARY:
                    return
                self._take(*message_in(message.data))
        finally:
            sending.cancel()
            await asyncio.wait({sending})

    async def _send(self, socket: Socket) -> None:
        told = 0
        self._news.set()
        with contextlib.suppress(ConnectionError):  # who reads learns of it, too
            while await self._news.wait():
                self._news.clear()
                while self._num_sent < self._num_put:
                    self._num_sent += 1
                    await socket.send_bytes(self._unseen[self._num_sent - self._num_put - 1])
                if told != self.seen:
                    told = self.seen
                    await socket.send_bytes(frame({"seen": told}))

    def _take(self, message: dict[str, Any], parts: list[bytes]) -> None:
        if "seen" in message:
            self._note_seen(message["seen"])
        number = message.get("n", 0)
        if type(number) is not int or number > self.seen + 1:
            raise WireError("a message is missing")
        if number == self.seen + 1:
            self.seen = number
            self._news.set()
            try:
                self._on_message(message, parts)
            except NOT_UNDERSTOOD as error:
                raise WireError("this is not understood") from error

    def _note_seen(self, seen: object) -> None:
        if type(seen) is not int or not 0 <= seen <= self._num_put:
            raise WireError("more was seen than was sent")
        while self._num_put - len(self._unseen) < seen:
            self.num_unseen_bytes -= len(self._unseen.popleft())


async def first_message(socket: Socket) -> Message:
    """Raises WireError."""
    message = await socket.receive()
    if message.type is not aiohttp.WSMsgType.BINARY:
        raise WireError("the connection ended")
    return message_in(message.data)
