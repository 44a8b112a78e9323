"""All tools of a server: built-in ones and those of MCP servers. Any asyncio loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.tools.mcp_server import McpServer
from app.tools.plain import name_for_model
from app.tools.server_config import ServerConfig
from app.tools.tool import Result, Surroundings, Tool, ToolError

log = logging.getLogger(__name__)


class ToolBox:
    def __init__(self, built_in: Sequence[Tool] = (), servers: Sequence[ServerConfig] = ()) -> None:
        self._built_in = tuple(built_in)
        self._servers = [McpServer(config) for config in servers]
        self._is_open = asyncio.Event()
        if not servers:
            self._is_open.set()

    async def tools(self) -> list[Tool]:
        """Once it is open, as `call`."""
        await self._is_open.wait()
        return list(self._tools().values())

    async def open(self) -> list[str]:
        """Start the MCP servers and ask for their tools. Returns what is wrong with some; the others work."""
        answers = await asyncio.gather(*(server.start() for server in self._servers), return_exceptions=True)
        self._is_open.set()
        problems = []
        for answer in answers:
            if isinstance(answer, ToolError):
                problems.append(str(answer))
            elif isinstance(answer, BaseException):
                raise answer
        return problems

    async def call(self, name: str, arguments: Mapping[str, Any], where: Surroundings) -> Result:
        """Raises ToolError, and KeyError for a tool that there is not."""
        await self._is_open.wait()
        return await self._tools()[name].call(arguments, where)

    async def close(self) -> None:
        await asyncio.gather(*(server.close() for server in self._servers))

    def _tools(self) -> dict[str, Tool]:
        named = {tool.name: tool for tool in self._built_in}
        for server in self._servers:
            for tool in server.tools:
                name = name_for_model(f"{server.config.name}_{tool.name}")
                named.setdefault(name, replace(tool, name=name))
        return named
