"""The answers to a chat as messages: text, reasoning and tool calls. All endpoints that answer chats use it.

Bodies of other protocols become `ChatFields` first, so that all are checked, limited and queued alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from app.api.answering import Whole, whole_answers
from app.api.chat_fields import ChatFields
from app.api.engine_client import SERVER_STOPPED, OpenAnswers
from app.api.errors import ApiError, unavailable
from app.api.json_body import beside, is_whole_object
from app.api.media import with_read_media
from app.api.shelves import with_shelf
from app.api.state import client_of
from app.protocol.errors import PromptTooLongError, RequestError
from app.protocol.output import AnswerMessage, MessageDelta, Output, ToolCall, ToolCallDelta, new_call_id
from app.protocol.request import Overflow, Request
from app.protocol.sampling import shown
from app.tools.written_call import written_call

EMPTY: Mapping[str, Mapping[str, Any]] = {}


@dataclass(slots=True)
class ChatAnswer:
    """One answer so far."""

    whole: Whole = field(default_factory=Whole)
    message: AnswerMessage = field(default_factory=AnswerMessage)

    @property
    def finish_reason(self) -> str | None:
        """OpenAI's word: "stop", "length" or "tool_calls". None before its end."""
        has_calls = self.whole.finish_reason == "stop" and self.message.tool_calls and not self.cut_call
        return "tool_calls" if has_calls else self.whole.finish_reason

    @property
    def cut_call(self) -> ToolCall | None:
        """The call that the answer was cut in: by a limit, or by a stop string."""
        last = self.message.tool_calls[-1:]
        return next((call for call in last if not is_whole_object(call.arguments)), None)

    @property
    def warnings(self) -> list[str]:
        """Known at the end: no program should run a call that was cut."""
        cut = self.cut_call
        if cut is None:
            return []
        return [
            f"The call of {shown(cut.name)} was cut before its end: allow more tokens, or fewer stop strings."
        ]

    def add(self, delta: MessageDelta) -> None:
        self.message = self.message.grown(delta)


class ChatAnswers:
    """The answers to one request. Leaving the `with` block ends what is still running."""

    def __init__(
        self,
        request: web.Request,
        outputs: OpenAnswers,
        max_calls: int | None = None,
        schemas: Mapping[str, Mapping[str, Any]] = EMPTY,
    ) -> None:
        """At most `max_calls` calls of tools are passed on from each answer.

        A call of a tool of `schemas`, which have their parameters by name, may also be written as text.
        """
        self._schemas = schemas
        self.outputs = outputs
        self.answers = [ChatAnswer() for _request in outputs.requests]
        self._request = request
        client = client_of(request)
        self._readers = [client.reading.open(max_calls) for _request in outputs.requests]

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
        if output.delta:
            answer.add(output.delta)
            return output.delta
        if output.format:
            self._readers[index].note_format(output.format)
        return await self._add(index, output.text, is_last=output.finish_reason is not None)

    async def to_their_end(self) -> list[ChatAnswer]:
        """All answers, once they have ended. Raises ApiError when one of them fails."""
        wholes = await whole_answers(self._request, self.outputs)
        for index, whole in enumerate(wholes):
            self.answers[index].whole = whole
            if whole.delta:
                self.answers[index].add(whole.delta)
                continue
            self._readers[index].note_format(whole.format)
            await self._add(index, whole.text, is_last=True)
        return self.answers

    @property
    def warnings(self) -> list[str]:
        return list(dict.fromkeys(one for answer in self.answers for one in answer.warnings))

    async def _add(self, index: int, text: str, *, is_last: bool) -> MessageDelta:
        try:
            delta = await self._readers[index].read(text, is_last)
        except RequestError as error:
            if client_of(self._request).is_closed:  # and its reader with it
                raise unavailable(SERVER_STOPPED) from error
            raise ApiError(500, str(error)) from error
        answer = self.answers[index]
        answer.add(delta)
        is_text = is_last and answer.whole.finish_reason == "stop" and not answer.message.tool_calls
        if is_text and (found := written_call(answer.message.content, self._schemas)):
            call = ToolCallDelta(0, new_call_id(), found.name, found.arguments)
            answer.message = replace(answer.message, content=found.before).grown(
                MessageDelta(tool_calls=(call,))
            )
            return replace(delta, tool_calls=(call,))
        return delta


async def answer_chat(request: web.Request, fields: ChatFields) -> ChatAnswers:
    """Submits the chat. Raises ApiError and RequestError."""
    client = client_of(request)
    sampling = client.sampling
    requests = await beside(request, lambda: fields.requests(sampling))
    requests = await with_read_media(request, requests)
    if fields.shelf:
        requests = await with_shelf(request, fields.shelf, requests)
    outputs = client.answer(*requests, reports_progress=fields.reports_progress)
    max_calls = 1 if fields.parallel_tool_calls is False else None
    return ChatAnswers(request, outputs, max_calls, fields.schemas_of_calls_in_text)


async def count_prompt_tokens(request: web.Request, fields: ChatFields) -> int:
    """How many tokens the prompt of a chat has, without answering it; more than fit are counted, too.

    Raises ApiError and RequestError.
    """
    return await num_tokens_of(request, await read_request(request, fields))


async def read_request(request: web.Request, fields: ChatFields) -> Request:
    """What the engine is asked for a chat, whose pictures and sounds were read. Raises as above."""
    client = client_of(request)
    sampling = client.sampling
    asked = await beside(request, lambda: fields.request(sampling))
    [read] = await with_read_media(request, [client.defaults.applied_to(asked)])
    if fields.shelf:
        [read] = await with_shelf(request, fields.shelf, [read])
    return replace(read, overflow=Overflow.STOP)


async def num_tokens_of(request: web.Request, asked: Request) -> int:
    """Of its prompt, from which nothing is left out."""
    try:
        return await client_of(request).use_prompts(lambda prompts: len(prompts.build(asked).token_ids))
    except PromptTooLongError as error:
        return error.num_prompt_tokens
