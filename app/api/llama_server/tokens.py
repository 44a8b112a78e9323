"""/tokenize, /detokenize and /apply-template: texts to tokens and back, without an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated, TypeVar

from aiohttp import web
from pydantic import Field

from app.api.chat_fields import ChatFields
from app.api.errors import invalid
from app.api.json_body import Body, as_json, beside, json_response, read_fields
from app.api.parameters import read_sampling_fields
from app.api.state import client_of, take_model
from app.engine.prompts.prompt_builder import MAX_CHARS, PromptBuilder

MAX_TOKENS = 250_000
AT_ONCE = 2_000  # pieces or tokens: prompts of others are made in between

Pieces = Annotated[list[str | int], Field(max_length=MAX_TOKENS, fail_fast=True)]
T = TypeVar("T")
V = TypeVar("V")


class TokenizeFields(Body):
    content: str | Pieces = ""
    add_special: bool = False
    parse_special: bool = True
    with_pieces: bool = False

    @property
    def pieces(self) -> list[str | int]:
        """Raises ApiError."""
        pieces: list[str | int] = [self.content] if isinstance(self.content, str) else self.content
        if sum(len(piece) for piece in pieces if isinstance(piece, str)) > MAX_CHARS:
            raise invalid(f"content: the texts may have {MAX_CHARS:,} characters together.", "content")
        return pieces


class DetokenizeFields(Body):
    tokens: Annotated[list[int], Field(max_length=MAX_TOKENS, fail_fast=True)]


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/tokenize", tokenize)
    router.add_post("/detokenize", detokenize)
    router.add_post("/apply-template", apply_template)


async def tokenize(request: web.Request) -> web.Response:
    """Each token with its text, if asked for. BOS comes first where the text begins the prompt."""
    fields = await read_fields(request, TokenizeFields)
    await take_model(request)
    token_ids: list[int] = []

    def tokens_of(pieces: list[str | int], prompts: PromptBuilder) -> list[int]:
        adds_leading = fields.add_special and not token_ids
        return prompts.tokenize(*pieces, adds_leading=adds_leading, parse_special=fields.parse_special)

    async for tokens in _in_parts(request, fields.pieces, tokens_of):
        token_ids += tokens
    listed = _with_pieces if fields.with_pieces else _alone
    texts = [text async for text in _in_parts(request, token_ids, listed)]
    return web.Response(body=b'{"tokens":[%b]}' % b",".join(texts), content_type="application/json")


async def detokenize(request: web.Request) -> web.Response:
    fields = await read_fields(request, DetokenizeFields)
    await take_model(request)
    texts = [text async for text in _in_parts(request, fields.tokens, _written)]
    content = b"".join(texts)
    return json_response({"content": content.decode("utf-8", "replace")})


async def _in_parts(
    request: web.Request, values: list[V], work: Callable[[list[V], PromptBuilder], T]
) -> AsyncIterator[T]:
    """What `work` makes of some of the values at a time. It ends with the request, if its caller leaves."""
    for start in range(0, len(values), AT_ONCE):
        yield await client_of(request).use_prompts(partial(work, values[start : start + AT_ONCE]))


async def apply_template(request: web.Request) -> web.Response:
    """The prompt of a chat as text."""
    fields = await read_sampling_fields(request, ChatFields)
    client = client_of(request)
    asked = client.defaults.applied_to(await beside(request, partial(fields.request, client.sampling)))
    return json_response({"prompt": await client.use_prompts(lambda prompts: prompts.render(asked))})


def _written(token_ids: list[int], prompts: PromptBuilder) -> bytes:
    return b"".join(prompts.written(token_ids))


def _alone(token_ids: list[int], _prompts: PromptBuilder) -> bytes:
    return as_json(token_ids)[1:-1].encode()


def _with_pieces(token_ids: list[int], prompts: PromptBuilder) -> bytes:
    pieces = zip(token_ids, prompts.written(token_ids), strict=True)
    return as_json([{"id": token_id, "piece": _shown(piece)} for token_id, piece in pieces])[1:-1].encode()


def _shown(piece: bytes) -> str | list[int]:
    """Part of a character is shown as bytes."""
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return list(piece)
