"""POST /v1/responses: OpenAI's second form of a chat, which coding agents speak.

A response is kept in memory for a while, unless `store` is false, so that the next one can refer to it.
"""

from __future__ import annotations

import asyncio

from aiohttp import web

from app.api.answering import stream_answers
from app.api.as_chat import as_chat
from app.api.chat_answer import answer_chat, count_prompt_tokens
from app.api.chat_fields import ChatFields
from app.api.json_body import AnyObject, as_json, beside, json_response, read_fields
from app.api.responses.fields import ResponseFields
from app.api.responses.response import Response, new_body
from app.api.responses.store import RESPONSES
from app.api.state import model_name


def add_routes(router: web.UrlDispatcher) -> None:
    for prefix in ("", "/v1"):
        router.add_post(f"{prefix}/responses", responses)
        router.add_post(f"{prefix}/responses/input_tokens", input_tokens)
        router.add_get(f"{prefix}/responses/{{id}}", stored_response)
        router.add_delete(f"{prefix}/responses/{{id}}", drop_response)


async def responses(request: web.Request) -> web.StreamResponse:
    fields, messages, chat_fields = await _read(request)
    name = model_name(request)
    body = await beside(request, lambda: new_body(fields, name))
    with await answer_chat(request, chat_fields) as chat:
        response = Response(request, fields, body, messages, chat)
        if fields.stream:
            return await stream_answers(request, chat.outputs, response)
        await chat.to_their_end()
    return json_response(await response.whole())


async def input_tokens(request: web.Request) -> web.Response:
    _fields, _messages, chat_fields = await _read(request)
    num_tokens = await count_prompt_tokens(request, chat_fields)
    return json_response({"object": "response.input_tokens", "input_tokens": num_tokens})


async def stored_response(request: web.Request) -> web.Response:
    stored = request.app[RESPONSES].get(request.match_info["id"])
    return web.Response(body=stored.body, content_type="application/json")


async def drop_response(request: web.Request) -> web.Response:
    response_id = request.match_info["id"]
    request.app[RESPONSES].drop(response_id)
    return json_response({"id": response_id, "object": "response", "deleted": True})


async def _read(request: web.Request) -> tuple[ResponseFields, bytes, ChatFields]:
    """The body, the messages of the chat that it means as JSON, and that chat. Raises ApiError."""
    fields = await read_fields(request, ResponseFields)
    store = request.app[RESPONSES]

    def messages() -> list[AnyObject]:
        return [*store.messages_of(fields.previous_response_id), *fields.messages(store.item)]

    asked = await asyncio.to_thread(messages) if fields.refers_back else await beside(request, messages)
    chat_fields = await as_chat(request, lambda: fields.chat_body(asked))
    return fields, await beside(request, lambda: as_json(asked).encode()), chat_fields
