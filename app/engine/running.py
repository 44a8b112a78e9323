"""A running engine, in this process or another: its interface, and the mailbox and outbox of its thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from app.protocol.commands import AbortAll, Command
from app.protocol.report import StepReport

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

T = TypeVar("T")
Letter = TypeVar("Letter")


class RunningEngine(Protocol):
    """`EngineLoop` on a thread of this process, `EngineProcess` in another. Any thread, but for `run`."""

    def post(self, command: Command) -> None:
        """Handled before its next step. Returns at once."""

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """Call `work` where templates are rendered and texts are tokenized."""

    def take_reports(self) -> list[StepReport]:
        """All since the last call, oldest first."""

    def stop(self) -> None:
        """End `run` soon, also in the middle of a decode. Whatever is still open ends with reason ABORT."""

    def run(self) -> None:
        """On the engine thread. Raises EngineError when it cannot go on; all requests have ended then."""


class CommandLoop(Generic[Letter]):
    """Subclasses run the engine on its thread, and handle what is in the mailbox. None: it is to stop."""

    def __init__(self, interrupt: Callable[[], None], on_reports_ready: Callable[[], None]) -> None:
        """`interrupt` ends a decode under way.

        `on_reports_ready` is called on the engine's thread, once until the reports are taken.
        """
        self._interrupt = interrupt
        self._mailbox: SimpleQueue[Letter | Command | None] = SimpleQueue()
        self._reports: deque[StepReport] = deque()  # that were not taken yet
        self._on_reports_ready = on_reports_ready
        self._has_called = False
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
        self._has_called = False  # before draining: a report that comes meanwhile calls again
        reports = []
        while self._reports:
            reports.append(self._reports.popleft())
        return reports

    # The engine thread only.

    def put_report(self, report: StepReport) -> None:
        self._reports.append(report)
        if not self._has_called:
            self._has_called = True
            self._on_reports_ready()
