"""POST /api/embed and the older /api/embeddings: vectors of texts, by a model loaded for it."""

from __future__ import annotations

import time
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from app.api.embeddings import EmbeddingFields, one_of_each
from app.api.json_body import Body, as_json, read_fields
from app.api.state import TEXT_ENGINES
from app.api.vectors import MAX_TEXTS, name_of


class EmbedFields(Body):
    """A text too long is refused, whatever `truncate` says."""

    input: str | Annotated[list[str], Field(min_length=1, max_length=MAX_TEXTS, fail_fast=True)]
    dimensions: Annotated[int, Field(ge=1)] | None = None


class OldEmbedFields(Body):
    prompt: str


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/api/embed", embed)
    router.add_post("/api/embeddings", embeddings)


async def embed(request: web.Request) -> web.Response:
    fields = await read_fields(request, EmbedFields)
    begun = time.perf_counter_ns()
    written, num_tokens = await _written(
        request, EmbeddingFields.model_validate(fields.model_dump(exclude_none=True))
    )
    embedder = request.app[TEXT_ENGINES].embedder
    assert embedder  # it has just answered
    head: dict[str, Any] = {
        "model": name_of(embedder, request.app),
        "total_duration": time.perf_counter_ns() - begun,
        "load_duration": 0,
        "prompt_eval_count": num_tokens,
    }
    return _json(f'{as_json(head)[:-1]},"embeddings":[{",".join(written)}]}}')


async def embeddings(request: web.Request) -> web.Response:
    fields = await read_fields(request, OldEmbedFields)
    (written,), _num_tokens = await _written(request, EmbeddingFields(input=fields.prompt))
    return _json(f'{{"embedding":{written}}}')


async def _written(request: web.Request, fields: EmbeddingFields) -> tuple[list[str], int]:
    """Each vector as JSON, and the number of all tokens. Raises ApiError and RequestError."""
    found = [(as_json(vector.tolist()), num) async for vector, num in one_of_each(request, fields)]
    return [written for written, _num in found], sum(num for _written, num in found)


def _json(text: str) -> web.Response:
    return web.Response(text=text, content_type="application/json")
