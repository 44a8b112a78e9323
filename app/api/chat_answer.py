"""The answers to a chat as messages: text, reasoning and tool calls. All endpoints that answer chats use it.

Bodies of other protocols become `ChatFields` first, so that all are checked, limited and queued alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from aiohttp import web

from app.api.answering import Whole, whole_answers
from app.api.chat_fields import ChatFields
from app.api.engine_client import Answers
from app.api.errors import invalid
from app.api.json_body import beside
from app.api.state import CLIENT
from app.api.tool_calls import ToolCallReader
from app.protocol.answer_message import AnswerMessage, MessageDelta, ToolCall, ToolCallDelta
from app.protocol.output import Output


class Reader(Protocol):
    """Reads one answer, whole or in pieces."""

    async def read(self, text: str, is_last: bool) -> MessageDelta: ...


class PlainReader:
    """For an answer to a raw prompt: all of it is content."""

    async def read(self, text: str, is_last: bool) -> MessageDelta:  # noqa: ARG002
        return MessageDelta(text)


class MessageReader:
    """Finds out what of an answer's text is content, and what calls a tool."""

    def __init__(self, fields: ChatFields) -> None:
        self._calls = ToolCallReader(fields.tool_names) if fields.offered_tools else None
        self._max_calls = 1 if fields.parallel_tool_calls is False else None

    async def read(self, text: str, is_last: bool) -> MessageDelta:
        if self._calls is None:
            return MessageDelta(text)
        content = self._calls.feed(text)
        if not is_last:
            return MessageDelta(content)
        rest, calls = self._calls.finish()
        deltas = [
            ToolCallDelta(index, call.id, call.name, call.arguments)
            for index, call in enumerate(calls[: self._max_calls])
        ]
        return MessageDelta(content + rest, tool_calls=tuple(deltas))


@dataclass(slots=True)
class ChatAnswer:
    """One answer so far."""

    whole: Whole = field(default_factory=Whole)
    message: AnswerMessage = field(default_factory=AnswerMessage)

    @property
    def finish_reason(self) -> str | None:
        """OpenAI's word: "stop", "length" or "tool_calls". None before its end."""
        stopped = self.whole.finish_reason == "stop"
        return "tool_calls" if stopped and self.message.tool_calls else self.whole.finish_reason

    def add(self, delta: MessageDelta) -> None:
        calls = list(self.message.tool_calls)
        for one in delta.tool_calls:
            if one.index == len(calls):
                calls.append(ToolCall(one.id, one.name, one.arguments))
            else:
                call = calls[one.index]
                calls[one.index] = ToolCall(call.id, call.name, call.arguments + one.arguments)
        content = self.message.content + delta.content
        self.message = AnswerMessage(content, self.message.reasoning + delta.reasoning, tuple(calls))


class ChatAnswers:
    """The answers to one request. Leaving the `with` block ends what is still running."""

    def __init__(self, request: web.Request, outputs: Answers, readers: Sequence[Reader]) -> None:
        self.outputs = outputs
        self.answers = [ChatAnswer() for _reader in readers]
        self._request = request
        self._readers = readers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.outputs.abort()

    async def read(self, index: int, output: Output) -> MessageDelta:
        """What `output` adds to answer number `index`."""
        answer = self.answers[index]
        answer.whole.add(output)
        delta = await self._readers[index].read(output.text, output.finish_reason is not None)
        answer.add(delta)
        return delta

    async def to_their_end(self) -> list[ChatAnswer]:
        """All answers, once they have ended. Raises ApiError when one of them fails."""
        wholes = await whole_answers(self._request, self.outputs)
        for answer, whole, reader in zip(self.answers, wholes, self._readers, strict=True):
            answer.whole = whole
            answer.add(await reader.read(whole.text, is_last=True))
        return self.answers


async def answer_chat(request: web.Request, fields: ChatFields) -> ChatAnswers:
    """Submits the chat. Raises ApiError and RequestError."""
    client = request.app[CLIENT]
    await require_tools(request, fields)
    sampling = client.sampling
    requests = await beside(request, lambda: list(map(client.defaults.applied_to, fields.requests(sampling))))
    outputs = client.answer(*requests, reports_progress=fields.reports_progress)
    return ChatAnswers(request, outputs, [MessageReader(fields) for _request in requests])


async def count_prompt_tokens(request: web.Request, fields: ChatFields) -> int:
    """How many tokens the prompt of a chat has, without answering it. Raises ApiError and RequestError."""
    client = request.app[CLIENT]
    await require_tools(request, fields)
    sampling = client.sampling
    asked = client.defaults.applied_to(await beside(request, lambda: fields.request(sampling)))
    return await client.use_prompts(lambda prompts: len(prompts.build(asked).token_ids))


async def require_tools(request: web.Request, fields: ChatFields) -> None:
    """Raises ApiError where tools are offered that the model could not be shown."""
    if fields.offered_tools:
        takes_tools = await request.app[CLIENT].use_prompts(lambda prompts: prompts.takes_tools)
        if not takes_tools:
            raise invalid(
                "This model's chat template knows no tools. Ask without them, or open another model."
            )
