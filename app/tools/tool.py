"""What a tool is: how a model is told of it, and what comes of a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Result = dict[str, Any]
# Takes the model's arguments, and what the caller adds that the model cannot choose.
Call = Callable[[Mapping[str, Any], "Surroundings"], Awaitable[Result]]


class ToolError(Exception):
    """The call failed; the model is told why."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`folder`: where relative paths begin; "": the program's own."""

    folder: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """`parameters` is a JSON schema. `writes`: it changes something."""

    name: str
    title: str
    description: str
    parameters: Mapping[str, Any]
    call: Call = field(repr=False)
    kind: str = "server"
    server: str = ""  # "": none, or a built-in one
    writes: bool = False
    uses_folder: bool = False

    @property
    def key(self) -> str:
        """What the user chooses and allows it by, also at the next start."""
        return f"{self.server or 'skein'}/{self.name}"

    @property
    def definition(self) -> dict[str, Any]:
        """As OpenAI's `tools` have it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}
