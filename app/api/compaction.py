"""Sums up a chat that has become long before it is answered: what Anthropic and OpenAI call compaction.

The model is asked behind the chat itself, most of whose cells are there: only the question is computed, and
the summary. One that is empty, cut off or too long is not used.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from itertools import takewhile

from aiohttp import web

from app.api import engine_client
from app.api.answer_parts import no_room
from app.api.answering import Chunks, stream_answers
from app.api.chat_answer import ChatAnswer, ChatAnswers, answer_chat, num_tokens_of, read_request
from app.api.chat_fields import ChatFields
from app.api.errors import from_engine
from app.api.json_body import AnyObject, json_response
from app.api.state import client_of
from app.chats.summary import ASKED, MAX_TOKENS, MIN_TOKENS, Summary, checked, max_tokens, messages_of, wish
from app.protocol.errors import EngineError, RequestError
from app.protocol.output import Output, Usage
from app.protocol.request import Message, Request, Role, aside

GO_ON = {"role": "user", "content": "Go on."}  # where the user says nothing behind a summary
OURS = (GO_ON, {"role": "user", "content": ASKED})  # the first of the user behind a compaction
NOT_SUMMED_UP = "The conversation was not summed up. {}"
NOT_COUNTED = "The server that runs the model does not tell how many tokens it has."
ONE_TOO_LONG = "One message alone is too long to be summed up."


@dataclass(frozen=True, slots=True)
class Compaction:
    """Without a `text`, `warnings` say why no summary is used, if one was needed.

    A chat that is too long to be asked about is summed up in parts: each has its own of `usages`.
    """

    text: str = ""
    warnings: tuple[str, ...] = ()
    usages: tuple[Usage, ...] = ()


class LateAnswer(Chunks):
    """`chat` and `compaction` are there before the first event. Without a chat it is the compaction alone."""

    chat: ChatAnswers | None = None
    compaction = Compaction()

    @property
    def answer(self) -> ChatAnswer:
        return self.chat.answers[0] if self.chat else ChatAnswer()

    async def whole(self) -> AnyObject:
        raise NotImplementedError


async def compact(
    request: web.Request, fields: ChatFields, threshold: int | None, instructions: str | None = None
) -> Compaction:
    """Of a chat that does not fit, or whose prompt has more tokens than `threshold`, if there is one.

    `instructions` are what the model is asked instead of the question that the window asks. Raises ApiError,
    also if the chat does not fit and cannot be summed up.
    """
    model = client_of(request).model
    if model.is_foreign:
        return Compaction("", (NOT_SUMMED_UP.format(NOT_COUNTED),))
    asked = await read_request(request, fields)
    num_tokens, n_ctx = await num_tokens_of(request, asked), model.max_sequence_tokens
    if num_tokens < n_ctx and (threshold is None or num_tokens <= threshold):
        return Compaction()
    compaction = await _summed_up(request, asked, (instructions or "").strip())
    if not compaction.text and num_tokens >= n_ctx:
        raise no_room(num_tokens, n_ctx, *compaction.warnings)
    return compaction


def shortened(messages: list[AnyObject], summary: str) -> list[AnyObject]:
    """The last message alone behind the summary. Results of tools are a part of that."""
    first = takewhile(lambda one: one["role"] in ("system", "developer"), messages)
    return [*first, *stand_in(summary, [one for one in messages[-1:] if one["role"] != "tool"])]


def stand_in(summary: str, rest: list[AnyObject]) -> list[AnyObject]:
    """What the model reads where a compaction stands, and the `rest` of the chat behind it."""
    told = [{"role": str(one.role), "content": one.content} for one in messages_of(Summary(summary), ())]
    return [*told, *([] if rest and rest[0]["role"] == "user" else [GO_ON]), *rest]


async def _summed_up(request: web.Request, asked: Request, instructions: str) -> Compaction:
    n_ctx = client_of(request).model.max_sequence_tokens
    messages, usages = asked.messages, tuple[Usage, ...]()
    first = len(list(takewhile(lambda one: one.role is Role.SYSTEM, messages)))
    least, end = first, len(messages)

    def asking(most: int) -> Request:
        question = Message(Role.USER, instructions) if instructions else wish(most)
        return aside(replace(asked, messages=(*messages[:end], question)), most)

    while end > least:
        num_tokens = await num_tokens_of(request, asking(MAX_TOKENS))
        if num_tokens > n_ctx - MIN_TOKENS:  # half of them, with the results of their calls
            end = (least + end) // 2
            while messages[end].role is Role.TOOL:
                end -= 1
            continue
        most = max_tokens(num_tokens, n_ctx - num_tokens)
        with ChatAnswers(request, client_of(request).answer(asking(most))) as chat:
            [answer] = await chat.to_their_end()
        usage, text = answer.whole.usage, answer.message.content.strip()
        usages += (usage,)
        if trouble := checked(text, usage, is_cut=answer.whole.finish_reason == "length"):
            return Compaction("", (NOT_SUMMED_UP.format(trouble),), usages)
        if end == len(messages):
            return Compaction(text, usages=usages)
        between = [] if messages[end].role is Role.USER else [Message(Role.USER, GO_ON["content"])]
        before = (*messages[:first], *messages_of(Summary(text), ()), *between)
        messages, least = (*before, *messages[end:]), len(before)
        end = len(messages)
    return Compaction("", (NOT_SUMMED_UP.format(ONE_TOO_LONG),), usages)


async def answer_late(
    request: web.Request, asked: Awaitable[ChatFields | None], answer: LateAnswer, *, is_streamed: bool | None
) -> web.StreamResponse:
    """Sends the answer to the chat that is `asked`, which may take long to be known."""
    with ExitStack() as running:

        async def begin() -> ChatAnswers | None:
            if fields := await asked:
                answer.chat = running.enter_context(await answer_chat(request, fields))
            return answer.chat

        if is_streamed:
            async with aclosing(_outputs(begin())) as outputs:
                return await stream_answers(request, outputs, answer)
        if chat := await begin():
            await chat.to_their_end()
        return json_response(await answer.whole())


async def _outputs(begin: Awaitable[ChatAnswers | None]) -> AsyncGenerator[list[tuple[int, Output]], None]:
    """Before there are any, an empty list whenever it has been quiet for long."""
    begun = asyncio.ensure_future(begin)
    try:
        while not (await asyncio.wait({begun}, timeout=engine_client.QUIET_SECONDS))[0]:
            yield []
        if chat := begun.result():
            async for batch in chat.outputs:
                yield batch
    except (RequestError, EngineError) as error:
        raise from_engine(error) from None
    finally:
        begun.cancel()
