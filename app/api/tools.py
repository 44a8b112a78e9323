"""/tools: what the server's own tools are, and calls of them, as llama-server has it.

The caller passes their definitions to /v1/chat/completions, and calls here what the model wants called.
"""

from __future__ import annotations

from typing import Any

from aiohttp import web

from app.api.errors import ApiError, invalid
from app.api.json_body import Body, json_response, read_fields
from app.tools.tool import Surroundings, ToolError
from app.tools.tool_box import ToolBox

TOOLS = web.AppKey("tools", ToolBox)
FOLDER_HEADER, RUNTIME_HEADER = "X-Tool-Cwd", "X-Tool-Runtime"


class CallFields(Body):
    tool: str
    params: dict[str, Any] | None = None
    stream: bool | None = None


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/tools", list_tools)
    router.add_post("/tools", call_tool)


async def list_tools(request: web.Request) -> web.Response:
    return json_response(
        [
            {
                "display_name": tool.title,
                "tool": tool.name,
                "type": tool.kind,
                "permissions": {"write": tool.writes},
                "uses_cwd": tool.uses_folder,
                "definition": tool.definition,
            }
            for tool in await _box(request).tools()
        ]
    )


async def call_tool(request: web.Request) -> web.Response:
    """A tool that fails is an answer, too: the model should read it."""
    box, fields = _box(request), await read_fields(request, CallFields)
    if fields.stream:
        raise invalid("stream: no tool of this server streams its result.")
    if RUNTIME_HEADER in request.headers:
        raise invalid("unknown tool runtime: tools of this server run on its own machine only.")
    try:
        where = Surroundings(request.headers.get(FOLDER_HEADER, ""))
        return json_response(await box.call(fields.tool, fields.params or {}, where))
    except KeyError:
        raise ApiError(404, f"There is no such tool here: {fields.tool[:100]}") from None
    except ToolError as error:
        return json_response({"error": str(error)})


def _box(request: web.Request) -> ToolBox:
    box = request.app.get(TOOLS)
    if box is None:
        raise ApiError(
            404, "This server has no tools. Start `skein serve` with --mcp-servers-config or --tools."
        )
    return box
