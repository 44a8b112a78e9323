"""One run of `mcp_host.py`, the child process that speaks with one MCP server. Any asyncio loop.

The host is ours and bounds what its server says, so what arrives here is short and soon read.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.system import worker
from app.system.said import said, unpacked
from app.tools.server_config import ServerConfig
from app.tools.tool import CallProgress, ToolError

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 16 << 20
END_S = 4.0  # for a host to end its server; it kills after two
# Variables of the program's own environment: none of a stranger's business.
_SECRET = re.compile(r"^SKEIN_|TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|ACCESS_?KEY", re.IGNORECASE)
_FROM_ENVIRONMENT = re.compile(r"\$\{env:([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Elicitation:
    """What a server wants to know. `schema`: of the answer, an object of simple values.

    Or `url`: a page where the user has to do something.
    """

    message: str
    schema: Mapping[str, Any] | None = None
    url: str = ""


class Hearer:
    """What is heard of a server, besides answers. The defaults are for a program that nobody looks at."""

    can_elicit = False

    def on_ready(self, told: Mapping[str, Any]) -> None: ...

    def on_tools(self, told: list[dict[str, Any]]) -> None: ...

    def on_log(self, lines: list[str]) -> None: ...

    def on_end(self, process: McpProcess, sentence: str) -> None: ...

    async def on_elicit(self, _question: Elicitation) -> Mapping[str, Any]:
        return {"action": "decline"}

    def on_browse(self, _url: str) -> None: ...

    def on_keep(self, text: str) -> None: ...


class McpProcess:
    def __init__(self, config: ServerConfig, hearer: Hearer) -> None:
        self._config, self._hearer = config, hearer
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._on_progress: dict[int, Callable[[CallProgress], None]] = {}
        self._clocks: dict[int, tuple[asyncio.Timeout, float]] = {}
        self._questions: dict[int, asyncio.Task[None]] = {}
        self._last_id = 0
        self._server_pid = 0
        self.is_over = False
        self.heard_at = 0.0  # when the last answer came, by the loop's clock

    async def start(self, kept: str = "") -> None:
        """`kept`: what `on_keep` was given. `on_ready` or `on_end` follows. Raises ToolError."""
        try:
            self._process = await start_host()
        except OSError as error:
            raise ToolError(f"No process can be started: {error}.") from error
        self._send(_told(self._config, kept, self._hearer.can_elicit))
        self._reader = asyncio.ensure_future(self._read())

    async def ask(
        self,
        what: str,
        values: Mapping[str, Any],
        timeout_s: float,
        on_progress: Callable[[CallProgress], None] | None = None,
    ) -> Any:
        """Raises ToolError and TimeoutError. Cancelling it cancels the request."""
        if self.is_over:
            raise ToolError("The server has ended.")
        self._last_id += 1
        number = self._last_id
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        if on_progress:
            self._on_progress[number] = on_progress
        try:
            async with asyncio.timeout(timeout_s) as clock:
                self._clocks[number] = (clock, timeout_s)
                if self._questions:
                    clock.reschedule(None)
                self._send({"id": number, "do": what, "with": dict(values)})
                return await answer
        finally:
            for of_it in (self._waiting, self._on_progress, self._clocks):
                of_it.pop(number, None)
            if not answer.done() or answer.cancelled():
                self._send({"cancel": number})

    async def gone(self) -> None:
        """Returns when all its processes have ended by themselves, or were killed."""
        if self._reader:
            await asyncio.wait([self._reader])

    async def end(self) -> None:
        """Ends them, and returns when they have ended."""
        if not self._process or not self._reader:
            return
        self._fail("The server is stopped.")
        if self._process.stdin:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._reader), END_S)
        if not self._reader.done():
            self.kill()
            await asyncio.wait([self._reader], timeout=END_S)

    def kill(self) -> None:
        """The host, and its server's group, should the host have had no time for it."""
        if self._process and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        if self._server_pid and sys.platform != "win32":
            pid, self._server_pid = self._server_pid, 0
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._process and self._process.stdin and not self._process.stdin.is_closing():
            self._process.stdin.write(worker.encoded(message, "replace"))

    async def _read(self) -> None:
        assert self._process
        assert self._process.stdout
        sentence = ""
        try:
            while line := await self._process.stdout.readline():
                sentence = self._take(json.loads(line)) or sentence
        except (ValueError, LookupError, TypeError):
            log.exception("What speaks with the MCP server %s wrote no message.", self._config.name)
        finally:
            self.is_over = True
            self._fail(str(sentence) or "The server has ended.")
            for task in self._questions.values():
                task.cancel()
            self._hearer.on_end(self, sentence)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), END_S)
            if self._process.returncode != 0:  # else it has seen to all of them
                self.kill()

    def _take(self, message: dict[str, Any]) -> str:
        """The sentence with which it ends, else ""."""
        match message:
            case {"id": number, **rest}:
                self.heard_at = asyncio.get_running_loop().time()
                self._settle(number, rest)
            case {"progress": number, "done": done, "total": total, "message": text}:
                self._restart_clock(number)
                if on_progress := self._on_progress.get(number):
                    on_progress(CallProgress(done, total, text))
            case {"log": lines}:
                self._hearer.on_log(lines)
            case {"ready": told, "tools": tools}:
                self._hearer.on_tools(tools)
                self._hearer.on_ready(told)
            case {"tools": tools}:
                self._hearer.on_tools(tools)
            case {"elicit": number, "message": text, **rest}:
                question = Elicitation(text, rest.get("schema"), rest.get("url", ""))
                self._questions[number] = asyncio.ensure_future(self._elicit(number, question))
                for clock, _seconds in self._clocks.values():  # a person takes his time
                    clock.reschedule(None)
            case {"withdrawn": number}:
                if task := self._questions.get(number):
                    task.cancel()
            case {"browse": url}:
                self._hearer.on_browse(url)
            case {"keep": text}:
                self._hearer.on_keep(text)
            case {"started": pid}:
                self._server_pid = pid
            case {"ended": sentence}:
                return unpacked(sentence) or said("It has ended.")
        return ""

    def _settle(self, number: int, answer: Mapping[str, Any]) -> None:
        waiting = self._waiting.get(number)
        if waiting is None or waiting.done():
            return
        if "error" in answer:
            waiting.set_exception(ToolError(answer["error"]))
        else:
            waiting.set_result(answer["result"])

    def _restart_clock(self, number: int) -> None:
        if number in self._clocks and not self._questions:
            clock, seconds = self._clocks[number]
            clock.reschedule(asyncio.get_running_loop().time() + seconds)

    async def _elicit(self, number: int, question: Elicitation) -> None:
        answer: Mapping[str, Any] = {"action": "cancel"}
        try:
            answer = await self._hearer.on_elicit(question)
        finally:
            self._questions.pop(number, None)
            self._send({"answer": number, "with": dict(answer)})
            for waiting in list(self._clocks):
                self._restart_clock(waiting)

    def _fail(self, reason: str) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ToolError(reason))


async def start_host() -> asyncio.subprocess.Process:
    """Raises OSError."""
    return await asyncio.create_subprocess_exec(
        *worker.command("app.tools.mcp_host"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=worker.environment(),
        limit=MAX_MESSAGE_BYTES,
        start_new_session=True,
    )


def _told(config: ServerConfig, kept: str, can_elicit: bool) -> dict[str, Any]:
    """What the host has to know."""

    def fill(text: str) -> str:
        return _FROM_ENVIRONMENT.sub(lambda found: os.environ.get(found[1], ""), text)

    inherited = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    return {
        "command": fill(config.command),
        "arguments": [fill(one) for one in config.arguments],
        "environment": inherited | {name: fill(value) for name, value in config.environment.items()},
        "folder": config.folder and fill(str(Path(config.folder).expanduser())),
        "url": fill(config.url),
        "headers": {name: fill(value) for name, value in config.headers.items()},
        "uses_sse": config.uses_sse,
        "can_elicit": can_elicit,
        "kept": kept,
    }
