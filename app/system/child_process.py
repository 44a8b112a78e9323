"""A module of ours as a child process that is told and tells one JSON value a line.

It lives for code and data of strangers: it can be limited, and killed. Knows nothing of what is said. Any
thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from app import CHILD_OPTION

Child = subprocess.Popen[bytes]


def start(
    module: str,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    *,
    arguments: Sequence[str] = (),
    leads_group: bool = False,
) -> Child:
    """Run `module` as the main program. Who leads a group of processes is killed with all it has started.

    Neither fork, which would copy llama.cpp's threads half-way, nor multiprocessing, which would run the main
    module of whoever uses the engine once more.
    """
    interpreter = [CHILD_OPTION] if getattr(sys, "frozen", False) else ["-P", "-m"]
    return subprocess.Popen(
        [sys.executable, *interpreter, module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        # Without the second one, a native abort would fork a debugger.
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "GGML_NO_BACKTRACE": "1"},
        start_new_session=leads_group,
    )


def send(pipe: IO[bytes] | None, value: object) -> None:
    assert pipe is not None
    pipe.write(json.dumps(value).encode() + b"\n")
    pipe.flush()


def receive(pipe: IO[bytes] | None) -> Any:
    """The next value. Raises EOFError when the other end has closed."""
    assert pipe is not None
    line = pipe.readline()
    if not line:
        raise EOFError
    return json.loads(line)


def kill(child: Child) -> None:
    """Nothing happens if it has ended already."""
    if child.returncode is None and sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError):  # it leads no group
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()


def hang_up(child: Child) -> None:
    """Close its stdin, which asks it to end."""
    stdin, child.stdin = child.stdin, None  # communicate() would flush it
    if stdin:
        stdin.close()


def await_end(child: Child, patience_s: float) -> None:
    """Kill it when it has not ended after so many seconds."""
    try:
        child.wait(patience_s)
    except subprocess.TimeoutExpired:
        kill(child)


def bury(child: Child) -> None:
    """Kill it, wait for its end and close its pipes."""
    kill(child)
    with contextlib.suppress(OSError):  # what it was not told any more
        child.communicate()


# The child's side.


def take_stdout() -> IO[bytes]:
    """Stdout for our words alone: what the native library prints goes to stderr from here on."""
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stdout


def end_with_parent() -> None:
    """From here on, end this process when the other end of its stdin is closed, whatever it is doing."""
    when_parent_ends(lambda: os._exit(1))


def when_parent_ends(call: Callable[[], object]) -> None:
    """Call it on a thread of its own when the other end of stdin is closed."""

    def wait_for_end() -> None:
        while os.read(0, 4096):
            pass
        call()

    threading.Thread(target=wait_for_end, daemon=True, name="parent watch").start()
