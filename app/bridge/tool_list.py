"""Many tools in little room: listed by name and one line, described on demand, and called by their names.

The schemas of a hundred tools would take a quarter of a usual context, and be read before each first answer.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.bridge.tool_rounds import OfferedTool
from app.chats.tool_use import ToolUse
from app.tools.tool import Tool, ToolError, read_arguments, run_by_its_chat

DESCRIBE, CALL = "describe_tool", "call_tool"
MAX_LINE_CHARS = 100
ALWAYS_TOKENS = 1_000  # a list, and looking up some tools of it, would take about as much
CHARS_PER_TOKEN = 4  # of a schema; what is offered must not wait for a model that counts
_NAME = {"type": "string", "description": "Its name in the list."}
_DESCRIBED = {"type": "object", "properties": {"name": _NAME}, "required": ["name"]}
_CALLED = {
    "type": "object",
    "properties": {"name": _NAME, "arguments": {"type": "object"}},
    "required": ["name", "arguments"],
}


def about_tokens(offered: Sequence[OfferedTool]) -> int:
    return len(json.dumps([one.tool.definition for one in offered])) // CHARS_PER_TOKEN


def are_too_many(offered: Sequence[OfferedTool], room: int, max_share: int) -> bool:
    """Whether they need more than `max_share` percent of the context, and more than is worth a list."""
    wanted = max(room * max_share // 100, min(ALWAYS_TOKENS, room // 2))
    return bool(room) and about_tokens(offered) > wanted


def listed(offered: Sequence[OfferedTool]) -> list[OfferedTool]:
    """Two tools in the place of `offered`."""
    by_name = {one.tool.name: one for one in offered}
    lines = "\n".join(f"- {name}: {_line(one.tool.description)}" for name, one in by_name.items())
    describe = _own(
        DESCRIBE, f"Tells what a tool of this list does and takes. The list:\n{lines}", _DESCRIBED
    )
    call = _own(CALL, f"Calls a tool of the list. First ask {DESCRIBE} what it takes.", _CALLED)
    return [
        OfferedTool(describe, partial(_describe, by_name), needs_permission=False),
        OfferedTool(call, _never_run, resolve=partial(_resolve, by_name)),
    ]


def _line(description: str) -> str:
    line = " ".join(description.split("\n", 1)[0].split())
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…"


def _own(name: str, description: str, parameters: dict[str, Any]) -> Tool:
    return Tool(name, name, description, parameters, run_by_its_chat, kind="skein")


async def _describe(by_name: Mapping[str, OfferedTool], _use: ToolUse, arguments: dict[str, Any]) -> str:
    return json.dumps(_found(by_name, arguments).tool.definition["function"], ensure_ascii=False)


def _resolve(
    by_name: Mapping[str, OfferedTool], arguments: dict[str, Any]
) -> tuple[OfferedTool, dict[str, Any]]:
    """What is really called. Raises ToolError, which has the schema where the arguments do not fit it."""
    offered = _found(by_name, arguments)
    parameters = offered.tool.parameters
    try:
        return offered, read_arguments(json.dumps(arguments["arguments"]), parameters)
    except ToolError as error:
        schema = json.dumps(dict(parameters), ensure_ascii=False)
        raise ToolError(f"{error} {offered.tool.name} takes: {schema}") from None


def _found(by_name: Mapping[str, OfferedTool], arguments: dict[str, Any]) -> OfferedTool:
    name = str(arguments["name"])
    if name not in by_name:
        raise ToolError(f"There is no tool {name} in the list.")
    return by_name[name]


async def _never_run(_use: ToolUse, _arguments: dict[str, Any]) -> str:
    raise ToolError("It was not resolved.")
