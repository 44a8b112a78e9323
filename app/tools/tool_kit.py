"""What a chat knows of tools: which it may offer its model, and how to call one."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from app.tools.tool import Tool


class Approval(StrEnum):
    """Of a tool, by the user, for all chats."""

    ASK = "ask"
    ALWAYS = "always"
    NEVER = "never"


class ToolKit(Protocol):
    """GUI thread."""

    def offered(self, chosen: Sequence[str]) -> tuple[Tool, ...]:
        """Of the keys that a chat has chosen, the tools that are there and not forbidden."""

    def is_ready(self, chosen: Sequence[str]) -> bool:
        """Nothing that was chosen is still to start."""

    async def prepare(self, chosen: Sequence[str]) -> None:
        """Returns when that is so, or after some seconds."""

    def missing(self, chosen: Sequence[str]) -> tuple[str, ...]:
        """The MCP servers of these whose tools are not offered: they have not started, or cannot."""

    def approval(self, tool: Tool) -> Approval: ...

    def set_approval(self, tool: Tool, approval: Approval) -> None: ...

    async def call(self, tool: Tool, arguments: Mapping[str, Any], chat_id: str) -> str:
        """What the model is told. Raises ToolError. Cancelling it cancels the call."""
