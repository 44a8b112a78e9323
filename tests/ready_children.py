"""Children that start at once: they are forked from a process that has imported what their module imports.

That takes 0.1 to 0.7 s of a processor. As in the program each is a process of its own, a child of the one
that started it, with an environment, pipes and limits of its own, which has run nothing but imports before.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from app.system import worker

MODULES = (
    "app.attachments.reading_child",
    "app.engine.prompts.chat_child",
    "app.engine.children.comparison_child",
    "app.engine.children.probe_child",
    "app.engine.llama.projector",
    "app.media.reading_child",
    "app.tools.mcp_host",
    "tests.bridge.hanging",
    "tests.bridge.streaming",
    "tests.cli.without_qt",
    "tests.e2e.observed",
    "tests.e2e.scripted",
    "tests.engine.prompts.plain_chat_child",
    "tests.native.answering",
    "tests.native.mtmd_alone",
)
MAX_REQUEST_BYTES = 1 << 20
MAX_FILES = 1000  # that the process that forks may have open
FORKING: set[int] = set()  # the processes that fork, by pid
SET_CHILD_SUBREAPER = 36  # of prctl: orphans below this process become its children


class ReadyChildren:
    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._forks: dict[str, _Fork] = {}  # by module

    def start(self, module: str, request: dict[str, Any], files: Sequence[int]) -> int:
        """The pid of a child of this process."""
        with self._turn:
            if module not in self._forks:
                self._forks[module] = _Fork(module)
            return self._forks[module].start(request, files)

    def close(self) -> None:
        for fork in self._forks.values():
            fork.close()


class _Fork:
    """The process that forks, as its parent sees it."""

    def __init__(self, module: str) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno()), module],
                stdin=subprocess.DEVNULL,
                env={**worker.environment(), "OPENBLAS_NUM_THREADS": "1"},  # threads cannot be forked
                pass_fds=[theirs.fileno()],
            )
        FORKING.add(self._process.pid)

    def start(self, request: dict[str, Any], files: Sequence[int]) -> int:
        _adopt_orphans(True)
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode()], files)
            answer = self._socket.recv(20)
            assert answer, "The process that forks has ended. What it said stands above."
            return int(answer)
        finally:
            _adopt_orphans(False)

    def close(self) -> None:
        self._socket.close()
        FORKING.remove(self._process.pid)
        self._process.wait()


def started_children() -> set[psutil.Process]:
    """Below this process, but not those that fork others, nor those that have ended and wait to be reaped."""
    below = psutil.Process().children(recursive=True)
    return {one for one in below if one.pid not in FORKING and not has_ended(one)}


def has_ended(process: psutil.Process) -> bool:
    """Also a moment ago."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _adopt_orphans(does: bool) -> None:
    assert ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, int(does), 0, 0, 0) == 0


def _module_in(command: Any) -> tuple[str, list[str]]:
    """What `python -m` is to run, and its arguments."""
    program, *arguments = [command] if isinstance(command, str) else map(os.fsdecode, command)
    if program == sys.executable and arguments[:1] == ["-P"]:
        del arguments[0]
    is_module = program == sys.executable and arguments[:1] == ["-m"]
    return (arguments[1], arguments[2:]) if is_module else ("", [])


@contextmanager
def ready_children() -> Iterator[None]:
    """Within it, whoever starts one of MODULES, by whatever of `subprocess` and asyncio, gets a ready one."""
    children = ReadyChildren()
    execute: Any = subprocess.Popen._execute_child  # type: ignore[attr-defined]

    def start(popen: Any, args: Any, *others: Any) -> None:
        module, arguments = _module_in(args)
        if module not in MODULES:
            execute(popen, args, *others)
            return
        folder, env, pipes, leads_group = *others[4:6], others[9:15], others[-2]
        request = {
            "environment": dict(os.environ if env is None else env),
            "arguments": arguments,
            "folder": str(folder or Path.cwd()),
            "leads_group": leads_group,
        }
        stdin, _, _, stdout, _, stderr = pipes
        files = [own if given == -1 else given for own, given in enumerate((stdin, stdout, stderr))]
        try:
            popen.pid = children.start(module, request, files)
        finally:
            popen._close_pipe_fds(*pipes)
        popen._child_created = True

    subprocess.Popen._execute_child = start  # type: ignore[attr-defined]
    try:
        yield
    finally:
        subprocess.Popen._execute_child = execute  # type: ignore[attr-defined]
        children.close()


# The process that forks.


def serve(requests: socket.socket, module: str) -> None:
    """Returns in the process that was asked for, once its module has run; and when nobody asks any more."""
    importlib.import_module(module)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the tests
    while True:
        request, files, _, _ = socket.recv_fds(requests, MAX_REQUEST_BYTES, 3)
        if not request:
            return
        pid = _forked()
        if not pid:
            requests.close()
            _become(module, files, **json.loads(request))
            return
        for file in files:
            os.close(file)
        requests.send(str(pid).encode())


def _forked() -> int:
    """Its pid, or 0 in it. What forked it has ended, so it is an orphan, which the asking process adopts."""
    told, tells = os.pipe()
    between = os.fork()
    if not between:
        if pid := os.fork():
            os.write(tells, str(pid).encode())
            os._exit(0)
        return 0
    os.waitpid(between, 0)
    os.close(tells)
    with os.fdopen(told) as pid_file:
        return int(pid_file.read(20))


def _become(
    module: str,
    files: Sequence[int],
    environment: dict[str, str],
    arguments: list[str],
    folder: str,
    leads_group: bool,
) -> None:
    # What a shell runs in its background ignores these, and the process that forks has inherited that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if leads_group:
        os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for standard, file in enumerate(files):
        os.dup2(file, standard)
    os.closerange(3, MAX_FILES)
    del sys.modules[module]
    sys.argv[1:] = arguments
    sys.orig_argv[:] = [sys.executable, "-m", module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
