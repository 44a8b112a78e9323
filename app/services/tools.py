"""The tools of all chats: the built-in ones, and those of the user's MCP servers. GUI thread.

A server starts when a chat offers its tools for the first time, and never before the user has confirmed its
command. Knows no sessions and no widgets.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMetaMethod, QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from app.bridge.drafts import Drafts
from app.bridge.tasks import spawn
from app.models.hub_address import keep_token, read_token
from app.models.off_loop import off_loop
from app.protocol.errors import InvalidRequestError
from app.services.preferences import Preferences
from app.storage.chat_store import ChatStore
from app.system.said import said
from app.tools.mcp_process import Elicitation
from app.tools.mcp_server import McpServer, ServerInfo, Status, with_unique_names
from app.tools.server_config import (
    BUILT_IN,
    ListedServer,
    ServerConfig,
    check,
    checked_name,
    read_list,
    read_mcp_json,
    unique_name,
    write_list,
)
from app.tools.tool import Approval, CallProgress, Surroundings, Tool, ToolError, text_of

if TYPE_CHECKING:
    from app.services.built_in_tools import BuiltInTools

log = logging.getLogger(__name__)

CHANGE_PERIOD_MS = 100  # a server may write many lines to its log
PREPARE_S = 30.0

Answer = Callable[[Mapping[str, Any] | None], None]  # None: the user declines


@dataclass(frozen=True, slots=True)
class ServerState:
    """`sentence`: why it failed or waits. `log`: the last lines of its stderr."""

    name: str
    config: ServerConfig
    status: Status
    sentence: str
    tools: tuple[Tool, ...]
    log: tuple[str, ...]
    is_enabled: bool
    is_trusted: bool
    info: ServerInfo


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    name: str
    description: str
    mime: str


@dataclass(frozen=True, slots=True)
class PromptArgument:
    name: str
    description: str
    is_required: bool


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]


class ToolService(QObject):
    """Is the ToolKit of the sessions."""

    changed = Signal()  # servers, their state, tools or logs
    # A question of a server, in the middle of a call: server, message, JSON schema of an object, callback.
    elicitation = Signal(str, str, object, object)
    page_asked = Signal(str, str, str, object)  # server, message, address of a page to visit, callback
    elicitation_over = Signal(object)  # the callback of one that needs no answer any more
    progressed = Signal(str, str, object)  # chat, key of the tool, Progress
    failed = Signal(object)  # one sentence for the user

    def __init__(
        self,
        store: ChatStore,
        preferences: Preferences,
        file: Path,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._preferences, self._file = store, preferences, file
        self._read: dict[str, _Server] | None = None
        self._is_closed = False
        self.drafts = Drafts()  # of what is asked about servers, and by them
        self._change_timer = QTimer(self, singleShot=True, interval=CHANGE_PERIOD_MS)
        self._change_timer.timeout.connect(self.changed)

    # Servers.

    @property
    def servers(self) -> tuple[ServerState, ...]:
        return tuple(
            ServerState(
                name,
                server.config,
                server.status,
                server.sentence,
                server.tools,
                tuple(server.log),
                server.listed.is_enabled,
                server.listed.is_trusted,
                server.info,
            )
            for name, server in self._servers.items()
        )

    def import_text(self, text: str) -> tuple[ServerConfig, ...]:
        """What an `mcp.json` has; `add` takes them once inputs are filled. Raises InvalidRequestError."""
        found = tuple(read_mcp_json(text))
        if not found:
            raise InvalidRequestError(said("No MCP server found in this text."))
        return found

    def add(self, config: ServerConfig, *, trusted: bool = False) -> str:
        """Its name here. `trusted`: the user has seen the whole command line. Raises InvalidRequestError."""
        config = _checked(config)
        config = replace(config, name=unique_name(config.name, self._servers))
        self._put(ListedServer(config, trusted=config.fingerprint if trusted else ""))
        if trusted:
            self._start_soon(config.name)
        return config.name

    def change(self, name: str, config: ServerConfig, *, trusted: bool = False) -> None:
        """It keeps its name. `trusted` as in `add`. Raises InvalidRequestError."""
        config = replace(_checked(config), name=name)
        server = self._servers[name]
        server.is_gone = True
        self._put(replace(server.listed, config=config, trusted=config.fingerprint if trusted else ""))
        spawn(server.close())

    def remove(self, name: str) -> None:
        server = self._servers.pop(name)
        self._write()
        server.is_gone = True
        spawn(server.close())
        if server.config.url:
            spawn(_forget_secret(server.config.url))

    def trust(self, name: str) -> None:
        """The user has confirmed its command line. It starts."""
        server = self._servers[name]
        server.listed = replace(server.listed, trusted=server.config.fingerprint)
        self._write()
        self._start_soon(name)

    def set_enabled(self, name: str, is_enabled: bool) -> None:
        server = self._servers[name]
        server.listed = replace(server.listed, is_enabled=is_enabled)
        self._write()
        if not is_enabled:
            spawn(server.close())

    def restart(self, name: str) -> None:
        spawn(self._restart(name))

    async def _restart(self, name: str) -> None:
        await self._servers[name].close()
        self._start_soon(name)

    # For the sessions.

    @cached_property
    def _built_in(self) -> BuiltInTools:
        """Imported when it is first needed: it brings half of the standard library."""
        from app.services.built_in_tools import BuiltInTools

        return BuiltInTools(self._store, self._preferences)

    @property
    def built_in(self) -> tuple[Tool, ...]:
        return self._built_in.tools

    def offered(self, chosen: Sequence[str]) -> tuple[Tool, ...]:
        """Starts the servers that are chosen: their tools are offered once they are known."""
        if not chosen:
            return ()
        for name in self._chosen_servers(chosen):
            self._start_soon(name)
        tools = [tool for tool in self._known_tools() if _is_chosen(tool, chosen)]
        return with_unique_names([tool for tool in tools if self.approval(tool) is not Approval.NEVER])

    def is_ready(self, chosen: Sequence[str]) -> bool:
        starting = (Status.STOPPED, Status.STARTING)
        return not any(self._servers[name].status in starting for name in self._chosen_servers(chosen))

    async def prepare(self, chosen: Sequence[str]) -> None:
        """Returns when the chosen servers are ready or have failed, or after half a minute."""
        starts = [asyncio.ensure_future(self._start(name)) for name in self._chosen_servers(chosen)]
        if starts:
            await asyncio.wait(starts, timeout=PREPARE_S)

    def missing(self, chosen: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in self._chosen_servers(chosen) if self._servers[name].lacks_tools)

    def approval(self, tool: Tool) -> Approval:
        approval = Approval(self._preferences.settings.tool_approvals.get(tool.key, _from_start(tool)))
        return Approval.ASK if tool.always_asks and approval is Approval.ALWAYS else approval

    def set_approval(self, tool: Tool, approval: Approval) -> None:
        kept: dict[str, str] = dict(self._preferences.settings.tool_approvals)
        kept.pop(tool.key, None)
        if approval is not _from_start(tool):
            kept[tool.key] = approval.value
        self._preferences.set("tool_approvals", kept)
        self.changed.emit()

    def calls_in_text(self, model: str) -> bool:
        return model in self._preferences.settings.models_calling_in_text

    def set_calls_in_text(self, model: str) -> None:
        kept = self._preferences.settings.models_calling_in_text
        self._preferences.set("models_calling_in_text", list(dict.fromkeys([*kept, model])))
        self.changed.emit()

    async def call(self, tool: Tool, arguments: Mapping[str, Any], chat_id: str) -> str:
        """Raises ToolError."""

        def on_progress(progress: CallProgress) -> None:
            self.progressed.emit(chat_id, tool.key, progress)

        if tool.server != BUILT_IN:
            self._check_allowed(tool.server)
        return text_of(await tool.call(arguments, Surroundings(chat_id=chat_id, on_progress=on_progress)))

    # Resources and prompts.

    async def resources(self, name: str) -> tuple[Resource, ...]:
        """Raises ToolError, as those below."""
        return tuple(Resource(**each) for each in await self._ask(name, "resources"))

    async def read_resource(self, name: str, uri: str) -> str:
        return str(await self._ask(name, "read_resource", uri=uri))

    async def prompts(self, name: str) -> tuple[ServerPrompt, ...]:
        def prompt(fields: Mapping[str, Any]) -> ServerPrompt:
            arguments = tuple(PromptArgument(**each) for each in fields["arguments"])
            return ServerPrompt(fields["name"], fields["title"], fields["description"], arguments)

        return tuple(map(prompt, await self._ask(name, "prompts")))

    async def get_prompt(self, name: str, prompt: str, arguments: Mapping[str, str]) -> str:
        """The text of all its messages."""
        messages = await self._ask(name, "get_prompt", name=prompt, arguments=dict(arguments))
        return "\n\n".join(str(message["text"]) for message in messages)

    async def close(self) -> None:
        """Returns when no process of a server is left."""
        self._is_closed = True
        if self._read:
            await asyncio.gather(*(server.close() for server in self._read.values()))

    @property
    def _servers(self) -> dict[str, _Server]:
        """The file is read when it is first needed."""
        if self._read is None:
            self._read = {listed.config.name: _Server(listed, self) for listed in read_list(self._file)}
        return self._read

    def _put(self, listed: ListedServer) -> None:
        self._servers[listed.config.name] = _Server(listed, self)
        self._write()

    def _write(self) -> None:
        try:
            write_list(self._file, (server.listed for server in self._servers.values()))
        except OSError as error:
            reason = error.strerror or str(error)
            self.failed.emit(said("The list of MCP servers could not be saved: {reason}.", reason=reason))
        self.changed.emit()

    def _chosen_servers(self, chosen: Iterable[str]) -> list[str]:
        wanted = {key.partition("/")[0] for key in chosen}
        return [name for name in self._servers if name in wanted and self._may_start(name)]

    def _may_start(self, name: str) -> bool:
        return self._servers[name].may_run and not self._is_closed

    def _start_soon(self, name: str) -> None:
        if name in self._servers and self._may_start(name):
            server = self._servers[name]
            if server.status is Status.STOPPED:
                server.start_soon()

    async def _start(self, name: str) -> None:
        try:
            await self._servers[name].start()
        except ToolError as error:
            log.info("%s", error)

    def _known_tools(self) -> Iterator[Tool]:
        yield from self.built_in
        for server in self._servers.values():
            if server.may_run and not server.lacks_tools:
                yield from server.tools

    def _check_allowed(self, name: str) -> None:
        """Raises ToolError. It may have been removed since it was offered."""
        if name not in self._servers or not self._may_start(name):
            raise ToolError(f"The MCP server {name} is turned off.")

    async def _ask(self, server: str, what: str, **values: Any) -> Any:
        self._check_allowed(server)
        return await self._servers[server].ask(what, **values)

    def note_change(self) -> None:
        if not self._change_timer.isActive():
            self._change_timer.start()


class _Server(McpServer):
    """One whose questions go to the user. `listed`: as it is on disk."""

    can_elicit = True

    def __init__(self, listed: ListedServer, service: ToolService) -> None:
        super().__init__(listed.config)
        self.listed = listed
        self._service = service
        self._kept: str | None = None
        self.is_gone = False

    @property
    def may_run(self) -> bool:
        return self.listed.is_enabled and self.listed.is_trusted

    def on_change(self) -> None:
        if not self.is_gone:
            self._service.note_change()

    async def on_elicit(self, question: Elicitation) -> Mapping[str, Any]:
        service, name = self._service, self.config.name
        signal = service.page_asked if question.url else service.elicitation
        if not service.isSignalConnected(QMetaMethod.fromSignal(signal)):
            return {"action": "decline"}
        answered: asyncio.Future[Mapping[str, Any] | None] = asyncio.get_running_loop().create_future()

        def answer(content: Mapping[str, Any] | None) -> None:
            if not answered.done():
                answered.set_result(content)

        if question.url:
            service.page_asked.emit(name, question.message, question.url, answer)
        else:
            service.elicitation.emit(name, question.message, question.schema, answer)
        try:
            content = await answered
        except asyncio.CancelledError:
            service.elicitation_over.emit(answer)
            raise
        if content is None:
            return {"action": "decline"}
        return {"action": "accept"} if question.url else {"action": "accept", "content": dict(content)}

    def on_browse(self, url: str) -> None:
        super().on_browse(url)
        if QUrl(url).scheme() in ("http", "https"):
            QDesktopServices.openUrl(QUrl(url))

    async def kept(self) -> str:
        if self._kept is None:
            self._kept = await off_loop(read_token, _secret_name(self.config.url))
        return self._kept

    def on_keep(self, text: str) -> None:
        self._kept = text
        spawn(self._keep(text))

    async def _keep(self, text: str) -> None:
        await off_loop(keep_token, _secret_name(self.config.url), text)


def _secret_name(url: str) -> str:
    """In the keyring."""
    return f"mcp {url}"


async def _forget_secret(url: str) -> None:
    await off_loop(keep_token, _secret_name(url), "")


def _checked(config: ServerConfig) -> ServerConfig:
    """Raises InvalidRequestError."""
    try:
        check(config)
        config = replace(config, name=checked_name(config.name))
    except ValueError as error:
        raise InvalidRequestError(said("This server cannot be used: {reason}.", reason=str(error))) from error
    if config.inputs:
        raise InvalidRequestError(said("Fill in all values first."))
    return config


def _is_chosen(tool: Tool, chosen: Iterable[str]) -> bool:
    return tool.key in chosen or f"{tool.server}/*" in chosen


def _from_start(tool: Tool) -> Approval:
    """Before the user has decided."""
    return Approval.ALWAYS if tool.is_harmless else Approval.ASK
