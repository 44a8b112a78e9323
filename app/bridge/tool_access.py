"""What all sessions share of tools: who knows them, and who reads answers with calls. GUI thread."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.engine.prompts.message_reader import MessageReaders
from app.tools.tool import Approval, Tool, ToolError, ToolKit


class NoTools:
    """The kit until there is another."""

    def offered(self, _chosen: Sequence[str]) -> tuple[Tool, ...]:
        return ()

    def is_ready(self, _chosen: Sequence[str]) -> bool:
        return True

    async def prepare(self, _chosen: Sequence[str]) -> None: ...

    def missing(self, _chosen: Sequence[str]) -> tuple[str, ...]:
        return ()

    def approval(self, _tool: Tool) -> Approval:
        return Approval.NEVER

    def set_approval(self, _tool: Tool, _approval: Approval) -> None: ...

    def calls_in_text(self, _model: str) -> bool:
        return False

    def set_calls_in_text(self, _model: str) -> None: ...

    async def call(self, tool: Tool, _arguments: Mapping[str, Any], _chat_id: str) -> str:
        raise ToolError(f"There is no tool {tool.name}.")


class ToolAccess:
    def __init__(self) -> None:
        self.kit: ToolKit = NoTools()
        self.readers = MessageReaders()

    def close(self) -> None:
        self.readers.close()
