"""Calls of tools within an answer, and what came of them. They belong to a turn, and to the GUI thread."""

from dataclasses import dataclass, field
from enum import StrEnum


class ToolState(StrEnum):
    WRITING = "writing"  # the model is writing the call
    ASKING = "asking"  # the user has to allow it
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # the model is told why
    REFUSED = "refused"  # by the user; the model is told so
    STOPPED = "stopped"  # with the answer, or by the end of the program


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


@dataclass(slots=True)
class ToolRound:
    """A part of an answer that ended in calls. `text` is all of it as the model wrote it."""

    text: str = ""
    content: str = ""
    reasoning: str = ""
    uses: list[ToolUse] = field(default_factory=list)
