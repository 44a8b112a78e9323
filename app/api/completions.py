"""POST /v1/completions: raw prompts in, their continuations out."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from app.api.answer_parts import all_warnings, logprobs_json, timings_json, usage_json
from app.api.answering import FINISH_REASONS, Whole, stream_answers, whole_answers
from app.api.errors import invalid
from app.api.infilling import gap_tokens
from app.api.json_body import beside, json_response
from app.api.openai import MAX_COPIES, ChoiceChunks, ChunkFrame, OpenAiFields, limit
from app.api.parameters import read_sampling_fields
from app.api.state import CLIENT
from app.engine.prompts.infill import Gap
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.output import Output, SampledToken
from app.protocol.request import Request
from app.protocol.sampling import SamplingParams

MAX_LOGPROBS = 5  # OpenAI's limit, here

Text = Annotated[str, Field(min_length=1)]
Tokens = Annotated[list[int], Field(min_length=1, fail_fast=True)]
Prompts = list[tuple[str | int, ...]]


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
    def prompts(self) -> Prompts:
        prompts: list[Any] = [self.prompt] if _is_one(self.prompt) else list(self.prompt)
        return [(prompt,) if isinstance(prompt, str) else tuple(prompt) for prompt in prompts]

    def requests(self, recommended: SamplingParams, prompts: Prompts) -> list[Request]:
        """All copies of the first prompt, then those of the second."""
        samplings = [self.sampling(recommended, copy) for copy in range(self.num_copies)]
        return [
            Request(
                request_id=uuid.uuid4().hex,
                chat_id="",
                prompt=prompt,
                sampling=samplings[copy],
                max_tokens=limit(self.max_tokens),
                stop=self.stops,
                keep_cells=copy == 0,
                num_logprobs=0 if self.logprobs is None else max(self.logprobs, 1),
            )
            for prompt, copy in itertools.product(prompts, range(self.num_copies))
        ]


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/v1/completions", completions)


async def completions(request: web.Request) -> web.StreamResponse:
    fields = await read_sampling_fields(request, CompletionFields)
    _refuse_unknown(fields)
    client = request.app[CLIENT]
    frame = ChunkFrame.of(request, "text_completion", "cmpl")
    sampling = client.sampling
    prompts = await _with_gaps(request, fields) if fields.suffix else fields.prompts
    requests = await beside(request, lambda: fields.requests(sampling, prompts))
    echoes = await _echoes(request, fields)
    with client.answer(*requests, reports_progress=fields.reports_progress) as answers:
        if fields.stream:
            return await stream_answers(request, answers, _Chunks(frame, fields, echoes))
        wholes = await whole_answers(request, answers)
    choices = [_choice(index, whole, fields, echoes[index]) for index, whole in enumerate(wholes)]
    usage = usage_json([whole.usage for whole in wholes], fields.num_copies)
    timings = timings_json(wholes[0].usage)
    warnings = all_warnings(fields.warnings, wholes[0].format)
    return json_response(frame.around(choices, usage=usage, timings=timings, **warnings))


def _refuse_unknown(fields: CompletionFields) -> None:
    """An unsupported field is refused, not silently ignored."""
    if fields.echo and fields.logprobs is not None:
        raise invalid("echo: there are no logprobs of a prompt. Ask for one of them.", "echo")
    if fields.best_of is not None and fields.best_of != fields.num_copies:
        raise invalid("best_of is not supported: it must be the same as n.", "best_of")


async def _with_gaps(request: web.Request, fields: CompletionFields) -> Prompts:
    """What is asked for is what stands between each prompt and `suffix`."""
    prompts: Prompts = []
    for prompt in fields.prompts:
        if not isinstance(prompt[0], str):
            raise invalid("suffix: the prompt before it must be a text, not tokens.", "suffix")
        gap = Gap(prompt[0], "", fields.suffix or "")
        prompts.append(await gap_tokens(request.app[CLIENT], gap, limit(fields.max_tokens)))
    return prompts


async def _echoes(request: web.Request, fields: CompletionFields) -> list[str]:
    """What each answer begins with: with `echo` its prompt."""
    if not fields.echo:
        return [""] * len(fields.prompts) * fields.num_copies

    def written(prompts: PromptBuilder, prompt: tuple[str | int, ...]) -> str:
        pieces = [one.encode() if isinstance(one, str) else prompts.written([one])[0] for one in prompt]
        return b"".join(pieces).decode("utf-8", "replace")

    client = request.app[CLIENT]
    texts = [await client.use_prompts(partial(written, prompt=prompt)) for prompt in fields.prompts]
    return [text for text in texts for _ in range(fields.num_copies)]


def _is_one(prompt: object) -> bool:
    return isinstance(prompt, str) or (isinstance(prompt, list) and isinstance(prompt[0], int))


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
