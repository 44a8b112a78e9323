"""Runs one of our modules as a child process; messages are JSON, one a line.

For untrusted code and data: a child can be limited, and killed. Knows nothing of the messages. Any thread.
"""

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
    """Run `module` as the main program. A group leader is killed together with all its children.

    Neither fork, which would copy llama.cpp's threads half-way, nor multiprocessing, which would import the
    parent's main module again.
    """
    return subprocess.Popen(
        command(module, arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=environment(),
        start_new_session=leads_group,
    )


def command(module: str, arguments: Sequence[str] = ()) -> list[str]:
    interpreter = [CHILD_OPTION] if getattr(sys, "frozen", False) else ["-P", "-m"]
    return [sys.executable, *interpreter, module, *arguments]


def environment() -> dict[str, str]:
    # Without the second one, a native abort would fork a debugger.
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "GGML_NO_BACKTRACE": "1"}


def send(pipe: IO[bytes] | None, value: object) -> None:
    assert pipe is not None
    pipe.write(json.dumps(value).encode() + b"\n")
    pipe.flush()


def receive(pipe: IO[bytes] | None) -> Any:
    """The next message. Raises EOFError when the pipe is closed."""
    assert pipe is not None
    line = pipe.readline()
    if not line:
        raise EOFError
    return json.loads(line)


def kill(child: Child) -> None:
    """No effect if it has ended already."""
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


def has_crashed(child: Child) -> bool:
    """It has ended by an error of native code, and nobody has killed it."""
    code = child.returncode
    assert code is not None, "reap it before"
    if sys.platform == "win32":
        return code >= 0xC0000000  # an exception, such as an access violation
    return -code in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


def reap(child: Child) -> None:
    """Kill it, wait for its end and close its pipes."""
    kill(child)
    with contextlib.suppress(OSError):  # unsent input
        child.communicate()


# The child's side.


def take_stdout() -> IO[bytes]:
    """Reserve stdout for messages: from here on, output of the native library goes to stderr."""
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stdout


def stand_back() -> None:
    """The steps of running answers go first. A crash leaves no core file."""
    if sys.platform != "win32":
        import resource

        os.nice(10)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


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
