"""POST /v1/messages: Anthropic's form of a chat, which its coding agents speak."""

from __future__ import annotations

from aiohttp import web

from app.api.answering import stream_answers
from app.api.anthropic.fields import MessagesFields
from app.api.anthropic.message import AnthropicAnswer
from app.api.as_chat import as_chat
from app.api.chat_answer import answer_chat, count_prompt_tokens
from app.api.json_body import json_response, read_fields
from app.api.state import model_name

PREFIX = "/v1/messages"


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post(PREFIX, messages)
    router.add_post(f"{PREFIX}/count_tokens", count_tokens)


async def messages(request: web.Request) -> web.StreamResponse:
    fields = await read_fields(request, MessagesFields)
    chat_fields = await as_chat(request, fields.chat_body)
    with await answer_chat(request, chat_fields) as chat:
        message = AnthropicAnswer(model_name(request), fields, chat)
        if fields.stream:
            return await stream_answers(request, chat.outputs, message)
        await chat.to_their_end()
    return json_response(message.whole())


async def count_tokens(request: web.Request) -> web.Response:
    fields = await read_fields(request, MessagesFields)
    chat_fields = await as_chat(request, fields.chat_body)
    return json_response({"input_tokens": await count_prompt_tokens(request, chat_fields)})
