"""Tools as text of a chat, for chat templates that have no place for them.

In the words of Hermes and Qwen 2.5, which most models have read: tools as JSON in the system message, calls
as JSON between tags, results as a user's message. Pure functions on messages as a template takes them.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

Turn = dict[str, Any]

SHORT_ID = re.compile("[a-zA-Z0-9]{9}")
CALL = '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
IN_OUR_FORMAT = (
    "For each function call, return a json object with function name and arguments within "
    f"<tool_call></tool_call> XML tags:\n{CALL}"
)
IN_ITS_FORMAT = "For each function call, write:\n{example}"  # of the template
DESCRIPTION = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n"
    "<tools>\n{tools}\n</tools>\n\n{how}"
)


def described(turns: list[Turn], tools: list[Any], how: str) -> list[Turn]:
    """The chat with `tools` in its system message, and `how` to call them."""
    lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    text = DESCRIPTION.format(tools=lines, how=how)
    if turns and turns[0]["role"] == "system":
        first, *rest = turns
        return [{**first, "content": f"{first['content']}\n\n{text}".lstrip()}, *rest]
    return [{"role": "system", "content": text}, *turns]


def as_text(turns: list[Turn]) -> list[Turn]:
    """The chat with calls in what the assistant said, and their results in what the user said next."""
    written: list[Turn] = []
    holds_results = False  # the last one written
    for turn in turns:
        is_result = turn["role"] == "tool"
        if is_result:
            turn = {"role": "user", "content": f"<tool_response>\n{turn['content']}\n</tool_response>"}
        elif calls := turn.get("tool_calls"):
            turn = {name: value for name, value in turn.items() if name != "tool_calls"}
            turn["content"] = "\n".join(filter(None, [turn["content"], *map(_call, calls)]))
        if holds_results and turn["role"] == "user":  # many templates want user and assistant in turn
            turn = {**turn, "content": f"{written.pop()['content']}\n{turn['content']}"}
        written.append(turn)
        holds_results = is_result
    return written


def with_short_ids(turns: list[Turn]) -> list[Turn]:
    """The chat with ids of nine letters and digits, which are all that Mistral's templates take."""
    return [_with_short_ids(turn) for turn in turns]


def _with_short_ids(turn: Turn) -> Turn:
    if turn["role"] == "tool":
        return {**turn, "tool_call_id": _short(turn.get("tool_call_id"))}
    if calls := turn.get("tool_calls"):
        return {**turn, "tool_calls": [{**call, "id": _short(call.get("id"))} for call in calls]}
    return turn


def _short(call_id: str | None) -> str:
    if call_id and SHORT_ID.fullmatch(call_id):
        return call_id
    return hashlib.sha256((call_id or "").encode("utf-8", "replace")).hexdigest()[:9]


def _call(call: dict[str, Any]) -> str:
    function = call["function"]
    called = {"name": function["name"], "arguments": function["arguments"]}
    return f"<tool_call>\n{json.dumps(called, ensure_ascii=False)}\n</tool_call>"
