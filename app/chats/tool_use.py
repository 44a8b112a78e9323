"""Calls of tools within an answer, and what came of them. They belong to a turn, and to the GUI thread."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from app.protocol.output import Usage


class ToolState(StrEnum):
    WRITING = "writing"  # the model is writing the call
    ASKING = "asking"  # the user has to allow it
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # the model is told why
    REFUSED = "refused"  # by the user; the model is told so
    STOPPED = "stopped"  # with the answer, or by the end of the program


_UNFINISHED = frozenset({ToolState.WRITING, ToolState.ASKING, ToolState.RUNNING})


class Decision(StrEnum):
    """The user's, on a call that asks."""

    ONCE = "once"
    THIS_CHAT = "this_chat"
    ALWAYS = "always"
    NEVER = "never"
    REFUSE = "refuse"


@dataclass(slots=True)
class ToolUse:
    """`tool` is its name as the model wrote it, `arguments` a JSON object as text, `result` all of it."""

    id: str
    tool: str
    arguments: str = ""
    state: ToolState = ToolState.WRITING
    result: str = ""
    seconds: float = 0.0  # from the start of the call to its end
    num_told: int | None = None  # characters of the result that the model reads unasked; None: all

    @property
    def is_unfinished(self) -> bool:
        return self.state in _UNFINISHED


@dataclass(slots=True)
class ToolRound:
    """A part of an answer that ended in calls. `text` is all of it as the model wrote it.

    `usage` is that of this part alone.
    """

    text: str = ""
    content: str = ""
    reasoning: str = ""
    uses: list[ToolUse] = field(default_factory=list)
    is_whole: bool = False  # the model has ended it; else it is being written, or was stopped in the middle
    thinking_s: float = 0.0
    usage: Usage = field(default_factory=Usage)

    def stop(self) -> None:
        """Its calls are not run any more."""
        for use in self.uses:
            if use.is_unfinished:
                use.state = ToolState.STOPPED

    def copied(self) -> "ToolRound":
        return replace(self, uses=[replace(use) for use in self.uses])
