"""Texts to vectors and back to JSON: what /v1/embeddings and /v1/rerank share."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, cast

from aiohttp import web

from app.api.answer_parts import error_of
from app.api.engine_client import EngineClient
from app.api.errors import invalid
from app.api.state import CLIENT, model_name
from app.engine.embedding import TextTokenizer
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.output import Embedded
from app.protocol.request import Request

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

MAX_TEXTS = 2048  # of one request, as at OpenAI
TEXTS_AT_ONCE = 32  # so that the texts of another caller come between

Tokenize = Callable[[TextTokenizer], list[int]]


async def embedded(client: EngineClient, texts: Sequence[Tokenize]) -> AsyncIterator[tuple[Vectors, int]]:
    """The vectors of each text and the number of its tokens, in order. Raises ApiError and RequestError."""
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        tokens = await _tokenized(client, texts[start : start + TEXTS_AT_ONCE])
        if not all(tokens):
            raise invalid("The input must not be empty.")
        for vectors, num_tokens in await _computed(client, tokens):
            yield vectors, num_tokens
            await asyncio.sleep(0)  # to write a vector as JSON takes a millisecond


async def _tokenized(client: EngineClient, texts: Sequence[Tokenize]) -> list[list[int]]:
    def work(prompts: PromptBuilder) -> list[list[int]]:
        return [tokenize(cast(TextTokenizer, prompts)) for tokenize in texts]

    return await client.use_prompts(work)


async def _computed(client: EngineClient, every: Sequence[Sequence[int]]) -> list[tuple[Vectors, int]]:
    requests = [
        Request(uuid.uuid4().hex, "", prompt=tuple(tokens), keep_cells=False, embeds=True) for tokens in every
    ]
    found: dict[int, tuple[Vectors, int]] = {}
    with client.answer(*requests) as answers:
        async for batch in answers:
            for index, output in batch:
                if error := error_of(output, client):
                    raise error
                assert isinstance(output, Embedded)
                assert output.vectors is not None
                found[index] = output.vectors, output.usage.num_prompt_tokens
    return [found[index] for index in range(len(every))]


def usage_json(num_tokens: int) -> dict[str, int]:
    return {"prompt_tokens": num_tokens, "total_tokens": num_tokens}


def name_of(client: EngineClient, application: web.Application) -> str:
    """The public name of the model behind `client`."""
    return model_name(application) if client is application[CLIENT] else client.model.name
