"""Bodies of other protocols as chat completions: all chats are checked, limited and answered alike."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from aiohttp import web

from app.api.chat_fields import ChatFields
from app.api.json_body import beside, validated

AnyObject = dict[str, Any]


async def as_chat(request: web.Request, body: Callable[[], AnyObject]) -> ChatFields:
    """`body` makes the body of a chat completion of the one that was read. Raises ApiError."""
    fields = await beside(request, lambda: validated(body(), ChatFields))
    await fields.tokenize_biases(request)
    return fields


def function_tool(name: str | None, description: str | None, parameters: AnyObject | None) -> AnyObject:
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def named_choice(name: str | None) -> AnyObject:
    return {"type": "function", "function": {"name": name}}


def allowed_choice(mode: str, choices: list[AnyObject]) -> AnyObject:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": choices}}


def schema_format(schema: AnyObject) -> AnyObject:
    return {"type": "json_schema", "json_schema": {"schema": schema}}


def without_unknown(value: Any, types: Collection[str]) -> Any:
    """Of a part that is left out its type alone: its other fields may be anything."""
    kind = value.get("type") if isinstance(value, dict) else None
    return {"type": kind} if kind and isinstance(kind, str) and kind not in types else value


def text_part(text: str) -> AnyObject:
    return {"type": "text", "text": text}


def image_part(url: str) -> AnyObject:
    return {"type": "image_url", "image_url": {"url": url}}


def thinking(thinks: bool | None) -> AnyObject:
    """What chat templates are told of it. None leaves it to the model."""
    return {} if thinks is None else {"enable_thinking": thinks}


def given(**fields: object) -> AnyObject:
    """Those that have a value."""
    return {name: value for name, value in fields.items() if value is not None}
