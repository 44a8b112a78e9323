"""POST /v1/rerank: how well each document answers a query, by a reranker that was loaded for it.

Answers in Jina's form, or with `texts` in that of Hugging Face's Text Embeddings Inference, as llama-server.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from app.api.errors import invalid
from app.api.json_body import Body, json_response, read_fields
from app.api.state import TEXT_ENGINES
from app.api.vectors import MAX_TEXTS, embedded, name_of, usage_json
from app.engine.embedding import TextTokenizer
from app.protocol.load import Pooling

NO_RANKING = (
    "This server does not rank texts. Start `skein serve` with a reranker, or with --rerank-model beside "
    "another model."
)

Documents = Annotated[list[str], Field(min_length=1, max_length=MAX_TEXTS, fail_fast=True)]


class RerankFields(Body):
    """`model` may be anything: there is only one."""

    query: str
    documents: Documents | None = None
    texts: Documents | None = None
    top_n: Annotated[int, Field(ge=1)] | None = None
    return_text: bool = False


def add_routes(router: web.UrlDispatcher) -> None:
    for path in ("/rerank", "/reranking", "/v1/rerank", "/v1/reranking"):
        router.add_post(path, rerank)


async def rerank(request: web.Request) -> web.Response:
    fields = await read_fields(request, RerankFields)
    ranker = request.app[TEXT_ENGINES].ranker
    if ranker is None or ranker.model.pooling is not Pooling.RANK:
        raise invalid(NO_RANKING)
    documents = fields.texts or fields.documents
    if not documents:
        raise invalid("documents: Field required")
    pairs = [partial(TextTokenizer.pair, query=fields.query, document=text) for text in documents]
    label = "relevance_score" if fields.texts is None else "score"
    results: list[dict[str, Any]] = []
    total = 0
    async for vectors, num_tokens in embedded(ranker, pairs):
        result: dict[str, Any] = {"index": len(results), label: float(vectors[0, 0])}
        if fields.return_text:
            result["text"] = documents[len(results)]
        results.append(result)
        total += num_tokens
    results.sort(key=lambda result: float(result[label]), reverse=True)
    best = results[: fields.top_n]
    if fields.texts is not None:
        return json_response(best)
    name = name_of(ranker, request.app)
    return json_response({"object": "list", "model": name, "usage": usage_json(total), "results": best})
