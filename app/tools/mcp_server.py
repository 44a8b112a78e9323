"""One MCP server, whatever becomes of its process: its state, tools, log, and calls.

A server is a stranger's program. One that hangs, floods, lies or dies costs its calls; it is started anew,
later each time, and in the end no more. Any asyncio loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from app.system.said import said
from app.tools.mcp_process import Hearer, McpProcess
from app.tools.plain import name_for_model
from app.tools.server_config import ServerConfig
from app.tools.tool import CallProgress, Result, Surroundings, Tool, ToolError

log = logging.getLogger(__name__)

START_S = 90.0  # npx and uvx may have to download the server
SIGN_IN_S = 300.0
MAX_LOG_LINES = 500
MAX_RESTARTS = 5  # in a row
FIRST_RESTART_S, LAST_RESTART_S = 1.0, 60.0
STABLE_S = 60.0  # who lives so long may die again
NO_SURROUNDINGS = Surroundings()


class Status(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"  # until it is started again
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says of itself."""

    title: str = ""
    version: str = ""
    instructions: str = ""
    has_resources: bool = False
    has_prompts: bool = False


class McpServer(Hearer):
    """Subclasses say what happens when it changes, and who answers its questions."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.status, self.sentence = Status.STOPPED, ""  # why it failed or waits
        self.info = ServerInfo()
        self.tools: tuple[Tool, ...] = ()  # as last listed, whether it runs or not
        self.log: deque[str] = deque(maxlen=MAX_LOG_LINES)
        self._process: McpProcess | None = None
        self._last: McpProcess | None = None  # the one before, whose processes may just be ending
        self._starting: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._restart: asyncio.TimerHandle | None = None
        self._num_deaths, self._ready_at = 0, 0.0
        self._start_clock: asyncio.Timeout | None = None

    def on_change(self) -> None:
        """Its state, its tools or its log."""

    async def kept(self) -> str:
        """What `on_keep` was given last."""
        return ""

    @property
    def lacks_tools(self) -> bool:
        """It has told none yet, or cannot be called. One that is started again is called once it is ready."""
        return self.status is Status.FAILED or (self.status is not Status.READY and not self.tools)

    async def start(self) -> None:
        """Returns when it is ready. Raises ToolError."""
        if self.status is Status.READY:
            return
        if self._starting is None or self._starting.done():
            self._starting = asyncio.ensure_future(self._start())
        await asyncio.shield(self._starting)

    def start_soon(self) -> None:
        """The same, for whoever does not wait."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(_note_failure)

    async def close(self) -> None:
        """Returns when all its processes have ended. It can be started again."""
        self._forget_restart()
        if self._starting and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait([self._starting])
        process, self._process = self._process, None
        self._num_deaths = 0
        self._set(Status.STOPPED)
        if process:
            await process.end()
        if self._last:
            await self._last.gone()

    async def call(
        self, name: str, arguments: Mapping[str, Any], surroundings: Surroundings = NO_SURROUNDINGS
    ) -> Result:
        """Raises ToolError."""
        asked = {"name": name, "arguments": dict(arguments)}
        result = await self._ask("call", asked, surroundings.on_progress)
        if result["is_error"]:
            raise ToolError(result["text"] or "The tool failed without saying why.")
        return {"plain_text_response": result["text"]}

    async def ask(self, what: str, **values: Any) -> Any:
        """For resources and prompts. Raises ToolError."""
        return await self._ask(what, values)

    async def _ask(
        self,
        what: str,
        values: Mapping[str, Any],
        on_progress: Callable[[CallProgress], None] | None = None,
    ) -> Any:
        await self.start()
        process, began = self._process, asyncio.get_running_loop().time()
        if process is None:
            raise ToolError(f"The MCP server {self.config.name} has ended.")
        try:
            return await process.ask(what, values, self.config.timeout_s, on_progress)
        except TimeoutError:
            seconds = self.config.timeout_s
            if process.heard_at < began:  # what hangs once would hang again
                log.warning("The MCP server %s hangs and is ended.", self.config.name)
                process.kill()
                self.on_end(process, said("It did not answer within {seconds:.0f} seconds.", seconds=seconds))
            raise ToolError(
                f"The MCP server {self.config.name} did not answer within {seconds:g} seconds."
            ) from None

    async def _start(self) -> None:
        self._forget_restart()
        self._set(Status.STARTING)
        if self._last:
            await self._last.gone()
        loop = asyncio.get_running_loop()
        self._ready = loop.create_future()
        process = self._process = McpProcess(self.config, self)
        try:
            async with asyncio.timeout(START_S) as self._start_clock:
                await process.start(await self.kept() if self.config.url else "")
                await self._ready
        except asyncio.CancelledError:
            process.kill()
            raise
        except TimeoutError:
            self._fail(said("It was not ready within {seconds:.0f} seconds.", seconds=START_S))
            process.kill()
        except ToolError as error:
            self._fail(error.args[0])
        if self.status is not Status.READY:
            raise ToolError(f"The MCP server {self.config.name} cannot be started. {self.sentence}")

    # Hearer.

    def on_ready(self, told: Mapping[str, Any]) -> None:
        self.info = ServerInfo(**told)
        self._ready_at = asyncio.get_running_loop().time()
        self._set(Status.READY)
        if self._ready and not self._ready.done():
            self._ready.set_result(None)

    def on_tools(self, tools: list[dict[str, Any]]) -> None:
        self.tools = tuple(map(self._tool, tools))
        self.on_change()

    def on_log(self, lines: list[str]) -> None:
        self.log.extend(lines)
        self.on_change()

    def on_browse(self, _url: str) -> None:
        """The user has to sign in there, which takes time."""
        if self._start_clock and self.status is Status.STARTING:
            self._start_clock.reschedule(asyncio.get_running_loop().time() + SIGN_IN_S)
        self._set(self.status, said("Waiting until you have signed in, in the browser."))

    def on_end(self, process: McpProcess, sentence: str) -> None:
        if process is not self._process:
            return
        self._process, self._last = None, process
        sentence = sentence or said("It has ended.")
        if self.status is Status.STARTING:
            if self._ready and not self._ready.done():
                self._ready.set_exception(ToolError(sentence))
        elif self.status is Status.READY:
            self._start_again_later(sentence)

    def _start_again_later(self, sentence: str) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() - self._ready_at > STABLE_S:
            self._num_deaths = 0
        self._num_deaths += 1
        if self._num_deaths > MAX_RESTARTS:
            self._fail(sentence)
            return
        delay_s = min(FIRST_RESTART_S * 2 ** (self._num_deaths - 1), LAST_RESTART_S)
        self._restart = loop.call_later(delay_s, self.start_soon)
        self._set(Status.WAITING, sentence)

    def _forget_restart(self) -> None:
        if self._restart:
            self._restart.cancel()
            self._restart = None

    def _fail(self, sentence: str) -> None:
        self._set(Status.FAILED, sentence)

    def _set(self, status: Status, sentence: str = "") -> None:
        self.status, self.sentence = status, sentence
        self.on_change()

    def _tool(self, told: Mapping[str, Any]) -> Tool:
        name = told["name"]
        return Tool(
            name_for_model(name),
            told["title"],
            told["description"],
            told["schema"],
            partial(self.call, name),
            "mcp",
            writes=told["writes"],
            key=f"{self.config.name}/{name}",
        )


def with_unique_names(tools: list[Tool]) -> tuple[Tool, ...]:
    """A tool whose name another one has is told with its server's, and if need be with a number."""
    taken: set[str] = set()
    unique = []
    for tool in tools:
        name, number = tool.name, 1
        while name in taken:
            tail = "" if number == 1 else f"_{number}"
            name = name_for_model(f"{tool.server}_{tool.name}")[: 64 - len(tail)] + tail
            number += 1
        taken.add(name)
        unique.append(replace(tool, name=name))
    return tuple(unique)


def _note_failure(starting: asyncio.Task[None]) -> None:
    if not starting.cancelled() and (error := starting.exception()):
        log.info("%s", error)
