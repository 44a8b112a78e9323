"""Ollama's API, so that programs that know no other find Skein at its address.

What changes models (pull, create, delete) is refused: they are chosen in Skein.
"""

from __future__ import annotations

from functools import partial
from typing import NoReturn

from aiohttp import web

from app.api.answering import stream_answers
from app.api.as_chat import as_chat, without_none
from app.api.chat_answer import ChatAnswers, answer_chat
from app.api.completions import gap_tokens
from app.api.errors import ApiError
from app.api.json_body import beside, json_response, read_fields, validated
from app.api.ollama import models
from app.api.ollama.answer import Lines, line
from app.api.ollama.fields import OllamaChatFields, OllamaFields, OllamaGenerateFields
from app.api.parameters import Prompt, SamplingFields
from app.api.state import model_name, take_model
from app.engine.prompts.infill import Gap

PREFIX = "/api/"
ONE_MODEL = "This server has one model, which is chosen in Skein."
CHANGES = ("pull", "push", "create", "copy", "delete", "blobs/{digest}")  # of models


def add_routes(router: web.UrlDispatcher) -> None:
    models.add_routes(router)
    router.add_post("/api/chat", chat)
    router.add_post("/api/generate", generate)
    for path in CHANGES:
        router.add_route("*", f"{PREFIX}{path}", refuse)


async def chat(request: web.Request) -> web.StreamResponse:
    fields = await read_fields(request, OllamaChatFields)
    if not fields.messages:
        return await _loaded(request, is_chat=True)
    chat_fields = await as_chat(request, fields.chat_body)
    with await answer_chat(request, chat_fields) as answers:
        return await _answer(request, fields, answers, is_chat=True)


async def generate(request: web.Request) -> web.StreamResponse:
    fields = await read_fields(request, OllamaGenerateFields)
    fields.check()
    if not (fields.prompt or fields.suffix):
        return await _loaded(request, is_chat=False)
    if fields.raw or fields.suffix:
        answers = await _answer_raw(request, fields)
    else:
        answers = await answer_chat(request, await as_chat(request, fields.chat_body))
    with answers:
        return await _answer(request, fields, answers, is_chat=False)


async def refuse(_request: web.Request) -> NoReturn:
    raise ApiError(404, ONE_MODEL)


async def _loaded(request: web.Request, is_chat: bool) -> web.Response:
    """The model is there, which is what a caller without a question wants."""
    await take_model(request)
    return json_response(line(model_name(request), is_chat, "") | {"done": True, "done_reason": "load"})


async def _answer_raw(request: web.Request, fields: OllamaGenerateFields) -> ChatAnswers:
    """To a prompt in which control tokens count, without a chat template; or what stands before `suffix`.

    Raises ApiError and InvalidRequestError.
    """
    client = (await take_model(request)).client
    prompt: Prompt = (fields.prompt,)
    if fields.suffix:
        prompt = await gap_tokens(client, Gap(fields.prompt, "", fields.suffix), fields.max_tokens)
    sampling = validated(
        fields.sampling_options | without_none(json_schema=fields.json_schema), SamplingFields
    )
    await sampling.tokenize_biases(request)
    asked = partial(
        sampling.requests_for,
        client.sampling,
        [prompt],
        max_tokens=fields.max_tokens,
        num_logprobs=max(fields.top_logprobs or 0, 1) if fields.logprobs else 0,
    )
    return ChatAnswers(request, client.answer(*await beside(request, asked)))


async def _answer(
    request: web.Request, fields: OllamaFields, answers: ChatAnswers, is_chat: bool
) -> web.StreamResponse:
    lines = Lines(model_name(request), is_chat, fields, answers)
    if fields.is_streamed:
        return await stream_answers(request, answers.outputs, lines)
    await answers.to_their_end()
    return json_response(lines.whole())
