"""What a tool is: how a model is told of it, and what comes of a call."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Result = dict[str, Any]
# Takes the model's arguments, and what the caller adds that the model cannot choose.
Call = Callable[[Mapping[str, Any], "Surroundings"], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class CallProgress:
    """Of a call that goes on. `total` is None where the end is not known."""

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

    @property
    def server(self) -> str:
        return self.key.partition("/")[0]

    @property
    def definition(self) -> dict[str, Any]:
        """As OpenAI's `tools` have it."""
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
