"""Which calls of one chat may run. GUI thread."""

import asyncio
from dataclasses import dataclass

from app.bridge.tool_access import ToolAccess
from app.chats.tool_use import Decision, ToolUse
from app.tools.tool import Approval, Tool


@dataclass(slots=True, eq=False)
class _Question:
    use: ToolUse
    tool: Tool
    model: str
    answer: asyncio.Future[bool]


class ToolPermits:
    def __init__(self, access: ToolAccess) -> None:
        self._access = access
        self._in_this_chat: set[str] = set()  # keys of tools, until the chat is closed
        self._open: list[_Question] = []

    def of(self, tool: Tool) -> Approval:
        approval = self._access.kit.approval(tool)
        if approval is Approval.ASK and tool.key in self._in_this_chat and not tool.always_asks:
            return Approval.ALWAYS
        return approval

    def takes_text(self, model: str) -> bool:
        return self._access.kit.calls_in_text(model)

    async def ask(self, use: ToolUse, tool: Tool, model: str) -> bool:
        """What the user decides."""
        question = _Question(use, tool, model, asyncio.get_running_loop().create_future())
        self._open.append(question)
        try:
            return await question.answer
        finally:
            self._open.remove(question)

    def decide(self, use: ToolUse, decision: Decision) -> None:
        """Other calls of the same tool that wait follow, unless the decision is for this call alone."""
        question = next((one for one in self._open if one.use is use), None)
        if question is None:  # it was stopped meanwhile
            return
        tool = question.tool
        match decision:
            case Decision.THIS_CHAT:
                self._in_this_chat.add(tool.key)
            case Decision.THIS_MODEL:
                self._access.kit.set_calls_in_text(question.model)
            case Decision.ALWAYS:
                self._access.kit.set_approval(tool, Approval.ALWAYS)
            case Decision.NEVER:
                self._access.kit.set_approval(tool, Approval.NEVER)
        is_for_all = decision not in (Decision.ONCE, Decision.THIS_MODEL, Decision.REFUSE)
        for one in self._open:
            if one is question or (is_for_all and one.tool.key == tool.key):
                _answer(one.answer, decision not in (Decision.NEVER, Decision.REFUSE))


def _answer(future: asyncio.Future[bool], is_allowed: bool) -> None:
    if not future.done():
        future.set_result(is_allowed)
