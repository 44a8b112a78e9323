"""POST /v1/responses: OpenAI's second form of a chat, which coding agents speak.

A response is kept in memory for a while, unless `store` is false, so that the next one can refer to it.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from itertools import dropwhile

from aiohttp import web

from app.api.answer_parts import warnings_json
from app.api.as_chat import as_chat
from app.api.chat_answer import count_prompt_tokens
from app.api.chat_fields import ChatFields
from app.api.compaction import OURS, answer_late, compact, shortened
from app.api.errors import ApiError
from app.api.json_body import AnyObject, as_json, beside, json_response, read_fields
from app.api.responses.fields import ResponseFields
from app.api.responses.output import compaction_item, user_item
from app.api.responses.response import Response, new_body, usage_json
from app.api.responses.store import RESPONSES
from app.api.state import model_name

INSTEAD = "Send all of it, begin a new conversation, or have another model sum it up."


def add_routes(router: web.UrlDispatcher) -> None:
    for prefix in ("", "/v1"):
        router.add_post(f"{prefix}/responses", responses)
        router.add_post(f"{prefix}/responses/input_tokens", input_tokens)
        router.add_post(f"{prefix}/responses/compact", compacted)
        router.add_get(f"{prefix}/responses/{{id}}", stored_response)
        router.add_delete(f"{prefix}/responses/{{id}}", drop_response)


async def responses(request: web.Request) -> web.StreamResponse:
    fields, messages, chat_fields = await _read(request)
    name = model_name(request)
    body = await beside(request, lambda: new_body(fields, name))
    answer = Response(request, fields, body, await beside(request, lambda: as_json(messages).encode()))

    async def asked() -> ChatFields:
        for entry in fields.context_management or ():
            answer.compaction = await compact(request, chat_fields, entry.compact_threshold)
        if not answer.compaction.text:
            return chat_fields
        left = shortened(messages, answer.compaction.text)
        answer.messages = as_json(left).encode()
        return await as_chat(request, lambda: fields.chat_body(left))

    return await answer_late(request, asked(), answer, is_streamed=fields.stream)


async def compacted(request: web.Request) -> web.Response:
    """The user's messages, and a compaction in the place of them and all others."""
    fields, messages, chat_fields = await _read(request)
    found = await compact(request, chat_fields, 0)
    if not found.text:
        # Where it was asked, the model has failed, and not the caller.
        raise ApiError(500 if found.usages else 400, " ".join((*found.warnings, INSTEAD)))
    asked = dropwhile(OURS.__contains__, (one for one in messages if one["role"] == "user"))
    body = {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response.compaction",
        "created_at": int(time.time()),
        "output": [*(user_item(one["content"]) for one in asked), compaction_item(found.text)],
        "usage": usage_json(found.usages),
        **warnings_json(fields.warnings),
    }
    return json_response(body)


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


async def _read(request: web.Request) -> tuple[ResponseFields, list[AnyObject], ChatFields]:
    """The body, the messages of the chat that it means, and that chat. Raises ApiError."""
    fields = await read_fields(request, ResponseFields)
    store = request.app[RESPONSES]

    def messages() -> list[AnyObject]:
        return fields.messages(store.messages_of(fields.previous_response_id), store.item)

    asked = await asyncio.to_thread(messages) if fields.refers_back else await beside(request, messages)
    return fields, asked, await as_chat(request, lambda: fields.chat_body(asked))
