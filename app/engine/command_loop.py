"""The mailbox and the outbox of an engine's thread, whichever engine it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from app.protocol.commands import AbortAll, Command
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


Letter = TypeVar("Letter")


class CommandLoop(Generic[Letter]):
    """Subclasses run the engine on its thread, and handle what is in the mailbox. None: it is to stop."""

    def __init__(self, interrupt: Callable[[], None], on_reports_ready: Callable[[], None]) -> None:
        """`interrupt` ends a decode under way. `on_reports_ready`: see `Outbox`."""
        self._interrupt = interrupt
        self._mailbox: SimpleQueue[Letter | Command | None] = SimpleQueue()
        self._outbox = Outbox(on_reports_ready)
        self._stopping = False

    # Any thread.

    def post(self, command: Command) -> None:
        """Handled before the next step. Its effect is reported soon, even while nothing is computed."""
        if isinstance(command, AbortAll):
            self._interrupt()
        self._mailbox.put(command)

    def stop(self) -> None:
        """End `run` soon, also in the middle of a decode. Whatever is still open ends with reason ABORT."""
        self._stopping = True
        self._interrupt()
        self._mailbox.put(None)

    def take_reports(self) -> list[StepReport]:
        """All reports since the last call, oldest first."""
        return self._outbox.take()
