"""Drives MCP servers that nobody here wrote, as Skein does, and prints what works.

    packaging/mcp_servers/run [SERVER…] [--newest]

They are installed into the cache folder when they are missing; node and git are the machine's own. Each is
listed, called, cancelled in the middle of a call, killed in the middle of a call, started again, and closed.
Exit code 0: all that was tried works.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import platformdirs
import psutil
from aiohttp import web

from app.tools.mcp_process import Elicitation
from app.tools.mcp_server import McpServer, Status
from app.tools.server_config import ServerConfig
from app.tools.tool import CallProgress, ToolError

STEPS = ("start", "tools", "call", "cancel", "kill", "restart", "more", "close")
PATIENCE_S = 60.0

Check = Callable[[McpServer], Awaitable[str]]  # what was seen; an AssertionError or ToolError where it fails


@dataclass
class Server:
    """`call`: a tool, its arguments, and what its result contains."""

    config: ServerConfig
    call: tuple[str, Mapping[str, Any], str]
    slow_call: tuple[str, Mapping[str, Any]] | None = (
        None  # one that takes seconds, else a stopped process is one
    )
    more: Check | None = None
    words: dict[str, str] = field(default_factory=dict)


class Asked(McpServer):
    can_elicit = True
    question: Elicitation | None = None

    async def on_elicit(self, question: Elicitation) -> Mapping[str, Any]:
        self.question = question
        required = (question.schema or {}).get("required", [])
        return {"action": "accept", "content": dict.fromkeys(required, "Skein")}


def main() -> int:
    parser = argparse.ArgumentParser(prog="packaging/mcp_servers/run", description=__doc__)
    parser.add_argument("servers", nargs="*", metavar="SERVER", help="such as time")
    parser.add_argument("--newest", action="store_true", help="install all of them anew")
    options = parser.parse_args()
    for program in ("node", "npm", "git"):
        if not shutil.which(program):
            raise SystemExit(f"{program} is missing.")
    cache = Path(platformdirs.user_cache_dir("skein")) / "mcp_servers"
    if options.newest:
        shutil.rmtree(cache, ignore_errors=True)
    return asyncio.run(_drive_all(cache, options.servers))


async def _drive_all(cache: Path, chosen: list[str]) -> int:
    has_failed = False
    with tempfile.TemporaryDirectory() as scratch:
        async with _page() as url:
            print(_row("", dict(zip(STEPS, STEPS, strict=True))))
            for name, make in _makers(cache, Path(scratch), url).items():
                if not chosen or name in chosen:
                    server = make()
                    await _drive(server)
                    print(_row(name, server.words), flush=True)
                    has_failed |= any(word.startswith("FAILED") for word in server.words.values())
    return 1 if has_failed else 0


def _makers(cache: Path, scratch: Path, url: str) -> dict[str, Callable[[], Server]]:
    def time_server() -> Server:
        python = _python_package(cache, "mcp-server-time")
        config = ServerConfig("time", str(python), ("-m", "mcp_server_time"))
        return Server(config, ("get_current_time", {"timezone": "Asia/Tokyo"}, "Asia/Tokyo"))

    def fetch_server() -> Server:
        python = _python_package(cache, "mcp-server-fetch")
        config = ServerConfig(
            "fetch", str(python), ("-m", "mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips")
        )
        slow = ("fetch", {"url": f"{url}/slow"})
        return Server(config, ("fetch", {"url": f"{url}/page"}, "Hello"), slow, _sees("prompts", "fetch"))

    def git_server() -> Server:
        python = _python_package(cache, "mcp-server-git")
        repository = scratch / "repository"
        subprocess.run(["git", "init", "--quiet", repository], check=True)
        config = ServerConfig("git", str(python), ("-m", "mcp_server_git", "--repository", str(repository)))
        return Server(config, ("git_status", {"repo_path": str(repository)}, "branch"))

    def file_server() -> Server:
        script = _node_package(cache, "@modelcontextprotocol/server-filesystem")
        folder = scratch / "files"
        folder.mkdir(exist_ok=True)
        (folder / "note.txt").write_text("Hello")
        config = ServerConfig("filesystem", "node", (str(script), str(folder)))
        read = ("read_text_file", {"path": str(folder / "note.txt")}, "Hello")
        return Server(config, read, more=partial(_is_refused, str(folder.parent)))

    def everything(**more: Any) -> Server:
        script = _node_package(cache, "@modelcontextprotocol/server-everything")
        config = ServerConfig("everything", "node", (str(script),), **more)
        slow = ("trigger-long-running-operation", {"duration": 20, "steps": 200})
        return Server(config, ("echo", {"message": "Hello"}, "Hello"), slow, _tries_everything)

    return {
        "time": time_server,
        "fetch": fetch_server,
        "git": git_server,
        "filesystem": file_server,
        "everything": everything,
    }


async def _drive(server: Server) -> None:
    before = _processes()
    one = Asked(server.config)
    steps: dict[str, Check] = {
        "start": _start,
        "tools": _tools,
        "call": partial(_call, server),
        "cancel": partial(_cancel, server),
        "kill": partial(_kill, server),
        "restart": partial(_restart, server),
        "more": server.more or _nothing,
        "close": partial(_close, before),
    }
    for name, step in steps.items():
        try:
            async with asyncio.timeout(PATIENCE_S):
                server.words[name] = await step(one)
        except (AssertionError, ToolError, TimeoutError) as error:
            server.words[name] = f"FAILED: {error or type(error).__name__}"
    await one.close()


async def _nothing(_one: McpServer) -> str:
    return "-"


async def _start(one: McpServer) -> str:
    began = time.monotonic()
    await one.start()
    return f"{time.monotonic() - began:.1f} s"


async def _tools(one: McpServer) -> str:
    assert one.tools
    return str(len(one.tools))


async def _call(server: Server, one: McpServer) -> str:
    name, arguments, expected = server.call
    began = time.monotonic()
    told = (await one.call(name, arguments))["plain_text_response"]
    assert expected in told, told[:200]
    return f"{1000 * (time.monotonic() - began):.0f} ms"


async def _cancel(server: Server, one: McpServer) -> str:
    calling = await _calling(server, one)
    began = time.monotonic()
    calling.cancel()
    await asyncio.wait([calling])
    took_ms = 1000 * (time.monotonic() - began)
    _signal_all(psutil.Process.resume)
    await _call(server, one)
    return f"{took_ms:.0f} ms"


async def _kill(server: Server, one: McpServer) -> str:
    calling = await _calling(server, one)
    began = time.monotonic()
    _signal_all(psutil.Process.kill)
    with contextlib.suppress(ToolError):
        told = await calling
        raise AssertionError(told)
    return f"{1000 * (time.monotonic() - began):.0f} ms"


async def _restart(server: Server, one: McpServer) -> str:
    began = time.monotonic()
    while one.status is not Status.READY:
        await asyncio.sleep(0.01)
    await _call(server, one)
    return f"{time.monotonic() - began:.1f} s"


async def _close(before: set[int], one: McpServer) -> str:
    began = time.monotonic()
    await one.close()
    left = _processes() - before
    assert not left, f"{len(left)} processes are left"
    return f"{time.monotonic() - began:.1f} s"


async def _calling(server: Server, one: McpServer) -> asyncio.Task[Any]:
    """A call that goes on."""
    if server.slow_call:
        calling = asyncio.ensure_future(one.call(*server.slow_call))
    else:
        _signal_all(psutil.Process.suspend)
        calling = asyncio.ensure_future(one.call(*server.call[:2]))
    await asyncio.sleep(0.5)
    assert not calling.done(), f"the call has ended: {calling.exception() or calling.result()}"
    return calling


def _sees(what: str, name: str) -> Check:
    async def check(one: McpServer) -> str:
        names = [each["name"] for each in await one.ask(what)]
        assert name in names, names
        return f"{len(names)} {what}"

    return check


async def _is_refused(path: str, one: McpServer) -> str:
    with contextlib.suppress(ToolError):
        told = await one.call("list_directory", {"path": path})
        raise AssertionError(f"it reads other folders: {told}")
    return "refused"


async def _tries_everything(one: McpServer) -> str:
    assert isinstance(one, Asked)
    heard: list[CallProgress] = []
    await one.call("trigger-long-running-operation", {"duration": 1, "steps": 4}, heard.append)
    assert heard, "no progress"
    resources, prompts = await one.ask("resources"), await one.ask("prompts")
    assert resources
    assert await one.ask("read_resource", uri=resources[0]["uri"])
    assert prompts
    assert await one.ask("get_prompt", name="simple-prompt", arguments={})
    names = {tool.name for tool in one.tools}
    asked = "not offered"
    if "trigger-elicitation-request" in names:
        await one.call("trigger-elicitation-request", {})
        asked = "asked" if one.question else "not asked"
    return f"{len(resources)} resources, {len(prompts)} prompts, {asked}"


def _servers() -> list[psutil.Process]:
    """Those that our hosts have started, and what they have."""
    hosts = [one for one in psutil.Process().children() if "app.tools.mcp_host" in one.cmdline()]
    return [child for host in hosts for child in host.children(recursive=True)]


def _signal_all(send: Callable[[psutil.Process], None]) -> None:
    for one in _servers():
        with contextlib.suppress(psutil.Error):
            send(one)


def _processes() -> set[int]:
    found = psutil.Process().children(recursive=True)
    return {one.pid for one in found if one.is_running() and one.status() != psutil.STATUS_ZOMBIE}


@contextlib.asynccontextmanager
async def _page() -> AsyncIterator[str]:
    async def page(_request: web.Request) -> web.Response:
        return web.Response(
            text="<html><body><p>Hello, this is a page.</p></body></html>", content_type="text/html"
        )

    async def slow(_request: web.Request) -> web.Response:
        await asyncio.sleep(20)
        return web.Response()

    application = web.Application()
    application.router.add_get("/page", page)
    application.router.add_get("/slow", slow)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _python_package(cache: Path, package: str) -> Path:
    """The Python of an environment with it."""
    environment = cache / package
    python = environment / "bin" / "python"
    if not (environment / "ready").exists():
        venv.create(environment, with_pip=True, clear=True)
        _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package)
        (environment / "ready").touch()
    return python


def _node_package(cache: Path, package: str) -> Path:
    """Its script."""
    environment = cache / package.rpartition("/")[2]
    if not (environment / "ready").exists():
        shutil.rmtree(environment, ignore_errors=True)
        environment.mkdir(parents=True)
        (environment / "package.json").write_text('{"private": true}')
        _run("npm", "--prefix", environment, "install", "--silent", "--no-audit", "--no-fund", package)
        (environment / "ready").touch()
    return environment / "node_modules" / package / "dist" / "index.js"


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)


def _row(name: str, words: Mapping[str, str]) -> str:
    cells = (f"{words.get(step, ''):>9}" for step in STEPS if step != "more")
    return f"{name:12}{''.join(cells)}   {words.get('more', '')}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
