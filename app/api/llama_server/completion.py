"""POST /completion: raw prompts of any of llama-server's forms in, their continuations out.

POST /infill takes two texts and answers with what a code model writes between them.
`id_slot` is validated but has no effect: the engine searches all slots and saved chats for a prompt's prefix
anyway. With `cache_prompt` false the whole prompt is computed anew.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field, PrivateAttr

from app.api.answer_parts import timings_json, warnings_json
from app.api.answering import Chunks, Event, Whole, stream_answers, whole_answers
from app.api.completions import gap_tokens
from app.api.engine_client import EngineClient, OpenAnswers
from app.api.errors import invalid
from app.api.json_body import Body, beside, json_response
from app.api.llama_answer import answer_json, token_probabilities
from app.api.llama_server.status import Scales, require_scales
from app.api.metrics import ProgressOutput
from app.api.openai import MAX_COPIES, MaxTokens, limit
from app.api.parameters import (
    Pieces,
    Prompt,
    PromptObject,
    SamplingFields,
    listed,
    pieces_of,
    read_sampling_fields,
)
from app.api.state import client_of
from app.engine.prompts.infill import Gap
from app.protocol.output import Output
from app.protocol.request import MAX_LOGPROBS, Request
from app.protocol.sampling import SamplingParams

MAX_FIELDS = 100

OnePrompt = str | Pieces | PromptObject


class LlamaCompletionFields(SamplingFields):
    prompt: OnePrompt | Annotated[list[OnePrompt], Field(min_length=1, max_length=MAX_COPIES, fail_fast=True)]
    n_predict: MaxTokens | None = None
    max_tokens: MaxTokens | None = None  # llama-server takes both names
    n: Annotated[int, Field(ge=1, le=MAX_COPIES)] | None = None
    n_probs: Annotated[int, Field(ge=0, le=MAX_LOGPROBS)] | None = None
    post_sampling_probs: bool | None = None
    return_tokens: bool | None = None
    return_progress: bool | None = None
    timings_per_token: bool | None = None
    cache_prompt: bool | None = None
    id_slot: Annotated[int, Field(ge=-1)] | None = None
    response_fields: Annotated[list[str], Field(max_length=MAX_FIELDS, fail_fast=True)] | None = None
    stream: bool | None = None
    lora: Scales | None = None

    @property
    def prompts(self) -> list[Prompt]:
        return [pieces_of(one) for one in listed(self.prompt)]

    def requests(self, recommended: SamplingParams) -> list[Request]:
        return self.requests_for(
            recommended,
            self.prompts,
            self.n or 1,
            max_tokens=self.num_wanted,
            num_logprobs=self._num_logprobs,
            uses_cache=self.cache_prompt is not False,
        )

    @property
    def num_wanted(self) -> int | None:
        """The longest answer; None: what the context holds."""
        return limit(self.max_tokens if self.n_predict is None else self.n_predict)

    @property
    def _num_logprobs(self) -> int:
        """The likeliest after sampling need not be the likeliest before."""
        return MAX_LOGPROBS if self.n_probs and self.post_sampling_probs else self.n_probs or 0


def add_routes(router: web.UrlDispatcher) -> None:
    for path in ("/completion", "/completions"):
        router.add_post(path, completion)
    router.add_post("/infill", infill)


async def completion(request: web.Request) -> web.StreamResponse:
    return await complete(request, await read_sampling_fields(request, LlamaCompletionFields))


async def complete(request: web.Request, fields: LlamaCompletionFields) -> web.StreamResponse:
    """The answers to `fields.prompts`, streamed where they ask for it."""
    client = client_of(request)
    _check_slot(fields, client)
    require_scales(fields.lora, client.model)
    requests = await beside(request, partial(fields.requests, client.sampling))
    with client.answer(*requests, reports_progress=bool(fields.stream and fields.return_progress)) as answers:
        if fields.stream:
            return await stream_answers(request, answers, _Chunks(request, fields, answers))
        wholes = await whole_answers(request, answers)
    results = [await _result(request, fields, answers, index, whole) for index, whole in enumerate(wholes)]
    return json_response(results if len(results) > 1 else results[0])


def _check_slot(fields: LlamaCompletionFields, client: EngineClient) -> None:
    if fields.id_slot is not None and fields.id_slot >= client.model.n_seq_max:
        raise invalid(f"id_slot: this server has the slots 0 to {client.model.n_seq_max - 1}.")


async def _result(
    request: web.Request, fields: LlamaCompletionFields, answers: OpenAnswers, index: int, whole: Whole
) -> dict[str, Any]:
    body = await _answer(request, fields, answers, index, whole)
    if not fields.return_tokens:
        body["tokens"] = []
    if whole.logprobs:
        after = bool(fields.post_sampling_probs)
        body["completion_probabilities"] = token_probabilities(whole.logprobs, fields.n_probs or 0, after)
    return _chosen(body, fields.response_fields)


async def _answer(
    request: web.Request, fields: LlamaCompletionFields, answers: OpenAnswers, index: int, whole: Whole
) -> dict[str, Any]:
    body = await answer_json(request, answers, index, whole)
    body["generation_settings"] |= {
        "n_probs": fields.n_probs or 0,
        "post_sampling_probs": bool(fields.post_sampling_probs),
        "stream": bool(fields.stream),
        "timings_per_token": bool(fields.timings_per_token),
    }
    return body | warnings_json(fields.warnings)


def _chosen(body: dict[str, Any], paths: list[str] | None) -> dict[str, Any]:
    """The named fields that exist. `generation_settings/seed` is one inside another."""
    if not paths:
        return body
    chosen = {}
    for path in paths:
        value: Any = body
        for name in path.split("/"):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            chosen[path] = value
    return chosen


class _Chunks(Chunks):
    """Pieces of text with their tokens. The last event of each answer tells how it was made."""

    def __init__(self, request: web.Request, fields: LlamaCompletionFields, answers: OpenAnswers) -> None:
        self._request = request
        self._fields = fields
        self._answers = answers
        self._wholes = [Whole() for _request in answers.requests]

    async def of(self, index: int, output: Output) -> list[Event]:
        whole = self._wholes[index]
        whole.add(output)
        whole.logprobs.clear()  # they are sent with their piece
        events: list[Event] = []
        if output.token_ids or isinstance(output, ProgressOutput):
            events.append(self._piece(index, output))
        if output.finish_reason:
            body = await _answer(self._request, self._fields, self._answers, index, whole)
            rest = "" if output.token_ids else output.text  # what was held back until the end
            events.append(_chosen(body | {"content": rest, "tokens": []}, self._fields.response_fields))
        return events

    def _piece(self, index: int, output: Output) -> dict[str, Any]:
        usage = output.usage
        piece: dict[str, Any] = {
            "index": index,
            "content": output.text,
            "tokens": list(output.token_ids),
            "stop": False,
            "id_slot": self._answers.seq_ids.get(index, -1),
            "tokens_predicted": usage.num_generated_tokens,
            "tokens_evaluated": usage.num_prompt_tokens,
        }
        if isinstance(output, ProgressOutput):
            piece |= {"tokens_evaluated": output.num_total, "prompt_progress": output.json}
        if isinstance(output, ProgressOutput) or self._fields.timings_per_token:
            piece["timings"] = timings_json(usage)
        if output.logprobs:
            after = bool(self._fields.post_sampling_probs)
            tokens = list(output.logprobs)
            piece["completion_probabilities"] = token_probabilities(tokens, self._fields.n_probs or 0, after)
        return piece


MAX_FILES = 1000


class OtherFile(Body):
    text: str
    filename: str = "tmp"


class InfillFields(LlamaCompletionFields):
    input_prefix: str
    input_suffix: str
    input_extra: Annotated[list[OtherFile], Field(max_length=MAX_FILES, fail_fast=True)] | None = None
    prompt: str = ""
    _tokens: tuple[int, ...] = PrivateAttr(())

    @property
    def gap(self) -> Gap:
        files = tuple((file.filename, file.text) for file in self.input_extra or ())
        return Gap(self.input_prefix, self.prompt, self.input_suffix, files)

    @property
    def prompts(self) -> list[Prompt]:
        return [self._tokens]

    async def build_prompt(self, request: web.Request) -> None:
        """Raises ApiError and InvalidRequestError."""
        self._tokens = await gap_tokens(client_of(request), self.gap, self.num_wanted)


async def infill(request: web.Request) -> web.StreamResponse:
    fields = await read_sampling_fields(request, InfillFields)
    await fields.build_prompt(request)
    return await complete(request, fields)
