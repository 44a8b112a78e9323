"""A server's process and its pipes, in the child process that speaks with it: lines within limits.

The SDK's own transport reads lines of any length, and leaves behind what a server has started. Here a message
that is too long costs its request, a flood is read slowly, and all that the server has started ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import re
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

import anyio
import mcp_types as types
import psutil
from mcp.shared.message import SessionMessage

from app.system import worker

log = logging.getLogger(__name__)

MAX_LINE_BYTES, MAX_SKIPPED_BYTES = 16 << 20, 256 << 20
MAX_LOG_CHARS = 2000
PIECE_BYTES = 1 << 16
# A flood is read no faster than this part of one processor can.
FLOOD_SHARE, FLOOD_BURST_S, FLOOD_SLEEP_S = 0.25, 1.0, 0.5
LOG_EVERY_S = 0.02
ASK_S, TERM_S = 1.0, 1.0  # after its stdin is closed, and after SIGTERM
POLL_S, LOOK_EVERY_S = 0.01, 0.1
LAST_WORDS_S = 1.0  # of its log; a child of it may hold the pipe open
MAX_MEMORY_BYTES = 2 << 30  # of this process; to parse 16 MiB of brackets takes 1 GiB
_ENDS = 4096  # of a line that is too long: where its id is looked for
_ID = re.compile(rb'"id"\s*:\s*(?:(\d{1,18})|"([\w-]{1,100})")')
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None

Streams = tuple[Any, Any]  # of SessionMessage: to read from, and to write to


class TooLongError(Exception):
    """A line without an end. `id`: of the request that it answers, if that can be told."""

    def __init__(self, number: int | str | None) -> None:
        super().__init__(number)
        self.id = number


def contain() -> None:
    """From here on, this process inherits what its children leave behind, and cannot fill the memory."""
    if _libc is not None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        worker.limit(AS=MAX_MEMORY_BYTES)


def kill_all() -> None:
    """Every process that was started from here, and by those; also one that has left its group."""
    for _ in range(20):  # one may start another while we look
        left = [one for one in psutil.Process().children(recursive=True) if _is_alive(one)]
        if not left:
            return
        for one in left:
            with contextlib.suppress(psutil.Error):
                one.kill()
        psutil.wait_procs(left, timeout=0.2)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _begin_child(parent: int) -> None:
    """Between fork and exec: it dies with us, and our limit of memory is not its."""
    if _libc is not None:
        import resource

        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        if os.getppid() != parent:
            os._exit(1)


class ServerProcess:
    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: str | None,
        on_log: Callable[[list[str]], None],
    ) -> None:
        self._command, self._environment, self._folder = command, environment, folder
        self._on_log = on_log
        self._waiting: set[int | str] = set()  # requests without an answer
        self.ended, self._log_ended = asyncio.Event(), asyncio.Event()
        self._is_asked_to_end = False
        self.exit_code: int | None = None  # None: it has not ended by itself
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    async def start(self) -> None:
        """Raises OSError and ValueError."""
        parent = os.getpid()
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._folder,
            env=dict(self._environment),
            limit=PIECE_BYTES,
            start_new_session=True,
            preexec_fn=None if sys.platform == "win32" else lambda: _begin_child(parent),
        )

    async def end_of_it(self) -> None:
        """Returns when it has ended, or ended the connection, unasked.

        A child of it may hold its pipes open.
        """
        assert self._process
        while self._is_asked_to_end or (self._process.returncode is None and not self.ended.is_set()):
            await asyncio.sleep(LOOK_EVERY_S)
        if await self._has_ended(LOOK_EVERY_S):
            await self._hear_last_words()
        self.exit_code = self._process.returncode

    @contextlib.asynccontextmanager
    async def streams(self) -> AsyncGenerator[Streams, None]:
        """Once. The process ends with it."""
        read_in, read_out = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_in, write_out = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.ensure_future(work)
            for work in (self._read(read_in), self._write(write_out), self._read_log())
        ]
        try:
            async with read_out, write_in:
                yield read_out, write_in
        finally:
            with anyio.CancelScope(shield=True):
                await self._end()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, out: Any) -> None:
        assert self._process
        assert self._process.stdout
        async with out:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._deliver(StderrLines(self._process.stdout), out)
            self.ended.set()  # before the SDK hears of it
        # The server can write on then, and end by itself.
        while await self._process.stdout.read(PIECE_BYTES):
            await asyncio.sleep(LOG_EVERY_S)

    async def _deliver(self, lines: StderrLines, out: Any) -> None:
        """Until it ends."""
        while True:
            try:
                line = await lines.next()
                if not line:
                    return
                unreadable = "The answer of the server cannot be read."
                message = _message(line) or self._error_for(_id_in(line, line), unreadable)
            except TooLongError as error:
                too_long = f"The result is longer than {MAX_LINE_BYTES >> 20} MiB."
                message = self._error_for(error.id, too_long)
                if message is None:
                    self._on_log([f"It wrote a line of over {MAX_LINE_BYTES >> 20} MiB."])
                    return
            if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                self._waiting.discard(message.id)
            if message is not None:
                await out.send(SessionMessage(message))

    def _error_for(self, number: int | str | None, why: str) -> types.JSONRPCMessage | None:
        """In place of the answer to a request; None where there is no such request."""
        if number not in self._waiting:
            return None
        return types.JSONRPCError(
            jsonrpc="2.0", id=number, error=types.ErrorData(code=types.INTERNAL_ERROR, message=why)
        )

    async def _write(self, messages: Any) -> None:
        assert self._process
        assert self._process.stdin
        async with messages:
            with contextlib.suppress(OSError):
                async for session_message in messages:
                    message = session_message.message
                    if isinstance(message, types.JSONRPCRequest):
                        self._waiting.add(message.id)
                    text = message.model_dump_json(by_alias=True, exclude_unset=True)
                    self._process.stdin.write(text.encode() + b"\n")
                    await self._process.stdin.drain()
                return
            self.ended.set()

    async def _read_log(self) -> None:
        assert self._process
        assert self._process.stderr
        rest = b""
        while piece := await self._process.stderr.read(PIECE_BYTES):
            *lines, rest = (rest + piece).split(b"\n")
            rest = rest[-MAX_LOG_CHARS:]
            if lines:
                self._on_log([line[:MAX_LOG_CHARS].decode("utf-8", "replace") for line in lines[-500:]])
            await asyncio.sleep(LOG_EVERY_S)
        if rest:
            self._on_log([rest.decode("utf-8", "replace")])
        self._log_ended.set()

    async def _end(self) -> None:
        assert self._process
        self._is_asked_to_end = True
        if self._process.stdin:
            self._process.stdin.close()
        if await self._has_ended(ASK_S):
            await self._hear_last_words()
            self.exit_code = self._process.returncode
        elif sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGTERM)
            await self._has_ended(TERM_S)
        kill_all()
        await self._has_ended(TERM_S)
        self._process._transport.close()  # type: ignore[attr-defined]  # a pipe may still be open elsewhere

    async def _hear_last_words(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._log_ended.wait(), LAST_WORDS_S)

    async def _has_ended(self, within_s: float) -> bool:
        """Not by `wait`, which waits for the pipes, too."""
        assert self._process
        give_up_at = time.monotonic() + within_s
        while self._process.returncode is None:
            if time.monotonic() > give_up_at:
                return False
            await asyncio.sleep(POLL_S)
        return True


class StderrLines:
    """Lines of a stream that may have too long ones, or no end of one. Reads no more ahead than a piece."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream
        self._read = bytearray()
        self._num_searched = 0
        self._pace = _Pace()

    async def next(self) -> bytes:
        """With its end; b"" at the end of all. Raises TooLongError when one was left out."""
        head = b""
        num_skipped = 0
        while (end := self._read.find(b"\n", self._num_searched) + 1) == 0:
            self._num_searched = len(self._read)
            if len(self._read) > MAX_LINE_BYTES or (head and len(self._read) > _ENDS):
                head = head or bytes(self._read[:_ENDS])
                num_skipped += len(self._read) - _ENDS
                self._take(len(self._read) - _ENDS)
            await self._pace.wait()
            piece = await self._stream.read(PIECE_BYTES)
            if not piece or num_skipped > MAX_SKIPPED_BYTES:
                end = len(self._read)
                break
            self._read += piece if self._read else piece.lstrip(b"\n")
        line = self._take(end)
        if head:
            raise TooLongError(_id_in(head, line) if line.endswith(b"\n") else None)
        return line

    def _take(self, num_bytes: int) -> bytes:
        taken = bytes(self._read[:num_bytes])
        del self._read[:num_bytes]
        self._num_searched = max(self._num_searched - num_bytes, 0)
        return taken


def _id_in(head: bytes, tail: bytes) -> int | str | None:
    """Some write it before the result, some behind it."""
    start, tail = head[:_ENDS].partition(b'"result"')[0], tail[-_ENDS:]
    found = _ID.search(start) or next(iter(reversed(list(_ID.finditer(tail)))), None)
    if found is None:
        return None
    return int(found[1]) if found[1] else found[2].decode()


def _message(line: bytes) -> types.JSONRPCMessage | None:
    """None for what is no message."""
    try:
        message: types.JSONRPCMessage = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        return None
    return message


class _Pace:
    """Lets a burst pass, and then no more than a share of a processor can read."""

    def __init__(self) -> None:
        self._left, self._at, self._used = FLOOD_BURST_S, time.monotonic(), time.process_time()

    async def wait(self) -> None:
        now, used = time.monotonic(), time.process_time()
        earned = FLOOD_SHARE * (now - self._at)
        self._left = min(FLOOD_BURST_S, self._left + earned) - (used - self._used)
        self._at, self._used = now, used
        if self._left < 0:
            await asyncio.sleep(min(-self._left / FLOOD_SHARE, FLOOD_SLEEP_S))
