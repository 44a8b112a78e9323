"""The tools of one chat: what its requests offer, what that costs, and which calls may run. GUI thread."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from app.bridge.chat_limits import ChatLimits
from app.bridge.engines import ChatEngine
from app.bridge.tasks import spawn
from app.bridge.tool_access import ToolAccess
from app.bridge.tool_list import are_too_many, listed
from app.bridge.tool_permits import ToolPermits
from app.bridge.tool_results import num_told, read_more
from app.bridge.tool_rounds import Listener, OfferedTool, Run, ToolRounds
from app.chats.chat import Chat, Turn
from app.chats.tool_use import ToolUse
from app.protocol.answer_format import ChatParams
from app.protocol.errors import EngineError, RequestError
from app.protocol.request import Message, Overflow, Request, Role
from app.settings.settings import Settings
from app.tools.server_config import HAND_OUT, RECALL
from app.tools.tool import Tool

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder


class ChatTools:
    def __init__(
        self,
        chat: Chat,
        engine: ChatEngine,
        settings: Settings,
        limits: ChatLimits,
        access: ToolAccess,
        parent: QObject,
    ) -> None:
        self._chat, self._engine, self._settings, self._limits = chat, engine, settings, limits
        self._access = access
        self.permits = ToolPermits(access)
        self.cost = ToolCost(engine, parent)

    def is_ready(self) -> bool:
        """No server that was chosen is still starting."""
        return self._access.kit.is_ready(self._chat.tools)

    async def prepare(self) -> None:
        await self._access.kit.prepare(self._chat.tools)

    def missing(self) -> tuple[str, ...]:
        """The MCP servers that were chosen and have not started."""
        return self._access.kit.missing(self._chat.tools)

    def offered(self, delegate: Run | None = None) -> list[OfferedTool]:
        """What the chat's next request offers. `delegate` hands out tasks."""
        offered = self._chosen(delegate)
        if self._are_too_many(offered):
            offered = listed(offered)
        return [*offered, read_more(self._chat, self.num_told)] if offered else []

    @property
    def are_listed(self) -> bool:
        """By name, because their descriptions need too much of the context."""
        return self._are_too_many(self._chosen())

    def _chosen(self, delegate: Run | None = None) -> list[OfferedTool]:
        if not self._chat.tools or self._chat.is_notebook:
            return []
        kit, chosen = self._access.kit, self._chat.tools
        if self._chat.overflow is Overflow.SUM_UP or self._chat.num_summed_up():
            chosen = (*chosen, RECALL)
        own = {HAND_OUT: delegate} if delegate else {}
        return [OfferedTool(one, own.get(one.key, partial(self._run, one))) for one in kit.offered(chosen)]

    def _are_too_many(self, offered: list[OfferedTool]) -> bool:
        return are_too_many(offered, self._limits.room, self._settings.max_tool_share)

    @property
    def num_tokens(self) -> int | None:
        """What the tools that are offered now cost in each prompt. None: it is not known yet."""
        return self.cost.of(definitions(one.tool for one in self.offered()))

    async def num_told(self, result: str, num_parts: int = 1) -> int | None:
        """Of one result no more than a quarter of the context: others follow, and an answer.

        Of each of its `num_parts` parts as much as all of them can have.
        """
        limit, room = self._settings.max_tool_result_tokens, self._limits.room
        return await num_told(self._engine, result, (min(limit, room // 4) if room else limit) // num_parts)

    @property
    def max_task_depth(self) -> int:
        return self._settings.max_task_depth

    def rounds(self, turn: Turn, listener: Listener, most: int | None = None) -> ToolRounds:
        """`most`: of its rounds, where that is less than the settings allow."""
        limit = self._settings.max_tool_rounds
        return ToolRounds(turn, self._access, self.permits, min(limit, most or limit), listener)

    async def _run(self, tool: Tool, _use: ToolUse, arguments: dict[str, Any]) -> str:
        return await self._access.kit.call(tool, arguments, self._chat.id)


def definitions(tools: Iterable[Tool]) -> str:
    """As a request has them. Empty without tools."""
    found = [tool.definition for tool in tools]
    return json.dumps(found) if found else ""


_ANY = (Message(Role.USER, "x"),)


class ToolCost(QObject):
    """What the tools of a chat cost in each of its prompts, for the gauge."""

    measured = Signal()

    def __init__(self, engine: ChatEngine, parent: QObject) -> None:
        super().__init__(parent)
        self._engine = engine
        self._known: dict[tuple[str, str], int | None] = {}  # by model and definitions; the last one
        self._is_measuring = False

    def of(self, definitions: str) -> int | None:
        """Tokens of these definitions, a JSON list, as the model's template writes them.

        None: they are not measured yet, which begins with this call, or the model takes none.
        """
        if not definitions:
            return 0
        model = self._engine.model
        if model is None or model.server or self._engine.is_asleep:  # does not wake it up
            return None
        key = (str(model.path), definitions)
        if key not in self._known and not self._is_measuring:
            self._is_measuring = True
            spawn(self._measure(key))
        return self._known.get(key)

    async def _measure(self, key: tuple[str, str]) -> None:
        number = None
        try:
            number = await asyncio.wrap_future(self._engine.use_prompts(partial(_num_tokens, key[1])))
        except RequestError:  # its template has no place for tools
            pass
        except EngineError:  # it is gone: the next call measures again
            self._is_measuring = False
            return
        self._is_measuring = False
        self._known = {key: number}
        if isValid(self):  # its chat was not closed meanwhile
            self.measured.emit()


def _num_tokens(definitions: str, prompts: PromptBuilder) -> int:
    """The prompt thread."""
    plain = Request("", "", _ANY)
    with_tools = Request("", "", _ANY, chat_params=ChatParams(tools=definitions))
    texts = (prompts.render(request) for request in (with_tools, plain))
    with_them, without = (len(prompts.tokenize(text)) for text in texts)
    return with_them - without
