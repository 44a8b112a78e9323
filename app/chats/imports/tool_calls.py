"""Calls of tools in messages as OpenAI has them, and the results behind them. Any thread."""

import json
from collections.abc import Iterable
from typing import Any

from app.chats.imports.sketch import Node, fields_of, id_of, items_of, name_of, text_of
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.json_object import check_size

MAX_CALLS = 1_000


def take_calls(node: Node, calls: object) -> None:
    """`calls` is a list, or JSON of one. What was said before them is part of the round."""
    uses = [_use(fields_of(each)) for each in items_of(_read(calls))[:MAX_CALLS]]
    if uses:
        node.rounds = (ToolRound("", node.text, node.thinking, uses, is_whole=True),)
        node.text = node.thinking = ""


def join_results(nodes: Iterable[Node], call_ids: dict[str, str]) -> None:
    """`call_ids` by node, in the file's order: what was called there. A result becomes part of its call."""
    by_id = {node.id: node for node in nodes}
    open_calls = {
        node.id: {use.id: use for round_ in node.rounds for use in round_.uses}
        for node in by_id.values()
        if node.rounds
    }
    for node_id, call_id in call_ids.items():
        result = by_id[node_id]
        calls = open_calls.get(result.parent, {})
        open_calls[node_id] = calls  # the next result follows this one
        if use := calls.get(call_id):
            use.result, use.state = result.text, ToolState.DONE
            result.is_message = False


def _use(call: dict[str, Any]) -> ToolUse:
    function = fields_of(call.get("function"))
    arguments = function.get("arguments")
    written = text_of(arguments) if isinstance(arguments, str) else json.dumps(fields_of(arguments))
    return ToolUse(id_of(call.get("id")), name_of(function.get("name")), written, ToolState.STOPPED)


def _read(calls: object) -> object:
    if not isinstance(calls, str):
        return calls
    try:
        check_size(calls.encode("utf-8", "replace"))
        return json.loads(calls)
    except (ValueError, RecursionError):
        return None
