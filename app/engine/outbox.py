"""The way out of an engine's thread. Knows nothing of what the reports say."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from app.protocol.report import StepReport


class Outbox:
    """Reports that were not taken yet."""

    def __init__(self, on_ready: Callable[[], None]) -> None:
        """`on_ready` is called on the engine's thread, once until the reports are taken."""
        self._reports: deque[StepReport] = deque()
        self._on_ready = on_ready
        self._has_called = False

    def put(self, report: StepReport) -> None:
        """The engine thread only."""
        self._reports.append(report)
        if not self._has_called:
            self._has_called = True
            self._on_ready()

    def take(self) -> list[StepReport]:
        """All since the last call, oldest first. Any thread."""
        self._has_called = False  # before draining: a report that comes meanwhile calls again
        reports = []
        while self._reports:
            reports.append(self._reports.popleft())
        return reports
