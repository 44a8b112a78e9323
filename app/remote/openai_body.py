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
_STANDARD = {"temperature", "top_p", "frequency_penalty", "presence_penalty", "seed"}
_OTHERS = {  # by the names that vLLM and SGLang share
    "top_k": "top_k",
    "min_p": "min_p",
    "repeat_penalty": "repetition_penalty",
    "ignore_eos": "ignore_eos",
}
_RENAMED = {"penalty_last_n": "repeat_last_n"}  # in llama-server
_TYPES = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
    b"BM": "image/bmp",
}


def path_and_body(request: Request, name: str, program: Program) -> tuple[str, dict[str, Any]]:
    """Where and what to POST for a stream. Raises InvalidRequestError for what no such server can do."""
    if request.embeds or (not isinstance(request.answer_start, str) and request.answer_start):
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
    if request.sampling:
        body |= _sampling(request.sampling, program)
    if request.prompt:
        return "/v1/completions", body | _raw(request)
    return "/v1/chat/completions", body | _chat(request, program)


def unknown_sampling(request: Request, program: Program) -> tuple[str, ...]:
    """The names of what was chosen and such a server has no word for."""
    if program.is_llama_like or request.sampling is None:
        return ()
    known = _STANDARD | _OTHERS.keys() | {"logit_bias", "json_schema", "grammar"}
    return tuple(name for name in _chosen(request.sampling) if name not in known)


def _raw(request: Request) -> dict[str, Any]:
    if any(isinstance(piece, int) for piece in request.prompt):
        raise InvalidRequestError(NO_TOKENS)
    logprobs = {"logprobs": request.num_logprobs} if request.num_logprobs else {}
    return {"prompt": "".join(map(str, (*request.prompt, request.answer_start or ""))), **logprobs}


def _chat(request: Request, program: Program) -> dict[str, Any]:
    messages = [_message(message, program) for message in request.messages]
    goes_on: bool | str = request.chat_params.goes_on
    if isinstance(request.answer_start, str) and request.answer_start:
        begun, goes_on = _begun(request.answer_start, program)
        messages.append(begun)
    body: dict[str, Any] = {"messages": messages, **_tools(request.chat_params)}
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
    if message.role is Role.ASSISTANT and isinstance(found["content"], str):
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
    texts = [message.content[start:end] for start, end in pairwise(places)]
    parts = [_text(texts[0])]
    for one, text in zip(message.media, texts[1:], strict=True):
        parts += [_media(one), _text(text)]
    return [part for part in parts if part.get("text") != ""]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _media(one: Media) -> dict[str, Any]:
    data = base64.b64encode(one.file).decode()
    if one.kind is MediaKind.SOUND:
        return {
            "type": "input_audio",
            "input_audio": {"data": data, "format": "wav" if one.file.startswith(b"RIFF") else "mp3"},
        }
    kind = next((kind for head, kind in _TYPES.items() if one.file.startswith(head)), "image/png")
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}


def _tools(params: ChatParams) -> dict[str, Any]:
    if not params.tools:
        return {}
    found: dict[str, Any] = {"tools": json.loads(params.tools)}
    if params.tool_choice is ToolChoice.REQUIRED and len(params.may_call) == 1:
        found["tool_choice"] = {"type": "function", "function": {"name": params.may_call[0]}}
    elif params.tool_choice is not ToolChoice.AUTO:
        found["tool_choice"] = params.tool_choice.value
    if params.parallel_tool_calls is not None:
        found["parallel_tool_calls"] = params.parallel_tool_calls
    return found


def _sampling(sampling: SamplingParams, program: Program) -> dict[str, Any]:
    chosen = _chosen(sampling)
    body: dict[str, Any] = {}
    if schema := chosen.pop("json_schema", ""):
        form = {"name": "answer", "schema": json.loads(schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if grammar := chosen.pop("grammar", ""):
        body |= _grammar(grammar, program)
    if bias := chosen.pop("logit_bias", ()):
        body["logit_bias"] = {str(token): -100 if value == NEVER else value for token, value in bias}
    if program.is_llama_like:
        return body | {_RENAMED.get(name, name): value for name, value in chosen.items()}
    return body | {
        _OTHERS.get(name, name): value for name, value in chosen.items() if name in _STANDARD | _OTHERS.keys()
    }


def _grammar(grammar: str, program: Program) -> dict[str, Any]:
    if program is Program.VLLM:  # xgrammar reads GBNF
        return {"structured_outputs": {"grammar": grammar}}
    return {"ebnf" if program is Program.SGLANG else "grammar": grammar}


def _chosen(sampling: SamplingParams) -> dict[str, Any]:
    pairs = ((field.name, getattr(sampling, field.name)) for field in fields(sampling))
    return {name: value for name, value in pairs if value != getattr(_DEFAULT, name)}
