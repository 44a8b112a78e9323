"""What a model reads of the calls in an answer and of their results. Pure functions, any thread."""

import json
from collections.abc import Iterator
from typing import Any

from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object
from app.protocol.request import Message, Role

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
        yield Message(Role.TOOL, told_result(use), named)


def told_result(use: ToolUse) -> str:
    match use.state:
        case ToolState.DONE if use.num_told is not None and use.num_told < len(use.result):
            return use.result[: use.num_told] + _rest_of(use)
        case ToolState.DONE | ToolState.FAILED:
            return use.result
        case ToolState.REFUSED:
            return REFUSED
        case _:
            return STOPPED


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
