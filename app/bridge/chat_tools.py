"""The tools of one chat: what its requests offer, what that costs, and which calls may run. GUI thread."""

import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from app.bridge.active_engine import ActiveEngine
from app.bridge.chat_limits import ChatLimits
from app.bridge.tool_access import ToolAccess
from app.bridge.tool_cost import ToolCost
from app.bridge.tool_list import are_too_many, listed
from app.bridge.tool_permits import ToolPermits
from app.bridge.tool_results import num_told, read_more
from app.bridge.tool_rounds import Listener, OfferedTool, ToolRounds
from app.chats.chat import Chat, Turn
from app.settings.settings import Settings
from app.tools.tool import Tool


class ChatTools:
    def __init__(
        self,
        chat: Chat,
        engine: ActiveEngine,
        settings: Settings,
        limits: ChatLimits,
        access: ToolAccess,
        parent: QObject,
    ) -> None:
        self._chat, self._engine, self._settings, self._limits = chat, engine, settings, limits
        self._access = access
        self.permits = ToolPermits(access)
        self.cost = ToolCost(engine, parent)

    def is_ready(self) -> bool:
        """No server that was chosen is still starting."""
        return self._access.kit.is_ready(self._chat.tools)

    async def prepare(self) -> None:
        await self._access.kit.prepare(self._chat.tools)

    def missing(self) -> tuple[str, ...]:
        """The MCP servers that were chosen and have not started."""
        return self._access.kit.missing(self._chat.tools)

    def offered(self) -> list[OfferedTool]:
        """What the chat's next request offers."""
        offered = self._chosen()
        if self._are_too_many(offered):
            offered = listed(offered)
        return [*offered, read_more(self._chat, self.num_told)] if offered else []

    @property
    def are_listed(self) -> bool:
        """By name, because their descriptions need too much of the context."""
        return self._are_too_many(self._chosen())

    def _chosen(self) -> list[OfferedTool]:
        if not self._chat.tools or self._chat.is_notebook:
            return []
        kit = self._access.kit
        return [OfferedTool(tool, partial(self._run, tool)) for tool in kit.offered(self._chat.tools)]

    def _are_too_many(self, offered: list[OfferedTool]) -> bool:
        return are_too_many(offered, self._limits.room, self._settings.max_tool_share)

    @property
    def num_tokens(self) -> int | None:
        """What the tools that are offered now cost in each prompt. None: it is not known yet."""
        return self.cost.of(definitions(one.tool for one in self.offered()))

    async def num_told(self, result: str) -> int | None:
        """Of one result no more than a quarter of the context: others follow, and an answer."""
        limit, room = self._settings.max_tool_result_tokens, self._limits.room
        return await num_told(self._engine, result, min(limit, room // 4) if room else limit)

    def rounds(self, turn: Turn, offered: list[OfferedTool], listener: Listener) -> ToolRounds:
        return ToolRounds(turn, offered, self._access, self.permits, self._settings.max_tool_rounds, listener)

    async def _run(self, tool: Tool, arguments: dict[str, Any]) -> str:
        return await self._access.kit.call(tool, arguments, self._chat.id)


def definitions(tools: Iterable[Tool]) -> str:
    """As a request has them. Empty without tools."""
    found = [tool.definition for tool in tools]
    return json.dumps(found) if found else ""
