"""The self-test for another program: JSON lines on stdout while it runs, the report last.

Cancelled by SIGTERM, or when its stdin is closed, as happens when the parent dies. The main thread.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.protocol.errors import EngineError, ModelLoadCancelledError
from app.protocol.load import LoadParams
from app.selftest.report import ReportLine
from app.selftest.run import self_test
from app.system import worker

CANCELLED = 130  # exit code, as of a program that Ctrl+C has ended


def report_as_json_lines(params: LoadParams) -> int:
    """Writes `{"progress": 0 … 1, "doing": …}` and `{"line": …}`, then `{"report": …}` or `{"error": …}`.

    Returns the exit code. A line also has its translatable sentences, `packed`.
    """
    with _cancellation() as is_cancelled:
        try:
            report = self_test(params, _Progress().report, is_cancelled, _send_line)
        except ModelLoadCancelledError:
            return CANCELLED
        except EngineError as error:
            _send(error=str(error))
            return 1
    _send(report=report.as_json())
    if report.was_cancelled:
        return CANCELLED
    return 0 if report.passed else 1


@contextmanager
def _cancellation() -> Iterator[Callable[[], bool]]:
    """Whether it was cancelled. Not an Event: a second signal would wait for the lock of the first."""
    calls: list[str] = []
    former = signal.signal(signal.SIGTERM, lambda _number, _frame: calls.append("signal"))
    threading.Thread(target=_hear_parent, args=(calls,), daemon=True, name="parent").start()
    try:
        yield lambda: bool(calls)
    finally:
        signal.signal(signal.SIGTERM, former)


def _hear_parent(calls: list[str]) -> None:
    while os.read(0, 4096):
        pass
    calls.append("parent")


class _Progress:
    """Reports whole percents only: a load calls for every tensor."""

    def __init__(self) -> None:
        self._last: tuple[int, str] | None = None

    def report(self, fraction: float, title: str) -> None:
        now = (int(100 * fraction), title)
        if now != self._last:
            self._last = now
            _send(progress=now[0] / 100, doing=title)


def _send_line(line: ReportLine) -> None:
    _send(line=line.as_json(), packed=line.packed())


def _send(**message: object) -> None:
    worker.send(sys.stdout.buffer, message)
