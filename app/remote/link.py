"""Messages between a window and an engine that is lent, over a connection that may break. One asyncio loop.

Each is a numbered frame. What the other side has not seen is sent again over the next connection: every
message arrives once, in order. Its files are named by their hashes, and travel where they are lacking.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import aiohttp
from aiohttp import web

from app.protocol.commands import KeepCells, Pin, ReadAhead, SetFront, SetSpeed
from app.protocol.errors import RequestError
from app.protocol.wire import WireError, frame, message_in
from app.system.worker import Message

Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse[bool]

NOT_UNDERSTOOD = (ValueError, TypeError, LookupError, RequestError)
PATH = "/engine"
VERSION = 3  # of the messages and all values in them
MAX_FRAME_BYTES = 64 << 20
MAX_FILES_BYTES = 256 << 20
MAX_REPLIES = 16  # that wait to be sent
# Commands that stay with the window: a draft and a key are secret, and the lender decides about its engine.
STAYS = (KeepCells, Pin, ReadAhead, SetFront, SetSpeed)
HEARTBEAT_S = 10.0  # between pings; after half of it without an answer the connection counts as broken


class Files:
    """Pictures and sounds that came, by their hashes: the latest ones."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, bytes] = OrderedDict()
        self.num_bytes = 0

    def add(self, file: bytes) -> None:
        sha256 = hashlib.sha256(file).hexdigest()
        self.num_bytes += len(file) - len(self._files.pop(sha256, b""))
        self._files[sha256] = file
        while self.num_bytes > MAX_FILES_BYTES:
            self.num_bytes -= len(self._files.popitem(last=False)[1])

    def lacks(self, hashes: Iterable[str]) -> list[str]:
        return [sha256 for sha256 in hashes if sha256 not in self._files]

    def get(self, sha256: str) -> bytes:
        """Raises LookupError."""
        self._files.move_to_end(sha256)
        return self._files[sha256]


class Link:
    def __init__(self, on_message: Callable[[dict[str, Any], list[bytes]], None], files: Files) -> None:
        """`on_message` may raise NOT_UNDERSTOOD for what is none of its messages."""
        self.seen = 0  # number of the last message that came
        self.num_unseen_bytes = 0
        self._on_message, self._files = on_message, files
        self._unseen: deque[tuple[bytes, Mapping[str, bytes]]] = deque()  # frames with their files, in order
        self._num_put = self._num_sent = 0
        self._news = asyncio.Event()
        self._replies: list[bytes] = []
        self._lacking: asyncio.Future[list[str]] | None = None

    def put(self, message: dict[str, Any], *parts: bytes, files: Sequence[bytes] = ()) -> None:
        """The files arrive as parts behind the others."""
        self._num_put += 1
        hashes = [hashlib.sha256(file).hexdigest() for file in files]
        data = frame(message | {"n": self._num_put, "files": hashes}, *parts)
        self._unseen.append((data, dict(zip(hashes, files, strict=True))))
        self.num_unseen_bytes += len(data)
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
        except NOT_UNDERSTOOD as error:
            raise WireError("this is not understood") from error
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
                    data, files = self._unseen[self._num_sent - self._num_put - 1]
                    if files:
                        await self._send_files(socket, files)
                    await socket.send_bytes(data)
                while self._replies:
                    await socket.send_bytes(self._replies.pop(0))
                if told != self.seen:
                    told = self.seen
                    await socket.send_bytes(frame({"seen": told}))

    async def _send_files(self, socket: Socket, files: Mapping[str, bytes]) -> None:
        self._lacking = asyncio.get_running_loop().create_future()
        await socket.send_bytes(frame({"has": list(files)}))
        for sha256 in await self._lacking:
            await socket.send_bytes(frame({"file": sha256}, files[sha256]))

    def _take(self, message: dict[str, Any], parts: list[bytes]) -> None:
        match message:
            case {"n": int(number)}:
                self._take_numbered(number, message, parts)
            case {"seen": seen}:
                self._note_seen(seen)
            case {"has": hashes} if len(self._replies) < MAX_REPLIES:
                self._replies.append(frame({"lacks": self._files.lacks(hashes)}))
                self._news.set()
            case {"lacks": hashes} if self._lacking and not self._lacking.done():
                self._lacking.set_result(hashes)
            case {"file": _}:
                self._files.add(*parts)
            case _:
                raise WireError("this is no message")

    def _take_numbered(self, number: int, message: dict[str, Any], parts: list[bytes]) -> None:
        if number > self.seen + 1:
            raise WireError("a message is missing")
        if number == self.seen + 1:
            self.seen = number
            self._news.set()
            self._on_message(message, parts + [self._files.get(sha256) for sha256 in message["files"]])

    def _note_seen(self, seen: object) -> None:
        if type(seen) is not int or not 0 <= seen <= self._num_put:
            raise WireError("more was seen than was sent")
        while self._num_put - len(self._unseen) < seen:
            self.num_unseen_bytes -= len(self._unseen.popleft()[0])


async def first_message(socket: Socket) -> Message:
    """Raises WireError."""
    message = await socket.receive()
    if message.type is not aiohttp.WSMsgType.BINARY:
        raise WireError("the connection ended")
    return message_in(message.data)
