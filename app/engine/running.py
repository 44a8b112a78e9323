"""The interface of a running engine, in this process or another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol, TypeVar

from app.protocol.commands import Command
from app.protocol.report import StepReport

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

T = TypeVar("T")


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
