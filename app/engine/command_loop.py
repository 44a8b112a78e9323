"""The mailbox and the outbox of an engine's thread, whichever engine it is."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from app.engine.outbox import Outbox
from app.protocol.commands import AbortAll, Command
from app.protocol.report import StepReport

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
