"""An MCP server written with the official SDK: what a well-behaved one does, over stdio or HTTP."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("sdk", instructions="Ask me anything.", version="1.2")


class Size(BaseModel):
    width: int
    is_round: bool = False


@server.tool(title="Say it again", annotations=ToolAnnotations(read_only_hint=True))
def echo(message: str) -> str:
    """Returns the message."""
    return f"echo: {message}"


@server.tool()
def environment() -> str:
    """Returns the environment."""
    return json.dumps(dict(os.environ))


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ToolError("no luck")


@server.tool()
async def wait(mark: str) -> str:
    """Never ends; writes to the file when it was cancelled."""
    try:
        Path(mark).write_text("started", encoding="utf-8")
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        Path(mark).write_text("cancelled", encoding="utf-8")
        raise
    return ""


@server.tool()
async def count(context: Context) -> str:
    """Reports progress."""
    for number in range(1, 4):
        await context.report_progress(number, 3, f"step {number}")
    return "counted"


def which_size() -> Elicit[Size]:
    return Elicit("Which size?", Size)


@server.tool()
def ask(size: Annotated[Size, Resolve(which_size)]) -> str:
    """Asks the user for a size."""
    return f"{size.width} {size.is_round}"


@server.tool()
async def grow(context: Context) -> str:
    """Adds a tool."""

    @server.tool(name="grown")
    def grown() -> str:
        """A new one."""
        return "new"

    await context.notify_tools_changed()
    return "grown"


@server.resource("notes://today", title="Today", mime_type="text/plain")
def today() -> str:
    """What is on today."""
    return "Nothing."


@server.prompt(title="Praise")
def praise(thing: str) -> str:
    """Praises a thing."""
    return f"Praise {thing}."


if __name__ == "__main__":
    if sys.argv[1:]:
        import socket

        import uvicorn

        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # before the port is told: a client may connect at once
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        application = server.sse_app() if sys.argv[1] == "sse" else server.streamable_http_app()
        config = uvicorn.Config(application, log_level="error")
        asyncio.run(uvicorn.Server(config).serve([listener]))
    else:
        server.run()
