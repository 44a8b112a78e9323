"""/v1/embeddings and llama-server's /embeddings give vectors of texts, /v1/rerank the ranks of documents.

Each by a model that was loaded for it. Ranks come in Jina's form, or with `texts` in that of Hugging Face's
Text Embeddings Inference, as in llama-server.
"""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import numpy as np
from aiohttp import web
from pydantic import Field

from app.api.answer_parts import error_of
from app.api.engine_client import EngineClient
from app.api.errors import invalid
from app.api.json_body import Body, as_json, json_response, read_fields
from app.api.parameters import Piece, Pieces, PromptObject, listed, pieces_of
from app.api.state import TEXT_ENGINES, model_name, take_model
from app.engine.embedding import TextTokenizer
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.load import Pooling
from app.protocol.output import Embedded
from app.protocol.request import Request

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]


MAX_TEXTS = 2048  # of one request, as at OpenAI
TEXTS_AT_ONCE = 32  # so that the texts of another caller come between
MAX_PIECES = 100_000
MAX_NUMBERS = 1 << 22  # in one answer: 80 MB of JSON
EUCLIDEAN, LARGEST, AS_IT_IS = 2, 0, -1  # llama-server's numbers for norms; others are p-norms
MAX_NORM = 32
LARGEST_NUMBER = 32760.0
NO_EMBEDDINGS = (
    "This server makes no embeddings. Start `skein serve` with an embedding model, or with --embedding-model "
    "beside a chat model."
)

NO_RANKING = (
    "This server does not rank texts. Start `skein serve` with a reranker, or with --rerank-model beside "
    "another model."
)

Documents = Annotated[list[str], Field(min_length=1, max_length=MAX_TEXTS, fail_fast=True)]
ONLY_RANKS = (
    "This model ranks documents: ask /v1/rerank. For embeddings start `skein serve` with another model."
)

Tokenize = Callable[[TextTokenizer], list[int]]


class EmbeddedText(Body):
    type: Literal["text"]
    text: str


class ContentObject(Body):
    content: Annotated[list[EmbeddedText], Field(max_length=MAX_PIECES, fail_fast=True)]


OneText = str | Pieces | PromptObject | ContentObject
Texts = OneText | Annotated[list[OneText], Field(min_length=1, max_length=MAX_TEXTS, fail_fast=True)]


class EmbeddingFields(Body):
    """`model` may be anything where there is only one."""

    input: Texts | None = None
    content: Texts | None = None  # asks for llama-server's form of the answer
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Field(ge=1)] | None = None
    embd_normalize: Annotated[int, Field(ge=AS_IT_IS, le=MAX_NORM)] | None = None

    @property
    def texts(self) -> list[Sequence[Piece]]:
        """Raises ApiError."""
        given = self.content if self.input is None else self.input
        if given is None:
            raise invalid("input: Field required")
        texts = listed(given)
        if len(texts) > MAX_TEXTS:
            raise invalid(f"input: a request can have {MAX_TEXTS:,} texts. Send them in parts.")
        return list(map(_pieces, texts))

    def finished(self, vectors: Vectors, pooling: Pooling | None) -> Vectors:
        """Cut and normalised as asked for."""
        vectors = vectors[:, : self.dimensions]
        if pooling is Pooling.NONE:
            return vectors
        return normalised(vectors, EUCLIDEAN if self.embd_normalize is None else self.embd_normalize)


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/v1/embeddings", openai_embeddings)
    for path in ("/embedding", "/embeddings"):
        router.add_post(path, embeddings)
    for path in ("/rerank", "/reranking", "/v1/rerank", "/v1/reranking"):
        router.add_post(path, rerank)


async def openai_embeddings(request: web.Request) -> web.Response:
    fields, client = await read_fields(request, EmbeddingFields), await embedder_of(request)
    if fields.input is None and client.model.pooling is not Pooling.NONE:
        return await _in_llama_servers_form(fields, client)
    items: list[str] = []
    num_tokens = 0
    async for vector, num_of_text in one_of_each(request, fields):
        written = _base64(vector) if fields.encoding_format == "base64" else as_json(vector.tolist())
        items.append(f'{{"object":"embedding","index":{len(items)},"embedding":{written}}}')
        num_tokens += num_of_text
    head = as_json({"object": "list", "model": model_name(request), "usage": usage_json(num_tokens)})
    return _joined(f'{head[:-1]},"data":[', items, "]}")


async def one_of_each(
    request: web.Request, fields: EmbeddingFields, *, cuts: bool = False
) -> AsyncIterator[tuple[Vectors, int]]:
    """The vector of each text and the number of its tokens, in order. Raises ApiError and RequestError.

    With `cuts`, of a text that is too long the vector of its beginning.
    """
    client = await embedder_of(request)
    if client.model.pooling is Pooling.NONE:
        raise invalid("With --pooling none there is a vector for each token: ask /embeddings for them.")
    async for vectors, num_tokens in embedded(client, _tokenizers(fields, client, cuts=cuts)):
        yield fields.finished(vectors, client.model.pooling)[0], num_tokens


async def embeddings(request: web.Request) -> web.Response:
    fields = await read_fields(request, EmbeddingFields)
    return await _in_llama_servers_form(fields, await embedder_of(request))


async def _in_llama_servers_form(fields: EmbeddingFields, client: EngineClient) -> web.Response:
    items: list[str] = []
    async for vectors, _num_tokens in embedded(client, _tokenizers(fields, client)):
        rows: list[str] = []
        for row in fields.finished(vectors, client.model.pooling):
            rows.append(as_json(row.tolist()))
            await asyncio.sleep(0)  # there may be thousands of them
        items.append(f'{{"index":{len(items)},"embedding":[{",".join(rows)}]}}')
    return _joined("[", items, "]")


async def embedder_of(request: web.Request) -> EngineClient:
    """That beside the chat models, else the model that the request names. Raises ApiError and EngineError."""
    embedder = (await take_model(request, request.app[TEXT_ENGINES].embedder)).client
    if embedder.model.pooling is None:
        raise invalid(NO_EMBEDDINGS)
    if embedder.model.pooling is Pooling.RANK:
        raise invalid(ONLY_RANKS)
    return embedder


def _tokenizers(fields: EmbeddingFields, client: EngineClient, *, cuts: bool = False) -> list[Tokenize]:
    """Raises ApiError for an answer that would be too large."""
    texts, model = fields.texts, client.model
    if fields.dimensions and fields.dimensions > model.n_embd:
        raise invalid(f"dimensions: this model's vectors have {model.n_embd}.")
    rows = model.n_batch if model.pooling is Pooling.NONE else 1
    if len(texts) * rows * model.n_embd > MAX_NUMBERS:
        raise invalid(
            f"input: {len(texts)} texts are too many at once for vectors of {model.n_embd} numbers."
        )
    tokenize = TextTokenizer.beginning if cuts else TextTokenizer.whole
    return [partial(tokenize, pieces=pieces) for pieces in texts]


def _pieces(text: str | list[Piece] | PromptObject | ContentObject) -> Sequence[Piece]:
    if isinstance(text, ContentObject):
        return ("".join(part.text for part in text.content),)
    return pieces_of(text)


def normalised(vectors: Vectors, norm: int) -> Vectors:
    """Each row divided by its norm; one of zeros stays as it is."""
    if norm == AS_IT_IS:
        return vectors
    sizes = np.abs(vectors.astype(np.float64))
    if norm == LARGEST:
        lengths = sizes.max(axis=1) / LARGEST_NUMBER
    else:
        p = max(norm, 1)
        lengths = (sizes**p).sum(axis=1) ** (1 / p)
    lengths[lengths == 0] = 1
    divided: Vectors = (vectors / lengths[:, None]).astype(np.float32)
    return divided


def _base64(vector: Vectors) -> str:
    return as_json(base64.b64encode(vector.astype("<f4").tobytes()).decode())


def _joined(head: str, items: list[str], end: str) -> web.Response:
    return web.Response(text=f"{head}{','.join(items)}{end}", content_type="application/json")


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


class RerankFields(Body):
    """`model` may be anything where there is only one."""

    query: str
    documents: Documents | None = None
    texts: Documents | None = None
    top_n: Annotated[int, Field(ge=1)] | None = None
    return_text: bool = False


async def rerank(request: web.Request) -> web.Response:
    fields = await read_fields(request, RerankFields)
    ranker = (await take_model(request, request.app[TEXT_ENGINES].ranker)).client
    if ranker.model.pooling is not Pooling.RANK:
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
    body = {"object": "list", "model": model_name(request), "usage": usage_json(total), "results": best}
    return json_response(body)
