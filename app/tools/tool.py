"""What a tool is: how a model is told of it, which a chat may offer, and what comes of a call."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object

Result = dict[str, Any]
# Takes the model's arguments, and what the caller adds that the model cannot choose.
Call = Callable[[Mapping[str, Any], "Surroundings"], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class CallProgress:
    """The progress of a call that goes on. `total` is None where the end is not known."""

    done: float
    total: float | None
    message: str


class ToolError(Exception):
    """The call failed; the model is told why."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`folder`: where relative paths begin; "": the program's own. `chat_id`: "" where there is none."""

    folder: str = ""
    chat_id: str = ""
    on_progress: Callable[[CallProgress], None] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """`parameters` is a JSON schema. `writes`: it may change something.

    `name` is for the model, `key` for the user's choices: "server/tool", and "" for the tools of the API.
    """

    name: str
    title: str
    description: str
    parameters: Mapping[str, Any]
    call: Call = field(repr=False)
    kind: str = "server"
    writes: bool = False
    uses_folder: bool = False
    key: str = ""
    always_asks: bool = False  # whatever the user has allowed
    is_harmless: bool = False  # it reads nothing but the chat that asks: allowed from the start

    @property
    def server(self) -> str:
        return self.key.partition("/")[0]

    @property
    def definition(self) -> dict[str, Any]:
        """The form of OpenAI's `tools`."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}


def text_of(result: Result) -> str:
    """What a model reads of it."""
    text = result.get("plain_text_response")
    return text if isinstance(text, str) else json.dumps(result, ensure_ascii=False)


async def run_by_its_chat(_arguments: Mapping[str, Any], _where: Surroundings) -> Result:
    """In the place of a call, for a tool that needs more of the chat than a `Call` is told."""
    raise ToolError("It is run by its chat.")


class Approval(StrEnum):
    """The user's decision about a tool, for all chats."""

    ASK = "ask"
    ALWAYS = "always"
    NEVER = "never"


class ToolKit(Protocol):
    """GUI thread."""

    def offered(self, chosen: Sequence[str]) -> tuple[Tool, ...]:
        """The tools that a chat has chosen, as far as they are there and not forbidden."""

    def is_ready(self, chosen: Sequence[str]) -> bool:
        """Nothing that was chosen is still to start."""

    async def prepare(self, chosen: Sequence[str]) -> None:
        """Returns when that is so, or after some seconds."""

    def missing(self, chosen: Sequence[str]) -> tuple[str, ...]:
        """The MCP servers of these whose tools are not offered: they have not started, or cannot."""

    def approval(self, tool: Tool) -> Approval: ...

    def set_approval(self, tool: Tool, approval: Approval) -> None: ...

    def calls_in_text(self, model: str) -> bool:
        """Whether a call that this model writes as text counts as one."""

    def set_calls_in_text(self, model: str) -> None: ...

    async def call(self, tool: Tool, arguments: Mapping[str, Any], chat_id: str) -> str:
        """What the model is told. Raises ToolError. Cancelling it cancels the call."""


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
    """The arguments of a call. Raises ToolError, which tells the model what is wrong with them.

    A grammar makes most models follow the whole schema, and servers check for themselves: this finds what
    models get wrong without one. A schema is a stranger's, so none of its patterns are tried.
    """
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
