"""One MCP server as a child process: its tools, and calls of them. JSON-RPC in lines over stdin and stdout.

A server is a stranger's program. One that hangs, floods, lies or dies costs its calls; the next one starts it
anew. Its process is the leader of a group that ends with it. Any asyncio loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import check_size
from app.tools.tool import Result, Surroundings, Tool, ToolError

log = logging.getLogger(__name__)

PROTOCOL_VERSION = "2025-06-18"
DEFAULT_TIMEOUT_MS = 30_000
MAX_LINE_BYTES = 4 << 20
MAX_TOOLS = 1000
MAX_NAME_CHARS = 64  # of a tool with its server
MAX_TEXT_CHARS = 10_000  # of what is told of a tool
START_S = 30.0
END_S = 1.0
OWN_VARIABLES = "SKEIN_"  # such as the API's key: none of a stranger's business


@dataclass(frozen=True, slots=True)
class McpConfig:
    """How a server is started. As Claude Desktop, LM Studio and VS Code write it in `mcp.json`."""

    name: str
    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_MS / 1000


def read_mcp_config(text: str) -> list[McpConfig]:
    """Entries without a command, such as remote servers, are left out. Raises InvalidRequestError."""
    try:
        check_size(text.encode())
        whole = json.loads(text)
        servers = whole.get("mcpServers", {})
        return [_config(name, entry) for name, entry in servers.items() if "command" in entry]
    except (ValueError, AttributeError, TypeError) as error:
        raise InvalidRequestError(f"The list of MCP servers cannot be read: {error}.") from error


def _config(name: str, entry: Mapping[str, Any]) -> McpConfig:
    timeout_ms = entry.get("timeout_ms", DEFAULT_TIMEOUT_MS)
    if not isinstance(timeout_ms, int) or timeout_ms < 1:
        raise ValueError(f"timeout_ms of {name} is no number of milliseconds")
    return McpConfig(
        name=name,
        command=str(entry["command"]),
        arguments=tuple(map(str, entry.get("args") or ())),
        environment={str(key): str(value) for key, value in (entry.get("env") or {}).items()},
        folder=entry.get("cwd"),
        timeout_s=timeout_ms / 1000,
    )


class McpServer:
    """Started by the first call, and again by the first one after it has died."""

    def __init__(self, config: McpConfig) -> None:
        self.config = config
        self._session: _Session | None = None
        self._turn = asyncio.Lock()  # of starting

    async def tools(self) -> list[Tool]:
        """Raises ToolError."""
        result = await self._ask("tools/list", {}, self._patience_s)
        listed = result.get("tools")
        tools = [self._tool(one) for one in (listed if isinstance(listed, list) else [])[:MAX_TOOLS]]
        return [tool for tool in tools if tool]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Raises ToolError."""
        question = {"name": name, "arguments": dict(arguments)}
        result = await self._ask("tools/call", question, self.config.timeout_s)
        text = _text_of(result)
        if result.get("isError"):
            raise ToolError(text or "The tool failed without saying why.")
        return {"plain_text_response": text}

    async def close(self) -> None:
        session, self._session = self._session, None
        if session:
            await session.end("The server is stopped.")

    def _tool(self, told: object) -> Tool | None:
        if not isinstance(told, dict) or not isinstance(told.get("name"), str):
            return None
        name = f"{self.config.name}_{told['name']}"
        schema = told.get("inputSchema")
        if len(name) > MAX_NAME_CHARS or not name.isprintable():
            log.warning("A tool of the MCP server %s has an unusable name.", self.config.name)
            return None
        call = partial(_call, self, told["name"])
        parameters = schema if isinstance(schema, dict) else {"type": "object", "properties": {}}
        return Tool(name, name, str(told.get("description", ""))[:MAX_TEXT_CHARS], parameters, call, "mcp")

    @property
    def _patience_s(self) -> float:
        """For all but calls: a program may take long to start."""
        return max(self.config.timeout_s, START_S)

    async def _ask(self, method: str, parameters: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        async with self._turn:
            if self._session is None or self._session.is_over:
                self._session = await _Session.start(self.config)
                async with self._within(self._patience_s):
                    await self._session.greet()
            session = self._session
        async with self._within(timeout_s):
            return await session.ask(method, parameters)

    @contextlib.asynccontextmanager
    async def _within(self, seconds: float) -> AsyncIterator[None]:
        """What hangs once would hang again: it is ended. Raises ToolError."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            session, self._session = self._session, None
            if session:
                await session.end("The MCP server hung.")
            name = self.config.name
            raise ToolError(f"The MCP server {name} did not answer within {seconds:g} seconds.") from None


async def _call(server: McpServer, name: str, arguments: Mapping[str, Any], _where: Surroundings) -> Result:
    return await server.call(name, arguments)


def _text_of(result: Mapping[str, Any]) -> str:
    """The texts of it; of what is no text, its kind."""
    content = result.get("content")
    parts = [part for part in (content if isinstance(content, list) else []) if isinstance(part, dict)]
    return "\n".join(str(part.get("text", f"[{part.get('type', 'something')}]")) for part in parts)


class _Session:
    """One run of the process."""

    def __init__(self, config: McpConfig, process: asyncio.subprocess.Process) -> None:
        self._config, self._process = config, process
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last_id = 0
        self._reader = asyncio.ensure_future(self._read())

    @classmethod
    async def start(cls, config: McpConfig) -> _Session:
        """Raises ToolError."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN_VARIABLES)}
        try:
            process = await asyncio.create_subprocess_exec(
                config.command,
                *config.arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=config.folder,
                env=kept | dict(config.environment),
                limit=MAX_LINE_BYTES,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ToolError(f"The MCP server {config.name} cannot be started: {error}.") from error
        return cls(config, process)

    @property
    def is_over(self) -> bool:
        return self._reader.done()

    async def greet(self) -> None:
        greeting = {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "skein", "version": "1"},
        }
        await self.ask("initialize", greeting)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def ask(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The result. Raises ToolError."""
        if self.is_over:
            raise ToolError(f"The MCP server {self._config.name} has ended.")
        self._last_id += 1
        number = self._last_id
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(parameters)})
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def end(self, reason: str) -> None:
        """Of the process and of all that it has started."""
        self._fail(reason)
        self._kill()
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                await self._process.wait()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        if not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _read(self) -> None:
        assert self._process.stdout
        try:
            while line := await self._process.stdout.readline():
                self._take(line)
        except ValueError:
            log.warning("The MCP server %s wrote a line of over 4 MiB.", self._config.name)
        finally:
            self._kill()
            self._fail(f"The MCP server {self._config.name} has ended.")

    def _take(self, line: bytes) -> None:
        """What is no answer to a question of ours is left out."""
        with contextlib.suppress(ValueError, TypeError, AttributeError, RecursionError):
            message = json.loads(line)
            answer = self._waiting.get(message.get("id"))
            if answer is None or answer.done():
                return
            if isinstance(result := message.get("result"), dict):
                answer.set_result(result)
            else:
                error = message.get("error")
                reason = error.get("message") if isinstance(error, dict) else None
                answer.set_exception(ToolError(str(reason or "The MCP server sent no result.")))

    def _fail(self, reason: str) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ToolError(reason))

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
