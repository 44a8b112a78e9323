"""POST /v1/chat/completions: a chat in, its next turn out, which may consist of tool calls."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from app.api.answer_parts import logprobs_json, timings_json, usage_json, warnings_json
from app.api.answering import stream_answers
from app.api.chat_answer import ChatAnswer, ChatAnswers, answer_chat, count_prompt_tokens
from app.api.chat_fields import ChatFields
from app.api.json_body import json_response
from app.api.llama_answer import answer_json
from app.api.openai import ChoiceChunks, ChunkFrame
from app.api.parameters import read_sampling_fields
from app.api.state import client_of
from app.protocol.output import Output, ToolCall, ToolCallDelta


def add_routes(router: web.UrlDispatcher) -> None:
    for prefix in ("", "/v1"):
        router.add_post(f"{prefix}/chat/completions", chat_completions)
        router.add_post(f"{prefix}/chat/completions/input_tokens", input_tokens)


async def chat_completions(request: web.Request) -> web.StreamResponse:
    fields = await read_sampling_fields(request, ChatFields)
    if not fields.stream:
        return json_response(await _whole_answer(request, fields))
    with await answer_chat(request, fields) as chat:
        frame = ChunkFrame.of(request, "chat.completion.chunk", "chatcmpl")
        return await stream_answers(request, chat.outputs, _Chunks(frame, fields, chat))


async def _whole_answer(request: web.Request, fields: ChatFields) -> dict[str, Any]:
    with await answer_chat(request, fields) as chat:
        frame = ChunkFrame.of(request, "chat.completion", "chatcmpl")
        answers = await chat.to_their_end()
    choices = [_choice(index, answer, fields) for index, answer in enumerate(answers)]
    usages = [answer.whole.usage for answer in answers]
    usage = usage_json(usages, fields.num_copies)
    warnings = warnings_json(fields.warnings, answers[0].whole.format.warnings, chat.warnings)
    body = frame.around(choices, usage=usage, timings=timings_json(usages[0]), **warnings)
    if client_of(request).defaults.is_verbose if fields.verbose is None else fields.verbose:
        body["__verbose"] = await answer_json(request, chat.outputs, 0, answers[0].whole)
    return body


async def input_tokens(request: web.Request) -> web.Response:
    """How many tokens the prompt of a chat has, without answering it."""
    fields = await read_sampling_fields(request, ChatFields)
    num_tokens = await count_prompt_tokens(request, fields)
    return json_response({"object": "response.input_tokens", "input_tokens": num_tokens})


def _choice(index: int, answer: ChatAnswer, fields: ChatFields) -> dict[str, Any]:
    found = answer.message
    message: dict[str, Any] = {"role": "assistant", "content": found.content, "refusal": None}
    if found.reasoning:
        message["reasoning_content"] = found.reasoning
    if found.tool_calls:
        message["content"] = found.content or None
        message["tool_calls"] = [_call_json(call) for call in found.tool_calls]
    choice = {
        "index": index,
        "message": message,
        "logprobs": None,
        "finish_reason": answer.finish_reason,
    }
    if fields.logprobs:
        choice["logprobs"] = {"content": logprobs_json(answer.whole.logprobs, fields.top_logprobs or 0)}
    return choice


def _call_json(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


class _Chunks(ChoiceChunks):
    """First the role, then pieces of reasoning, text and calls of tools, last the reason of the end."""

    _fields: ChatFields

    def __init__(self, frame: ChunkFrame, fields: ChatFields, chat: ChatAnswers) -> None:
        super().__init__(frame, fields, len(chat.answers))
        self._chat = chat
        self._begun: set[int] = set()

    async def _choices(self, index: int, output: Output) -> list[dict[str, Any]]:
        delta = await self._chat.read(index, output)
        choices: list[dict[str, Any]] = []
        if index not in self._begun:
            self._begun.add(index)
            choices.append(_chunk(index, {"role": "assistant", "content": None, "refusal": None}))
        if delta.reasoning:
            choices.append(_chunk(index, {"reasoning_content": delta.reasoning}))
        if delta.content or output.logprobs:
            choices.append(self._text_chunk(index, delta.content, output))
        choices += [_chunk(index, {"tool_calls": [_call_delta_json(call)]}) for call in delta.tool_calls]
        if output.finish_reason:
            self._warnings += self._chat.answers[index].warnings
            choices.append(_chunk(index, {}, self._chat.answers[index].finish_reason))
        return choices

    def _empty_choice(self, index: int) -> dict[str, Any]:
        return _chunk(index, {})

    def _text_chunk(self, index: int, text: str, output: Output) -> dict[str, Any]:
        chunk = _chunk(index, {"content": text})
        if self._fields.logprobs:
            content = logprobs_json(output.logprobs, self._fields.top_logprobs or 0)
            chunk["logprobs"] = {"content": content}
        return chunk


def _call_delta_json(call: ToolCallDelta) -> dict[str, Any]:
    if not call.id:
        return {"index": call.index, "function": {"arguments": call.arguments}}
    return {"index": call.index, **_call_json(ToolCall(call.id, call.name, call.arguments))}


def _chunk(index: int, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
