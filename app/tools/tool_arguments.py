"""What is wrong with the arguments of a call, in words for the model. Pure functions.

A grammar makes most models follow the whole schema, and servers check for themselves: this finds what models
get wrong without one. A schema is a stranger's, so none of its patterns are tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object
from app.tools.tool import ToolError

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def read_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Raises ToolError."""
    try:
        arguments = read_object(text, "The arguments")
    except InvalidRequestError as error:
        raise ToolError(str(error)) from error
    if problem := _problem(arguments, schema):
        raise ToolError(problem)
    return arguments


def _problem(arguments: dict[str, Any], schema: Mapping[str, Any]) -> str:
    properties, required = schema.get("properties"), schema.get("required")
    known: dict[str, Any] = properties if isinstance(properties, dict) else {}
    needed = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    if missing := [name for name in needed if name not in arguments]:
        return f"The arguments lack {', '.join(missing)}."
    if schema.get("additionalProperties") is False and (unknown := arguments.keys() - known.keys()):
        return f"There is no argument {min(unknown)}. There are: {', '.join(known) or 'none'}."
    for name, value in arguments.items():
        kinds = _kinds(known.get(name))
        if kinds and not any(_is_of(value, kind) for kind in kinds):
            return f"The argument {name} must be of type {' or '.join(kinds)}."
    return ""


def _kinds(schema: Any) -> list[str]:
    """Empty: any, or one that is not known here."""
    kinds = schema.get("type") if isinstance(schema, dict) else None
    named = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    return named if all(isinstance(kind, str) and kind in _KINDS for kind in named) else []


def _is_of(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _KINDS[kind]) or (
        kind == "integer" and isinstance(value, float) and value.is_integer()
    )
