"""A child process that works on strangers' programs and data under limits on time and memory.

The parent asks, the child's `serve` answers; both sides of the limits are here. Knows nothing of the work.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from app.system import child_process

MAX_CPU_S = 2
MAX_MEMORY_BYTES = 512 << 20
MAX_WALL_S = 30.0  # a busy machine may take long over two seconds of work
STUCK_S = 60.0  # without any processor time


class LimitReachedError(Exception):
    """The child was killed at one of its limits, or crashed; or it was closed."""

    def __init__(self, *, has_crashed: bool = False) -> None:
        super().__init__()
        self.has_crashed = has_crashed


class LimitedChild:
    """Any thread, one question at a time. A child that was killed is started again with the next question.

    `num_starts` tells whether it is still the one that was asked before.
    """

    def __init__(self, module: str, arguments: object = None, *, max_cpu_s: float = 0.0) -> None:
        """`max_cpu_s` is for a child that stands back for others: see `_CpuTimer`. 0: MAX_WALL_S counts."""
        self._module, self._arguments = module, arguments
        self._max_cpu_s = max_cpu_s
        self._turn = threading.RLock()
        self._child: child_process.Child | None = None
        self._is_closed = False
        self.num_starts = 0

    def start(self) -> None:
        """At once, since starting takes longer than most answers."""
        with self._turn, contextlib.suppress(LimitReachedError):
            self._started()

    def ask(self, question: object) -> tuple[dict[str, Any], bytes]:
        """The child's answer. Raises LimitReachedError."""
        with self._turn:
            child = self._started()
            timer = (
                _CpuTimer(child, self._max_cpu_s)
                if self._max_cpu_s
                else threading.Timer(MAX_WALL_S, child.kill)
            )
            timer.start()
            try:
                child_process.send(child.stdin, question)
                return _receive(child)
            except (EOFError, OSError):
                child_process.reap(child)
                raise LimitReachedError(has_crashed=child_process.has_crashed(child)) from None
            finally:
                timer.cancel()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else asks within the block."""
        with self._turn:
            yield

    def end(self) -> None:
        """Once nobody asks any more; the next question starts it again."""
        with self._turn:
            if self._child:
                child_process.reap(self._child)
                self._child = None

    def close(self) -> None:
        """Also ends work that is under way. No question is answered any more."""
        self._is_closed = True
        if child := self._child:
            child.kill()
            with self._turn:
                child_process.reap(child)

    def _started(self) -> child_process.Child:
        """Raises LimitReachedError if it is closed, which may happen while it starts."""
        if not self._is_closed:
            self._start_anew()
        if self._is_closed:
            if self._child:
                child_process.reap(self._child)
            raise LimitReachedError
        assert self._child
        return self._child

    def _start_anew(self) -> None:
        """Unless it runs."""
        if self._child and self._child.poll() is not None:
            child_process.reap(self._child)
            self._child = None
        if self._child is None:
            self._child = child_process.start(self._module)
            self.num_starts += 1
            with contextlib.suppress(OSError):
                child_process.send(self._child.stdin, self._arguments)


class _CpuTimer(threading.Thread):
    """Kills a child after so much processor time, or when it used none for STUCK_S.

    On a busy machine a child that stands back may take minutes over a second of work.
    """

    def __init__(self, child: child_process.Child, max_cpu_s: float) -> None:
        super().__init__(daemon=True)
        self._child, self._max_cpu_s = child, max_cpu_s
        self._is_over = threading.Event()

    def cancel(self) -> None:
        self._is_over.set()

    def run(self) -> None:
        if self._is_over.wait(STUCK_S):
            return
        import psutil  # which takes time, and few questions get here

        with contextlib.suppress(psutil.Error):  # it is gone
            process = psutil.Process(self._child.pid)
            first_s = last_s = _cpu_s(process.cpu_times())
            while not self._is_over.wait(STUCK_S):
                before_s, last_s = last_s, _cpu_s(process.cpu_times())
                if last_s == before_s or last_s - first_s > self._max_cpu_s:
                    self._child.kill()
                    return


def _cpu_s(times: Any) -> float:
    return float(times.user + times.system)


def _receive(child: child_process.Child) -> tuple[dict[str, Any], bytes]:
    reply = child_process.receive(child.stdout)
    assert child.stdout is not None
    data = child.stdout.read(reply["num_bytes"])
    if len(data) < reply["num_bytes"]:
        raise EOFError
    return reply, data


# The child's side.

Reply = tuple[dict[str, Any], bytes]


def serve(
    begin: Callable[[Any], Callable[[Any], Reply]], cpu_s: Callable[[Any], int] = lambda _question: MAX_CPU_S
) -> None:
    """Calls `begin` with the parent's arguments, and what that returns with each question.

    The work on a question may take `cpu_s` seconds of processor time. The bytes of a reply are not JSON:
    decoding it would stop all threads of the parent for long. Returns when the pipe is closed; a
    limit ends the process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the parent
    _limit_memory()
    with contextlib.suppress(EOFError, OSError):
        answer = begin(child_process.receive(sys.stdin.buffer))
        while True:
            question = child_process.receive(sys.stdin.buffer)
            _limit_cpu(cpu_s(question))
            reply, data = answer(question)
            child_process.send(sys.stdout.buffer, {**reply, "num_bytes": len(data)})
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_cpu(seconds: int) -> None:
    """So many more seconds from here on, then SIGXCPU ends the process."""
    if sys.platform != "win32":
        import math
        import resource

        used: Any = resource.getrusage(resource.RUSAGE_SELF)
        limit = math.ceil(used.ru_utime + used.ru_stime) + seconds
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
