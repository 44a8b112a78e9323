"""POST /api/embed and the older /api/embeddings: vectors of texts, by a model loaded for it."""

from __future__ import annotations

import time
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from app.api.embeddings import EmbeddingFields, embedder_of, one_of_each
from app.api.json_body import as_json, read_fields
from app.api.ollama.fields import OllamaBody
from app.api.vectors import MAX_TEXTS, name_of


class EmbedFields(OllamaBody):
    """Without a text the caller only wants the model to be there. One too long is cut, by default."""

    input: str | Annotated[list[str], Field(max_length=MAX_TEXTS, fail_fast=True)] = ""
    truncate: bool = True
    dimensions: Annotated[int, Field(ge=0)] = 0  # 0: all

    @property
    def texts(self) -> list[str]:
        return self.input if isinstance(self.input, list) else [self.input] if self.input else []


class OldEmbedFields(OllamaBody):
    prompt: str = ""


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/api/embed", embed)
    router.add_post("/api/embeddings", embeddings)


async def embed(request: web.Request) -> web.Response:
    fields = await read_fields(request, EmbedFields)
    begun = time.perf_counter_ns()
    written, num_tokens = await _written(request, fields.texts, fields.dimensions, cuts=fields.truncate)
    head: dict[str, Any] = {
        "model": name_of(embedder_of(request), request.app),
        "total_duration": time.perf_counter_ns() - begun,
        "load_duration": 0,
        "prompt_eval_count": num_tokens,
    }
    return _json(f'{as_json(head)[:-1]},"embeddings":[{",".join(written)}]}}')


async def embeddings(request: web.Request) -> web.Response:
    fields = await read_fields(request, OldEmbedFields)
    texts = [fields.prompt] if fields.prompt else []
    written, _num_tokens = await _written(request, texts)
    return _json(f'{{"embedding":{"".join(written) or "[]"}}}')


async def _written(
    request: web.Request, texts: list[str], dimensions: int = 0, *, cuts: bool = True
) -> tuple[list[str], int]:
    """Each vector as JSON, and the number of all tokens. Raises ApiError and RequestError."""
    embedder_of(request)
    if not texts:
        return [], 0
    fields = EmbeddingFields.model_validate({"input": texts, "dimensions": dimensions or None})
    found = [(as_json(vector.tolist()), num) async for vector, num in one_of_each(request, fields, cuts=cuts)]
    return [written for written, _num in found], sum(num for _written, num in found)


def _json(text: str) -> web.Response:
    return web.Response(text=text, content_type="application/json")
