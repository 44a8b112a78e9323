"""Stands in for the service of tools: servers are what the test says, and what is asked of it is noted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.bridge.drafts import Drafts
from app.services.tools import Resource, ServerPrompt, ServerState
from app.tools.mcp_server import ServerInfo, Status
from app.tools.server_config import ServerConfig, read_mcp_json
from app.tools.tool import Approval, Result, Surroundings, Tool, ToolError


async def _never(_arguments: Mapping[str, Any], _where: Surroundings) -> Result:
    raise AssertionError("nothing is called here")


def tool(key: str, title: str = "", description: str = "Does it.", *, writes: bool = False) -> Tool:
    name = key.partition("/")[2]
    return Tool(name, title or name, description, {"type": "object"}, _never, writes=writes, key=key)


TIME = tool("skein/time", "Current time", "Tells the time.")
FETCH = replace(tool("skein/fetch_page", "Fetch a web page", writes=True), always_asks=True)
WRITE = tool("files/write", "Write a file", "Writes.", writes=True)
READ = tool("files/read", "Read a file", "Reads.")


def server(
    name: str, *tools: Tool, status: Status = Status.READY, sentence: str = "", is_trusted: bool = True
) -> ServerState:
    config = ServerConfig(name, "npx", ("-y", f"server-{name}"))
    info = ServerInfo(has_resources=True, has_prompts=True)
    return ServerState(name, config, status, sentence, tools, ("started",), True, is_trusted, info)


class FakeToolService(QObject):
    changed = Signal()
    elicitation = Signal(str, str, object, object)
    page_asked = Signal(str, str, str, object)
    elicitation_over = Signal(object)
    progressed = Signal(str, str, object)
    failed = Signal(object)

    def __init__(self, *servers: ServerState) -> None:
        super().__init__()
        self.servers = servers
        self.drafts = Drafts()
        self.built_in = (TIME, FETCH)
        self.approvals: dict[str, Approval] = {}
        self.done: list[tuple[Any, ...]] = []
        self.listed: dict[str, tuple[Any, ...]] = {}  # by server
        self.problem = ""

    def show(self, *servers: ServerState) -> None:
        self.servers = servers
        self.changed.emit()

    def state(self, name: str) -> ServerState:
        return next(state for state in self.servers if state.name == name)

    def _change(self, name: str, **values: Any) -> None:
        self.show(*(replace(one, **values) if one.name == name else one for one in self.servers))

    def import_text(self, text: str) -> tuple[ServerConfig, ...]:
        return tuple(read_mcp_json(text))

    def add(self, config: ServerConfig, *, trusted: bool = False) -> str:
        self.done.append(("add", config, trusted))
        added = replace(server(config.name, status=Status.STOPPED), config=config, is_trusted=trusted)
        self.show(*self.servers, added)
        return config.name

    def change(self, name: str, config: ServerConfig, *, trusted: bool = False) -> None:
        self.done.append(("change", name, config, trusted))

    def remove(self, name: str) -> None:
        self.show(*(one for one in self.servers if one.name != name))

    def trust(self, name: str) -> None:
        self._change(name, is_trusted=True, status=Status.STARTING)

    def set_enabled(self, name: str, is_enabled: bool) -> None:
        self._change(name, is_enabled=is_enabled)

    def restart(self, name: str) -> None:
        self.done.append(("restart", name))

    def approval(self, tool: Tool) -> Approval:
        return self.approvals.get(tool.key, Approval.ASK)

    def set_approval(self, tool: Tool, approval: Approval) -> None:
        self.approvals[tool.key] = approval
        self.changed.emit()

    async def prepare(self, chosen: Sequence[str]) -> None:
        self.done.append(("prepare", *chosen))

    async def prompts(self, name: str) -> tuple[ServerPrompt, ...]:
        return tuple(one for one in self._listed(name) if isinstance(one, ServerPrompt))

    async def resources(self, name: str) -> tuple[Resource, ...]:
        return tuple(one for one in self._listed(name) if isinstance(one, Resource))

    async def get_prompt(self, name: str, prompt: str, arguments: Mapping[str, str]) -> str:
        return f"{self._said(name)} {prompt} {dict(arguments)}"

    async def read_resource(self, name: str, uri: str) -> str:
        return f"{self._said(name)} {uri}"

    async def close(self) -> None: ...

    def _listed(self, name: str) -> tuple[Any, ...]:
        self._said(name)
        return self.listed.get(name, ())

    def _said(self, name: str) -> str:
        if self.problem:
            raise ToolError(self.problem)
        return f"{name} says"
