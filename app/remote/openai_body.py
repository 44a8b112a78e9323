"""What a server with OpenAI's API is asked: the body for a request. Pure functions.

Only what the user or the caller has chosen is sent: other servers have other defaults.
"""

import base64
import json
from dataclasses import fields
from itertools import pairwise
from typing import Any

from app.chats.thinking import split_thinking
from app.protocol.answer_format import ChatParams, ToolChoice
from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object
from app.protocol.media import Media, MediaKind
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import NEVER, SamplingParams
from app.remote.introduction import Program
from app.system.said import said

NO_TOKENS = said("Only a model that Skein runs goes on from tokens. Ask for the answer again.")
_DEFAULT = SamplingParams()
_BY_ALL = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed")
_BY_MOST = ("top_k", "min_p", "ignore_eos", "repeat_penalty")  # vLLM and SGLang have other words for the last
_WITH_OTHER_NAMES = ("json_schema", "grammar", "logit_bias")
_TYPES = {b"\xff\xd8": "jpeg", b"GI": "gif", b"RI": "webp", b"BM": "bmp"}  # by how a picture begins


def path_and_body(request: Request, name: str, program: Program) -> tuple[str, dict[str, Any]]:
    """Where and what to POST for a stream. Raises InvalidRequestError for what no such server can do."""
    pieces = (*request.prompt, request.answer_start or "")
    if request.embeds or not all(isinstance(piece, str) for piece in pieces):
        raise InvalidRequestError(NO_TOKENS)
    body: dict[str, Any] = {"model": name, "stream": True, "stream_options": {"include_usage": True}}
    if program.is_llama_like:
        body["timings_per_token"] = True
    elif program is Program.VLLM:
        body["stream_options"]["continuous_usage_stats"] = True
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.stop:
        body["stop"] = list(request.stop)
    body |= _sampling(_chosen(request), program)
    if not request.prompt:
        return "/v1/chat/completions", body | _chat(request, program)
    return "/v1/completions", body | {"prompt": "".join(map(str, pieces))}


def unknown_sampling(request: Request, program: Program) -> tuple[str, ...]:
    """The names of what was chosen and such a server has no word for."""
    known = (*_BY_ALL, *_BY_MOST, *_WITH_OTHER_NAMES)
    chosen = {} if program.is_llama_like else _chosen(request)
    return tuple(name for name in chosen if name not in known)


def _chat(request: Request, program: Program) -> dict[str, Any]:
    messages = [_message(message, program) for message in request.messages]
    goes_on = request.chat_params.goes_on
    if isinstance(request.answer_start, str) and request.answer_start:
        begun, goes_on = _begun(request.answer_start, program)
        messages.append(begun)
    body = {"messages": messages, **_tools(request.chat_params)}
    if goes_on:
        body |= {"continue_final_message": goes_on, "add_generation_prompt": False}
    if request.template_variables:
        body["chat_template_kwargs"] = read_object(request.template_variables, "template_variables")
    if request.num_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.num_logprobs}
    return body


def _begun(text: str, program: Program) -> tuple[dict[str, Any], bool | str]:
    """The message whose rest is asked for; llama-server and Skein also go on within the thinking."""
    split = split_thinking(text)
    if not (program.is_llama_like and split.thinking):
        return {"role": "assistant", "content": text}, True
    message = {"role": "assistant", "content": split.answer, "reasoning_content": split.thinking}
    return message, "reasoning_content" if split.is_thinking else "content"


def _message(message: Message, program: Program) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message.role.value, "content": _content(message)}
    if message.role is Role.ASSISTANT and not message.media:
        split = split_thinking(message.content)
        found["content"] = split.answer
        if split.thinking:
            found["reasoning_content"] = split.thinking
    found |= read_object(message.fields, "The fields of a message")
    for call in found.get("tool_calls", ()):  # templates take an object, OpenAI's API a text
        if not isinstance(call["function"]["arguments"], str):
            call["function"]["arguments"] = json.dumps(call["function"]["arguments"], ensure_ascii=False)
    if program is Program.UNKNOWN:  # some refuse what they do not know
        found.pop("reasoning_content", None)
    return found


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.media:
        return message.content
    places = [0, *(one.at for one in message.media), len(message.content)]
    texts = [{"type": "text", "text": message.content[start:end]} for start, end in pairwise(places)]
    parts = texts[:1]
    for one, text in zip(message.media, texts[1:], strict=True):
        parts += [_media(one), text]
    return [part for part in parts if part.get("text") != ""]


def _media(one: Media) -> dict[str, Any]:
    data = base64.b64encode(one.file).decode()
    if one.kind is MediaKind.SOUND:
        kind = "wav" if one.file.startswith(b"RIFF") else "mp3"
        return {"type": "input_audio", "input_audio": {"data": data, "format": kind}}
    url = f"data:image/{_TYPES.get(one.file[:2], 'png')};base64,{data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _tools(params: ChatParams) -> dict[str, Any]:
    """Those that may be called: hardly any server keeps to a list of names."""
    if not params.tools:
        return {}
    tools = json.loads(params.tools)
    may_call = params.may_call or [one["function"]["name"] for one in tools]
    found: dict[str, Any] = {"tools": [one for one in tools if one["function"]["name"] in may_call]}
    if params.tool_choice is not ToolChoice.AUTO:
        found["tool_choice"] = params.tool_choice.value
    if params.parallel_tool_calls is not None:
        found["parallel_tool_calls"] = params.parallel_tool_calls
    return found


def _chosen(request: Request) -> dict[str, Any]:
    names = [field.name for field in fields(SamplingParams)] if request.sampling else []
    values = {name: getattr(request.sampling, name) for name in names}
    return {
        name: value
        for name, value in values.items()
        if name in request.chosen or value != getattr(_DEFAULT, name)
    }


def _sampling(chosen: dict[str, Any], program: Program) -> dict[str, Any]:
    schema, grammar, bias = (chosen.pop(name, None) for name in _WITH_OTHER_NAMES)
    if program.is_llama_like:
        body = {{"penalty_last_n": "repeat_last_n"}.get(name, name): value for name, value in chosen.items()}
    else:
        body = {name: chosen[name] for name in (*_BY_ALL, *_BY_MOST) if name in chosen}
        if penalty := body.pop("repeat_penalty", None):
            body["repetition_penalty"] = penalty
    if schema:
        form = {"name": "answer", "schema": json.loads(schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if grammar and program is Program.VLLM:  # xgrammar reads GBNF
        body["structured_outputs"] = {"grammar": grammar}
    elif grammar:
        body["ebnf" if program is Program.SGLANG else "grammar"] = grammar
    if bias:
        body["logit_bias"] = {str(token): -100 if value == NEVER else value for token, value in bias}
    return body
