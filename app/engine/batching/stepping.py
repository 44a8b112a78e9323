"""Pause and single steps: whether the next step may run, and what pauses again.

Works on commands and reports alone: knows neither sequences nor slots. Engine thread only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter

from app.protocol.commands import (
    Pause,
    Resume,
    RunUntil,
    StepOnce,
    StopCondition,
    UntilDecodeFails,
    UntilEnd,
    UntilPosition,
    UntilToken,
)
from app.protocol.report import PauseState, Span, StepReport
from app.system.said import said

NO_WORK = "There is nothing left to compute."

SteppingCommand = Pause | Resume | StepOnce | RunUntil


@dataclass(frozen=True, slots=True)
class SampledId:
    """A token that was sampled in a step, including one that only ended its answer."""

    chat_id: str
    token_id: int


class Stepping:
    """Runs freely, runs until a condition, or is paused."""

    def __init__(self) -> None:
        self.pause: PauseState | None = None  # None: it runs
        self._paused_at = 0.0
        self._until: StepOnce | StopCondition | None = None  # None: it runs freely

    @property
    def is_paused(self) -> bool:
        return self.pause is not None

    @property
    def owes_a_step(self) -> bool:
        """A requested step was not taken yet: later commands come after it."""
        return isinstance(self._until, StepOnce)

    def obey(self, command: SteppingCommand) -> float:
        """Returns how long the pause took, in seconds, if this ends one."""
        paused_s = (
            0.0 if self.pause is None or isinstance(command, Pause) else perf_counter() - self._paused_at
        )
        match command:
            case Pause():
                self._stand_still("")
            case Resume():
                self.pause = self._until = None
            case StepOnce():
                self.pause, self._until = None, command
            case RunUntil(condition):
                self.pause, self._until = None, condition
        return paused_s

    def note_plan(self, planned: tuple[Span, ...]) -> None:
        """What the next step will compute."""
        assert self.pause is not None
        self.pause = PauseState(self.pause.reason, planned)

    def note_step(self, report: StepReport, sampled: Iterable[SampledId]) -> None:
        """A step was taken: pause if it met the condition."""
        if self._until is not None and _has_come_true(self._until, report, sampled):
            self._stand_still(_words(self._until, report))

    def note_no_work(self) -> None:
        """Nothing is left to do: the condition can no longer be met."""
        if self._until is not None:
            self._stand_still(NO_WORK)

    def _stand_still(self, reason: str) -> None:
        if self.pause is None:
            self._paused_at = perf_counter()
        self.pause, self._until = PauseState(reason), None


def _has_come_true(
    condition: StepOnce | StopCondition, report: StepReport, sampled: Iterable[SampledId]
) -> bool:
    match condition:
        case StepOnce():
            return True
        case UntilPosition(seq_id, pos):
            return any(slot.seq_id == seq_id and slot.pos_max >= pos for slot in report.slots)
        case UntilToken(token_id, chat_id):
            return any(one.token_id == token_id and chat_id in (None, one.chat_id) for one in sampled)
        case UntilEnd(chat_id):
            return any(out.finish_reason and chat_id in (None, out.chat_id) for out in report.outputs)
        case UntilDecodeFails():
            return report.return_code != 0


def _words(condition: StepOnce | StopCondition, report: StepReport) -> str:
    match condition:
        case StepOnce():
            return ""
        case UntilPosition(seq_id, pos):
            return said("Sequence {seq_id} reached position {position:,}.", seq_id=seq_id, position=pos)
        case UntilToken(token_id):
            return said("Token {id} was sampled.", id=token_id)
        case UntilEnd(chat_id):
            return said("The answer ended.") if chat_id else said("An answer ended.")
        case UntilDecodeFails():
            return said("llama_decode returned {code}.", code=report.return_code)
