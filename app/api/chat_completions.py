"""POST /v1/chat/completions: a chat in, its next turn out, which may consist of tool calls."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from app.api.answer_parts import logprobs_json, timings_json, usage_json
from app.api.answering import FINISH_REASONS, Whole, stream_answers, whole_answers
from app.api.chat_fields import ChatFields
from app.api.errors import invalid
from app.api.json_body import beside, json_response
from app.api.llama_answer import answer_json
from app.api.openai import ChoiceChunks, Frame
from app.api.parameters import read_sampling_fields
from app.api.state import CLIENT
from app.api.tool_calls import ToolCall, ToolCallReader
from app.protocol.output import FinishReason, Output


def add_routes(router: web.UrlDispatcher) -> None:
    for prefix in ("", "/v1"):
        router.add_post(f"{prefix}/chat/completions", chat_completions)
        router.add_post(f"{prefix}/chat/completions/input_tokens", input_tokens)


async def chat_completions(request: web.Request) -> web.StreamResponse:
    fields = await read_sampling_fields(request, ChatFields)
    client = request.app[CLIENT]
    await require_tools(request, fields)
    sampling = client.sampling
    requests = await beside(request, lambda: list(map(client.defaults.applied_to, fields.requests(sampling))))
    kind = "chat.completion.chunk" if fields.stream else "chat.completion"
    frame = Frame.of(request, kind, "chatcmpl")
    with client.answer(*requests, reports_progress=fields.reports_progress) as answers:
        if fields.stream:
            return await stream_answers(request, answers, _Chunks(frame, fields, len(requests)))
        wholes = await whole_answers(request, answers)
    choices = [_choice(index, whole, fields) for index, whole in enumerate(wholes)]
    usage = usage_json([whole.usage for whole in wholes], fields.num_copies)
    body = frame.around(choices, usage=usage, timings=timings_json(wholes[0].usage), **fields.warnings)
    if client.defaults.is_verbose if fields.verbose is None else fields.verbose:
        body["__verbose"] = await answer_json(request, answers, 0, wholes[0])
    return json_response(body)


async def input_tokens(request: web.Request) -> web.Response:
    """How many tokens the prompt of a chat has, without answering it."""
    fields = await read_sampling_fields(request, ChatFields)
    client = request.app[CLIENT]
    await require_tools(request, fields)
    sampling = client.sampling
    asked = client.defaults.applied_to(await beside(request, lambda: fields.request(sampling)))
    num_tokens = await client.use_prompts(lambda prompts: len(prompts.build(asked).token_ids))
    return json_response({"object": "response.input_tokens", "input_tokens": num_tokens})


async def require_tools(request: web.Request, fields: ChatFields) -> None:
    """Raises ApiError where tools are offered that the model could not be shown."""
    if fields.offered_tools:
        takes_tools = await request.app[CLIENT].use_prompts(lambda prompts: prompts.takes_tools)
        if not takes_tools:
            raise invalid(
                "This model's chat template knows no tools. Ask without them, or open another model."
            )


def _choice(index: int, whole: Whole, fields: ChatFields) -> dict[str, Any]:
    text, calls = _read_calls(whole, fields)
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if calls:
        message = {**message, "content": text or None, "tool_calls": [call.json for call in calls]}
    choice = {
        "index": index,
        "message": message,
        "logprobs": None,
        "finish_reason": "tool_calls" if calls and whole.finish_reason == "stop" else whole.finish_reason,
    }
    if fields.logprobs:
        choice["logprobs"] = {"content": logprobs_json(whole.logprobs, fields.top_logprobs or 0)}
    return choice


def _read_calls(whole: Whole, fields: ChatFields) -> tuple[str, list[ToolCall]]:
    if not fields.offered_tools:
        return whole.text, []
    reader = ToolCallReader(fields.tool_names)
    text = reader.feed(whole.text)
    rest, calls = reader.finish()
    return text + rest, _allowed(calls, fields)


def _allowed(calls: list[ToolCall], fields: ChatFields) -> list[ToolCall]:
    return calls[:1] if fields.parallel_tool_calls is False else calls


class _Chunks(ChoiceChunks):
    """First the role, then pieces of text, then calls of tools, last the reason of the end."""

    _fields: ChatFields

    def __init__(self, frame: Frame, fields: ChatFields, num_requests: int) -> None:
        super().__init__(frame, fields, num_requests)
        self._begun: set[int] = set()
        self._readers = [ToolCallReader(fields.tool_names) for _ in range(num_requests)]

    def _choices(self, index: int, output: Output) -> list[dict[str, Any]]:
        deltas: list[dict[str, Any]] = []
        if index not in self._begun:
            self._begun.add(index)
            deltas.append({"role": "assistant", "content": None, "refusal": None})
        text, calls = self._read(index, output)
        choices = [_chunk(index, delta) for delta in deltas]
        if text or output.logprobs:
            choices.append(self._text_chunk(index, text, output))
        choices += [
            _chunk(index, {"tool_calls": [{"index": number, **call.json}]})
            for number, call in enumerate(calls)
        ]
        if output.finish_reason:
            is_call = calls and output.finish_reason is FinishReason.STOP
            reason = "tool_calls" if is_call else FINISH_REASONS[output.finish_reason]
            choices.append(_chunk(index, {}, reason))
        return choices

    def _empty_choice(self, index: int) -> dict[str, Any]:
        return _chunk(index, {})

    def _read(self, index: int, output: Output) -> tuple[str, list[ToolCall]]:
        if not self._fields.offered_tools:
            return output.text, []
        text = self._readers[index].feed(output.text)
        if not output.finish_reason:
            return text, []
        rest, calls = self._readers[index].finish()
        return text + rest, _allowed(calls, self._fields)

    def _text_chunk(self, index: int, text: str, output: Output) -> dict[str, Any]:
        chunk = _chunk(index, {"content": text})
        if self._fields.logprobs:
            content = logprobs_json(output.logprobs, self._fields.top_logprobs or 0)
            chunk["logprobs"] = {"content": content}
        return chunk


def _chunk(index: int, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
