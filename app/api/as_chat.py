"""Bodies of other protocols as chat completions: all chats are checked, limited and answered alike."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from aiohttp import web

from app.api.chat_fields import ChatFields
from app.api.json_body import AnyObject, Body, beside, validated
from app.api.state import take_model

Part = TypeVar("Part", bound=Body)


async def as_chat(request: web.Request, body: Callable[[], AnyObject]) -> ChatFields:
    """`body` makes the body of a chat completion of the one that was read; its model is taken.

    Raises ApiError.
    """
    fields = await beside(request, lambda: validated(body(), ChatFields))
    await take_model(request)
    await fields.tokenize_biases(request)
    return fields


def function_tool(name: str | None, description: str | None, parameters: AnyObject | None) -> AnyObject:
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def function_call(call_id: str | None, name: str | None, arguments: object) -> AnyObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant_message(content: object, reasoning: str, calls: list[AnyObject]) -> AnyObject:
    return without_none(
        role="assistant", content=content, reasoning_content=reasoning or None, tool_calls=calls or None
    )


def text_parts(content: str | list[Part] | None, part_of: Callable[[Part], AnyObject]) -> list[AnyObject]:
    if isinstance(content, str):
        return [text_part(content)] if content else []
    return [part_of(part) for part in content or ()]


def named_choice(name: str | None) -> AnyObject:
    return {"type": "function", "function": {"name": name}}


def allowed_choice(mode: str, choices: list[AnyObject]) -> AnyObject:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": choices}}


def schema_format(schema: AnyObject) -> AnyObject:
    return {"type": "json_schema", "json_schema": {"schema": schema}}


def without_unknown(value: Any, types: Collection[str]) -> Any:
    """The type alone of a part that is left out, whose other fields may be anything."""
    kind = value.get("type") if isinstance(value, dict) else None
    return {"type": kind} if kind and isinstance(kind, str) and kind not in types else value


def text_part(text: str) -> AnyObject:
    return {"type": "text", "text": text}


def image_part(url: str) -> AnyObject:
    return {"type": "image_url", "image_url": {"url": url}}


def thinking(thinks: bool | None) -> AnyObject:
    """What chat templates are told of it. None leaves it to the model."""
    return {} if thinks is None else {"enable_thinking": thinks}


def without_none(**fields: object) -> AnyObject:
    return {name: value for name, value in fields.items() if value is not None}
