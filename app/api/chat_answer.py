"""The answers to a chat as messages: text, reasoning and tool calls. All endpoints that answer chats use it.

Bodies of other protocols become `ChatFields` first, so that all are checked, limited and queued alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from aiohttp import web

from app.api.answering import Whole, whole_answers
from app.api.chat_fields import ChatFields
from app.api.engine_client import Answers, EngineClient
from app.api.errors import ApiError
from app.api.json_body import beside
from app.api.state import CLIENT
from app.engine.answer_reader import AnswerReader
from app.protocol.answer_format import AnswerFormat
from app.protocol.answer_message import AnswerMessage, MessageDelta, ToolCall
from app.protocol.errors import RequestError
from app.protocol.output import Output

REST = 4  # so many times as long as reading an answer took, it is not read again


class MessageReader:
    """Reads one answer, whole or in pieces, on a thread of its own."""

    def __init__(self, client: EngineClient, max_calls: int | None) -> None:
        self._client = client
        self._max_calls = max_calls
        self._reader: AnswerReader | None = None
        self._rests_until = 0.0
        self._unread = ""

    def note_format(self, format_: AnswerFormat) -> None:
        """How the model writes this answer. Before anything is read."""
        if format_.parser:
            self._reader = self._client.readers.open(format_.parser)

    def close(self) -> None:
        if self._reader:
            with contextlib.suppress(RuntimeError):  # the server stops
                self._client.reading.submit(self._reader.close)

    async def read(self, text: str, is_last: bool) -> MessageDelta:
        """Raises ApiError."""
        if self._reader is None:
            return MessageDelta(text)
        self._unread += text
        # An answer is read from its beginning each time: a long one less often, so that all take their turns.
        if not is_last and time.monotonic() < self._rests_until:
            return MessageDelta()
        unread, self._unread = self._unread, ""
        try:
            delta = await asyncio.get_running_loop().run_in_executor(
                self._client.reading, self._reader.read, unread, is_last
            )
        except RequestError as error:
            raise ApiError(500, str(error)) from error
        self._rests_until = time.monotonic() + REST * self._reader.seconds
        if self._max_calls is None:
            return delta
        return replace(
            delta, tool_calls=tuple(one for one in delta.tool_calls if one.index < self._max_calls)
        )


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

    def __init__(self, request: web.Request, outputs: Answers, max_calls: int | None = None) -> None:
        """Of each answer, at most `max_calls` calls of tools are told."""
        self.outputs = outputs
        self.answers = [ChatAnswer() for _request in outputs.requests]
        self._request = request
        client = request.app[CLIENT]
        self._readers = [MessageReader(client, max_calls) for _request in outputs.requests]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.outputs.abort()
        for reader in self._readers:
            reader.close()

    async def read(self, index: int, output: Output) -> MessageDelta:
        """What `output` adds to answer number `index`."""
        answer = self.answers[index]
        answer.whole.add(output)
        if output.format:
            self._readers[index].note_format(output.format)
        delta = await self._readers[index].read(output.text, output.finish_reason is not None)
        answer.add(delta)
        return delta

    async def to_their_end(self) -> list[ChatAnswer]:
        """All answers, once they have ended. Raises ApiError when one of them fails."""
        wholes = await whole_answers(self._request, self.outputs)
        for answer, whole, reader in zip(self.answers, wholes, self._readers, strict=True):
            answer.whole = whole
            reader.note_format(whole.format)
            answer.add(await reader.read(whole.text, is_last=True))
        return self.answers


async def answer_chat(request: web.Request, fields: ChatFields) -> ChatAnswers:
    """Submits the chat. Raises ApiError and RequestError."""
    client = request.app[CLIENT]
    sampling = client.sampling
    requests = await beside(request, lambda: list(map(client.defaults.applied_to, fields.requests(sampling))))
    outputs = client.answer(*requests, reports_progress=fields.reports_progress)
    return ChatAnswers(request, outputs, 1 if fields.parallel_tool_calls is False else None)


async def count_prompt_tokens(request: web.Request, fields: ChatFields) -> int:
    """How many tokens the prompt of a chat has, without answering it. Raises ApiError and RequestError."""
    client = request.app[CLIENT]
    sampling = client.sampling
    asked = client.defaults.applied_to(await beside(request, lambda: fields.request(sampling)))
    return await client.use_prompts(lambda prompts: len(prompts.build(asked).token_ids))
