"""All tools of a server: built-in ones and those of MCP servers. Any asyncio loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from app.tools.mcp_server import McpConfig, McpServer
from app.tools.tool import Result, Surroundings, Tool, ToolError

log = logging.getLogger(__name__)


class ToolBox:
    def __init__(self, built_in: Sequence[Tool] = (), servers: Sequence[McpConfig] = ()) -> None:
        self._tools = {tool.name: tool for tool in built_in}
        self._servers = [McpServer(config) for config in servers]
        self._is_open = asyncio.Event()
        if not servers:
            self._is_open.set()

    async def tools(self) -> list[Tool]:
        """Once it is open, as `call`."""
        await self._is_open.wait()
        return list(self._tools.values())

    async def open(self) -> list[str]:
        """Start the MCP servers and ask for their tools. Returns what is wrong with some; the others work."""
        answers = await asyncio.gather(*(server.tools() for server in self._servers), return_exceptions=True)
        problems = []
        for answer in answers:
            if isinstance(answer, ToolError):
                problems.append(str(answer))
            elif isinstance(answer, BaseException):
                raise answer
            else:
                self._tools |= {tool.name: tool for tool in answer if tool.name not in self._tools}
        self._is_open.set()
        return problems

    async def call(self, name: str, arguments: Mapping[str, Any], where: Surroundings) -> Result:
        """Raises ToolError, and KeyError for a tool that there is not."""
        await self._is_open.wait()
        return await self._tools[name].call(arguments, where)

    async def close(self) -> None:
        await asyncio.gather(*(server.close() for server in self._servers))
