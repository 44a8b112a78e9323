"""The self-test for another program: one JSON object a line on stdout while it runs, the report last.

It is called off by SIGTERM, or by closing its stdin, which whoever started it and dies does, too. The main
thread.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.protocol.errors import EngineError, ModelLoadCancelledError
from app.protocol.load import LoadParams
from app.selftest.report import Line
from app.selftest.run import self_test
from app.system import child_process

CANCELLED = 130  # exit code, as of a program that Ctrl+C has ended


def tell_program(params: LoadParams) -> int:
    """Tells `{"progress": 0 … 1, "doing": …}` and `{"line": …}`, and `{"report": …}` or `{"error": …}`.

    Returns the exit code. A line comes with its sentences `packed`, too.
    """
    with _cancellation() as is_cancelled:
        try:
            report = self_test(params, _Progress().tell, is_cancelled, _tell_line)
        except ModelLoadCancelledError:
            return CANCELLED
        except EngineError as error:
            _tell(error=str(error))
            return 1
    _tell(report=report.as_json())
    if report.was_cancelled:
        return CANCELLED
    return 0 if report.passed else 1


@contextmanager
def _cancellation() -> Iterator[Callable[[], bool]]:
    """Whether it was called off. No Event: a second signal would wait for the lock that the first holds."""
    calls: list[str] = []
    former = signal.signal(signal.SIGTERM, lambda _number, _frame: calls.append("signal"))
    child_process.when_parent_ends(lambda: calls.append("parent"))
    try:
        yield lambda: bool(calls)
    finally:
        signal.signal(signal.SIGTERM, former)


class _Progress:
    """Tells whole percents only: a load calls for every tensor."""

    def __init__(self) -> None:
        self._last: tuple[int, str] | None = None

    def tell(self, fraction: float, title: str) -> None:
        now = (int(100 * fraction), title)
        if now != self._last:
            self._last = now
            _tell(progress=now[0] / 100, doing=title)


def _tell_line(line: Line) -> None:
    _tell(line=line.as_json(), packed=line.packed())


def _tell(**message: object) -> None:
    child_process.send(sys.stdout.buffer, message)
