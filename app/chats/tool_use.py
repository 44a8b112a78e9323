"""Calls of tools within an answer, what came of them, and what a model reads of both.

They belong to a turn, and to the GUI thread.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object
from app.protocol.output import Usage
from app.protocol.request import Message, Role


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
    THIS_MODEL = "this_model"  # what it writes as text is a call
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
    is_text: bool = False  # the model wrote it as text: the user is asked whether it is a call

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


READ_MORE = "read_more"  # the tool that fetches the rest of a long result
REFUSED = "The user did not allow this call. Go on without it, or ask the user."
STOPPED = "The call was stopped before it ended. Nobody knows whether it took effect."
CUT = "\n[{left:,} of {all:,} characters follow. {tool} with call_id {id} and offset {offset} reads on.]"


def messages_of(round_: ToolRound) -> Iterator[Message]:
    """The calls as the model wrote them, then their results in the same order."""
    if not round_.is_whole:  # it was stopped while it wrote
        yield Message(Role.ASSISTANT, round_.content, written=round_.text)
        return
    fields: dict[str, Any] = {"tool_calls": [_call(use) for use in round_.uses]}
    if round_.reasoning:
        fields["reasoning_content"] = round_.reasoning
    yield Message(Role.ASSISTANT, round_.content, _as_json(fields), written=round_.text)
    for use in round_.uses:
        named = _as_json({"tool_call_id": use.id, "name": use.tool})
        yield Message(Role.TOOL, result_for_model(use), named)


def result_for_model(use: ToolUse) -> str:
    match use.state:
        case ToolState.DONE if use.num_told is not None and use.num_told < len(use.result):
            return use.result[: use.num_told] + _rest_of(use)
        case ToolState.DONE | ToolState.FAILED:
            return use.result
        case ToolState.REFUSED:
            return REFUSED
        case _:  # with what it has told so far
            return "\n\n".join(filter(None, (use.result, STOPPED)))


def _rest_of(use: ToolUse) -> str:
    assert use.num_told is not None
    left = len(use.result) - use.num_told
    return CUT.format(left=left, all=len(use.result), tool=READ_MORE, id=use.id, offset=use.num_told)


def _call(use: ToolUse) -> dict[str, Any]:
    """Templates take the arguments as an object."""
    try:
        arguments = read_object(use.arguments, "The arguments")
    except InvalidRequestError:
        arguments = {}
    return {"id": use.id, "type": "function", "function": {"name": use.tool, "arguments": arguments}}


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
