"""POST /v1/messages: Anthropic's form of a chat, which its coding agents speak."""

from __future__ import annotations

from aiohttp import web

from app.api.anthropic.context import edited
from app.api.anthropic.fields import MessagesFields
from app.api.anthropic.message import AnthropicAnswer
from app.api.as_chat import as_chat
from app.api.chat_answer import count_prompt_tokens
from app.api.chat_fields import ChatFields
from app.api.compaction import answer_late, compact, shortened
from app.api.json_body import AnyObject, json_response, read_fields
from app.api.state import model_name, take_model

PREFIX = "/v1/messages"


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post(PREFIX, messages)
    router.add_post(f"{PREFIX}/count_tokens", count_tokens)


async def messages(request: web.Request) -> web.StreamResponse:
    fields, applied = await _edited(request, await read_fields(request, MessagesFields))
    chat_fields = await as_chat(request, fields.chat_body)
    answer = AnthropicAnswer(model_name(request), fields, applied)

    async def asked() -> ChatFields | None:
        edit = fields.compacts
        if edit:
            answer.compaction = await compact(request, chat_fields, edit.threshold, edit.instructions)
        if not edit or not answer.compaction.text:
            return chat_fields
        body = fields.chat_body()
        body["messages"] = shortened(body["messages"], answer.compaction.text)
        return None if edit.pause_after_compaction else await as_chat(request, lambda: body)

    return await answer_late(request, asked(), answer, is_streamed=fields.stream)


async def count_tokens(request: web.Request) -> web.Response:
    fields = await read_fields(request, MessagesFields)
    shorter, applied = await _edited(request, fields)
    told: AnyObject = {"input_tokens": await _count(request, shorter)}
    if applied:
        told["context_management"] = {"original_input_tokens": await _count(request, fields)}
    return json_response(told)


async def _count(request: web.Request, fields: MessagesFields) -> int:
    return await count_prompt_tokens(request, await as_chat(request, fields.chat_body))


async def _edited(request: web.Request, fields: MessagesFields) -> tuple[MessagesFields, list[AnyObject]]:
    if not fields.edits or (await take_model(request)).info.is_foreign:  # its server counts no tokens
        return fields, []
    return await edited(fields, lambda one: _count(request, one))
