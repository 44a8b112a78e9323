"""Hosts of MCP servers that start at once. A host's SDK takes 0.7 s of a processor to import.

Each is a process of its own, as in the program, but it is forked from one that has imported all that a host
needs, and has done nothing else.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys

from app.system import child_process
from app.tools.mcp_process import MAX_MESSAGE_BYTES

READY = b"ready"


class ReadyHosts:
    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                env=child_process.environment(),
                pass_fds=[theirs.fileno()],
            )
        assert self._socket.recv(len(READY)) == READY

    async def start(self) -> Host:
        """In the place of `mcp_process.start_host`."""
        (stdin, to_host), (from_host, stdout), (code, code_of_host) = os.pipe(), os.pipe(), os.pipe()
        given = [stdin, stdout, code_of_host]
        socket.send_fds(self._socket, [json.dumps(child_process.environment()).encode()], given)
        for one in given:
            os.close(one)
        pid = int(self._socket.recv(20))
        return Host(pid, await _writer(to_host), await _reader(from_host), await _reader(code))

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


class Host:
    """What is used of an `asyncio.subprocess.Process`."""

    def __init__(
        self, pid: int, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader, code: asyncio.StreamReader
    ) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self.returncode: int | None = None
        self._ended = asyncio.ensure_future(self._note_end(code))

    async def wait(self) -> int | None:
        await asyncio.shield(self._ended)
        return self.returncode

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    async def _note_end(self, code: asyncio.StreamReader) -> None:
        self.returncode = int(await code.read())


async def _reader(pipe: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(MAX_MESSAGE_BYTES)
    file = os.fdopen(pipe, "rb", 0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return reader


async def _writer(pipe: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    file = os.fdopen(pipe, "wb", 0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
    return asyncio.StreamWriter(transport, protocol, None, loop)


# The process that forks.


def serve(requests: socket.socket) -> None:
    from app.tools import mcp_host, mcp_http  # noqa: F401  (a host imports the second one when it needs it)

    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    code_pipes: dict[int, int] = {}  # by the host's pid
    requests.send(READY)
    while True:
        ready, _, _ = select.select([requests, woken], [], [])
        if woken in ready:
            os.read(woken, 1000)
            _tell_ends(code_pipes)
        if requests in ready:
            environment, given, _, _ = socket.recv_fds(requests, 1 << 20, 3)
            if not environment:
                return
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                requests.close()
                _become_host(json.loads(environment), *given)
            requests.send(str(pid).encode())
            stdin, stdout, code_pipes[pid] = given
            os.close(stdin)
            os.close(stdout)


def _tell_ends(code_pipes: dict[int, int]) -> None:
    while code_pipes:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        pipe = code_pipes.pop(pid)
        os.write(pipe, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(pipe)


def _become_host(environment: dict[str, str], stdin: int, stdout: int, code: int) -> None:
    from app.tools import mcp_host

    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    null = os.open(os.devnull, os.O_WRONLY)
    for pipe, standard in ((stdin, 0), (stdout, 1), (null, 2)):
        os.dup2(pipe, standard)
    os.closerange(3, 1000)
    mcp_host.main()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
