"""A kit whose tools do what the test says, and a reader of a toy language: calls are written «name {…}»."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.engine.prompts.chat_worker import ChatWorker
from app.protocol.answer_format import AnswerFormat
from app.protocol.output import MessageDelta, ToolCallDelta
from app.tools.tool import Approval, Result, Surroundings, Tool, ToolError

CALL = re.compile("«([a-z_]+) ([^»]*)(»?)")
FORMAT = AnswerFormat(parser="{}")


async def _never(_arguments: Mapping[str, Any], _where: Surroundings) -> Result:
    raise AssertionError("a session calls the kit")


def tool(name: str, *properties: str, server: str = "fake") -> Tool:
    known = {each: {"type": "string"} for each in properties}
    schema = {"type": "object", "properties": known, "required": list(properties)}
    return Tool(name, name, f"Does {name}.", schema, _never, key=f"{server}/{name}")


class FakeKit:
    """Each call waits for `finish`, or ends at once where `answers` has its tool."""

    def __init__(self, *tools: Tool) -> None:
        self.tools = {one.key: one for one in tools}
        self.approvals: dict[str, Approval] = {}
        self.calling_in_text: set[str] = set()
        self.answers: dict[str, Callable[[Mapping[str, Any]], str]] = {}
        self.running: list[tuple[Tool, Mapping[str, Any], asyncio.Future[str]]] = []
        self.preparing: asyncio.Future[None] | None = None
        self.not_started: tuple[str, ...] = ()
        self.num_called = 0
        self.num_cancelled = 0

    def offered(self, chosen: Sequence[str]) -> tuple[Tool, ...]:
        return tuple(
            one
            for key, one in self.tools.items()
            if (key in chosen or f"{one.server}/*" in chosen) and self.approval(one) is not Approval.NEVER
        )

    def is_ready(self, _chosen: Sequence[str]) -> bool:
        return self.preparing is None

    async def prepare(self, _chosen: Sequence[str]) -> None:
        if self.preparing:
            await self.preparing

    def missing(self, _chosen: Sequence[str]) -> tuple[str, ...]:
        return self.not_started

    def approval(self, tool: Tool) -> Approval:
        return self.approvals.get(tool.key, Approval.ASK)

    def set_approval(self, tool: Tool, approval: Approval) -> None:
        self.approvals[tool.key] = approval

    def calls_in_text(self, model: str) -> bool:
        return model in self.calling_in_text

    def set_calls_in_text(self, model: str) -> None:
        self.calling_in_text.add(model)

    async def call(self, tool: Tool, arguments: Mapping[str, Any], _chat_id: str) -> str:
        self.num_called += 1
        if answer := self.answers.get(tool.name):
            return answer(arguments)
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.running.append((tool, arguments, future))
        try:
            return await future
        except asyncio.CancelledError:
            self.num_cancelled += 1
            raise
        finally:
            self.running = [one for one in self.running if one[2] is not future]

    def finish(self, result: str | ToolError, index: int = 0) -> None:
        future = self.running[index][2]
        if isinstance(result, ToolError):
            future.set_exception(result)
        else:
            future.set_result(result)


class FakeReaders:
    chat_layer = ChatWorker()  # not started before it is asked

    def __init__(self, thinking_end: str = "") -> None:
        self._thinking_end = thinking_end

    def start(self) -> None: ...

    def open(self, _max_calls: int | None = None) -> FakeReader:
        return FakeReader(self._thinking_end)

    def close(self) -> None: ...


class FakeReader:
    """Of an answer with «calls»: what stands before the first is its content, and its thinking before that.

    The thinking is opened by the prompt, and ends at `thinking_end`, if that is given.
    """

    def __init__(self, thinking_end: str) -> None:
        self.has_format = False
        self._thinking_end = thinking_end
        self._text = ""
        self._content = self._reasoning = ""
        self._told: list[str] = []  # arguments by call

    def note_format(self, _format: AnswerFormat) -> None:
        self.has_format = True

    def close(self) -> None: ...

    async def read(self, text: str, is_last: bool) -> MessageDelta:
        if not self.has_format:
            return MessageDelta(text)
        await asyncio.sleep(0)
        self._text += text
        before_calls = self._text.partition("«")[0]
        reasoning, end, content = before_calls.partition(self._thinking_end or "\0")
        if not end and not self._thinking_end:
            reasoning, content = "", before_calls
        new, self._content = content[len(self._content) :], content
        thought, self._reasoning = reasoning[len(self._reasoning) :], reasoning
        return MessageDelta(new, thought, tuple(self._calls(is_last)))

    def _calls(self, _is_last: bool) -> list[ToolCallDelta]:
        deltas = []
        for index, match in enumerate(CALL.finditer(self._text)):
            name, arguments, _end = match.groups()
            if index == len(self._told):
                self._told.append("")
                deltas.append(ToolCallDelta(index, f"id{id(self) % 9973}-{index}", name, arguments))
            elif len(arguments) > len(self._told[index]):
                deltas.append(ToolCallDelta(index, arguments=arguments[len(self._told[index]) :]))
            self._told[index] = arguments
        return deltas
