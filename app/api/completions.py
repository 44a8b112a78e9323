"""POST /v1/completions: raw prompts in, their continuations out. POST /generate: so, with the fewest fields.

With a suffix, the prompt is what is missing between two texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from app.api.answer_parts import logprobs_json, timings_json, usage_json, warnings_json
from app.api.answering import FINISH_REASONS, Chunks, Event, Whole, stream_answers, whole_answers
from app.api.engine_client import EngineClient
from app.api.errors import invalid
from app.api.json_body import beside, json_response
from app.api.openai import MAX_COPIES, MAX_TOKENS, ChoiceChunks, ChunkFrame, OpenAiFields, limit
from app.api.parameters import Prompt, SamplingFields, listed, pieces_of, read_sampling_fields
from app.api.state import client_of
from app.engine.prompts.infill import Gap, infill_tokens
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.output import Output, SampledToken
from app.protocol.request import Request
from app.protocol.sampling import SamplingParams

MAX_LOGPROBS = 5  # OpenAI's limit, here

Text = Annotated[str, Field(min_length=1)]
Tokens = Annotated[list[int], Field(min_length=1, fail_fast=True)]


class CompletionFields(OpenAiFields):
    prompt: (
        Text
        | Tokens
        | Annotated[list[Text | Tokens], Field(min_length=1, max_length=MAX_COPIES, fail_fast=True)]
    )
    logprobs: Annotated[int, Field(ge=0, le=MAX_LOGPROBS)] | None = None
    echo: bool | None = None
    suffix: str | None = None
    best_of: int | None = None

    @property
    def prompts(self) -> list[Prompt]:
        return [pieces_of(one) for one in listed(self.prompt)]

    def requests(self, recommended: SamplingParams, prompts: Sequence[Prompt]) -> list[Request]:
        return self.requests_for(
            recommended,
            prompts,
            self.num_copies,
            max_tokens=limit(self.max_tokens),
            num_logprobs=0 if self.logprobs is None else max(self.logprobs, 1),
        )


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/v1/completions", completions)
    router.add_post("/generate", generate)


async def completions(request: web.Request) -> web.StreamResponse:
    fields = await read_sampling_fields(request, CompletionFields)
    _refuse_unknown(fields)
    client = client_of(request)
    frame = ChunkFrame.of(request, "text_completion", "cmpl")
    prompts = await _with_gaps(request, fields) if fields.suffix else fields.prompts
    requests = await beside(request, partial(fields.requests, client.sampling, prompts))
    echoes = await _echoes(request, fields)
    with client.answer(*requests, reports_progress=fields.reports_progress) as answers:
        if fields.stream:
            return await stream_answers(request, answers, _Chunks(frame, fields, echoes))
        wholes = await whole_answers(request, answers)
    choices = [_choice(index, whole, fields, echoes[index]) for index, whole in enumerate(wholes)]
    usage = usage_json([whole.usage for whole in wholes], fields.num_copies)
    timings = timings_json(wholes[0].usage)
    warnings = warnings_json(fields.warnings, wholes[0].format.warnings)
    return json_response(frame.around(choices, usage=usage, timings=timings, **warnings))


def _refuse_unknown(fields: CompletionFields) -> None:
    """An unsupported field is refused, not silently ignored."""
    if fields.echo and fields.logprobs is not None:
        raise invalid("echo: there are no logprobs of a prompt. Ask for one of them.", "echo")
    if fields.best_of is not None and fields.best_of != fields.num_copies:
        raise invalid("best_of is not supported: it must be the same as n.", "best_of")


async def _with_gaps(request: web.Request, fields: CompletionFields) -> list[Prompt]:
    """What is asked for is what stands between each prompt and `suffix`."""
    prompts: list[Prompt] = []
    for prompt in fields.prompts:
        if not isinstance(prompt[0], str):
            raise invalid("suffix: the prompt before it must be a text, not tokens.", "suffix")
        gap = Gap(prompt[0], "", fields.suffix or "")
        prompts.append(await gap_tokens(client_of(request), gap, limit(fields.max_tokens)))
    return prompts


async def _echoes(request: web.Request, fields: CompletionFields) -> list[str]:
    """What each answer begins with: with `echo` its prompt."""
    if not fields.echo:
        return [""] * len(fields.prompts) * fields.num_copies

    def written(prompts: PromptBuilder, prompt: Prompt) -> str:
        pieces = [one.encode() if isinstance(one, str) else prompts.written([one])[0] for one in prompt]
        return b"".join(pieces).decode("utf-8", "replace")

    client = client_of(request)
    texts = [await client.use_prompts(partial(written, prompt=prompt)) for prompt in fields.prompts]
    return [text for text in texts for _ in range(fields.num_copies)]


def _choice(index: int, whole: Whole, fields: CompletionFields, echo: str) -> dict[str, Any]:
    logprobs = None if fields.logprobs is None else _logprobs(whole.logprobs, fields.logprobs)
    return {
        "text": echo + whole.text,
        "index": index,
        "logprobs": logprobs,
        "finish_reason": whole.finish_reason,
    }


class _Chunks(ChoiceChunks):
    _fields: CompletionFields

    def __init__(self, frame: ChunkFrame, fields: CompletionFields, echoes: list[str]) -> None:
        super().__init__(frame, fields, len(echoes))
        self._echoes = echoes  # not sent yet
        self._num_chars = [0] * len(echoes)

    async def _choices(self, index: int, output: Output) -> list[dict[str, Any]]:
        echo, self._echoes[index] = self._echoes[index], ""
        choice: dict[str, Any] = {"text": echo + output.text, "index": index, "logprobs": None}
        if output.logprobs:
            choice["logprobs"] = _logprobs(
                output.logprobs, self._fields.logprobs or 0, self._num_chars[index]
            )
        self._num_chars[index] += len(output.text)
        choice["finish_reason"] = FINISH_REASONS[output.finish_reason] if output.finish_reason else None
        return [choice] if choice["text"] or output.logprobs or output.finish_reason else []

    def _empty_choice(self, index: int) -> dict[str, Any]:
        return {"text": "", "index": index, "logprobs": None, "finish_reason": None}


def _logprobs(tokens: Sequence[SampledToken], num_top: int, offset: int = 0) -> dict[str, Any]:
    """OpenAI's four lists, and llama-server's one."""
    content = logprobs_json(tokens, num_top)
    texts = [token["token"] for token in content]
    return {
        "tokens": texts,
        "token_logprobs": [token["logprob"] for token in content],
        "top_logprobs": [
            {top["token"]: top["logprob"] for top in token["top_logprobs"]} for token in content
        ],
        "text_offset": list(itertools.accumulate(map(len, texts), initial=offset))[:-1],
        "content": content,
    }


NO_FIM_TOKENS = (
    "Infill is not supported by this model: its vocabulary has no tokens for a gap and the text around it. "
    "Load a code model that was trained to fill gaps."
)


async def gap_tokens(client: EngineClient, gap: Gap, max_tokens: int | None) -> tuple[int, ...]:
    """The prompt for `gap`, beside which `max_tokens` have room. Raises ApiError and InvalidRequestError."""
    model = client.model
    if not model.fim.can_fill:
        raise invalid(NO_FIM_TOKENS)
    longest = model.max_sequence_tokens
    wanted = client.defaults.max_tokens if max_tokens is None else max_tokens
    room = longest - min(longest if wanted is None else wanted, longest // 4) - 1
    return await client.use_prompts(lambda prompts: infill_tokens(prompts, model.fim, gap, room))


class GenerateFields(SamplingFields):
    prompt: Annotated[str, Field(min_length=1)]
    max_tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)] | None = None  # None: what the context holds
    stream: bool = False


async def generate(request: web.Request) -> web.StreamResponse:
    fields = await read_sampling_fields(request, GenerateFields)
    client, warnings = client_of(request), warnings_json(fields.warnings)
    prompts = [(fields.prompt,)]
    asked = partial(fields.requests_for, client.sampling, prompts, max_tokens=fields.max_tokens)
    with client.answer(*await beside(request, asked)) as answers:
        if fields.stream:
            return await stream_answers(request, answers, _TextChunks(warnings))
        (whole,) = await whole_answers(request, answers)
    end = {"text": whole.text, "finish_reason": whole.finish_reason, "usage": usage_json([whole.usage])}
    return json_response(end | warnings)


class _TextChunks(Chunks):
    """The last one has a `finish_reason`."""

    def __init__(self, warnings: dict[str, list[str]]) -> None:
        self._warnings = warnings

    async def of(self, _index: int, output: Output) -> list[Event]:
        if output.finish_reason is None:
            return [{"text": output.text}] if output.text else []
        end: dict[str, Any] = {
            "text": output.text,
            "finish_reason": FINISH_REASONS[output.finish_reason],
            "usage": usage_json([output.usage]),
        }
        return [end | self._warnings]
