"""/tokenize, /detokenize and /apply-template: texts to tokens and back, without an answer."""

from __future__ import annotations

from typing import Annotated

from aiohttp import web
from pydantic import Field

from app.api.chat_answer import require_tools
from app.api.chat_fields import ChatFields
from app.api.json_body import Body, beside, json_response, read_fields
from app.api.parameters import read_sampling_fields
from app.api.state import CLIENT
from app.engine.prompt_builder import PromptBuilder

MAX_TOKENS = 250_000  # others wait meanwhile

Pieces = Annotated[list[str | int], Field(max_length=MAX_TOKENS, fail_fast=True)]


class TokenizeFields(Body):
    content: str | Pieces = ""
    add_special: bool = False
    parse_special: bool = True
    with_pieces: bool = False

    def tokens(self, prompts: PromptBuilder) -> list[tuple[int, bytes]]:
        """Each token with its text. BOS comes first where the text begins the prompt."""
        pieces = [self.content] if isinstance(self.content, str) else self.content
        token_ids = prompts.tokenize(*pieces, adds_leading=self.add_special, parse_special=self.parse_special)
        return list(zip(token_ids, prompts.written(token_ids), strict=True))


class DetokenizeFields(Body):
    tokens: Annotated[list[int], Field(max_length=MAX_TOKENS, fail_fast=True)]


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/tokenize", tokenize)
    router.add_post("/detokenize", detokenize)
    router.add_post("/apply-template", apply_template)


async def tokenize(request: web.Request) -> web.Response:
    fields = await read_fields(request, TokenizeFields)
    tokens = await request.app[CLIENT].use_prompts(fields.tokens)
    if not fields.with_pieces:
        return json_response({"tokens": [token_id for token_id, _piece in tokens]})
    return json_response({"tokens": [{"id": token_id, "piece": _shown(piece)} for token_id, piece in tokens]})


async def detokenize(request: web.Request) -> web.Response:
    fields = await read_fields(request, DetokenizeFields)
    pieces = await request.app[CLIENT].use_prompts(lambda prompts: prompts.written(fields.tokens))
    return json_response({"content": b"".join(pieces).decode("utf-8", "replace")})


async def apply_template(request: web.Request) -> web.Response:
    """The prompt of a chat as text."""
    fields = await read_sampling_fields(request, ChatFields)
    await require_tools(request, fields)
    client = request.app[CLIENT]
    sampling = client.sampling
    asked = client.defaults.applied_to(await beside(request, lambda: fields.request(sampling)))
    return json_response({"prompt": await client.use_prompts(lambda prompts: prompts.render(asked))})


def _shown(piece: bytes) -> str | list[int]:
    """Part of a character is shown as bytes."""
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return list(piece)
