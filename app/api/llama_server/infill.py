"""POST /infill: what a code model writes between two texts. Fields and answer are those of /completion."""

from __future__ import annotations

from typing import Annotated

from aiohttp import web
from pydantic import Field, PrivateAttr

from app.api.infilling import gap_tokens
from app.api.json_body import Body
from app.api.llama_server.completion import LlamaCompletionFields, Piece, complete
from app.api.parameters import read_sampling_fields
from app.api.state import CLIENT
from app.engine.prompts.infill import Gap

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
    def prompts(self) -> list[tuple[Piece, ...]]:
        return [self._tokens]

    async def build_prompt(self, request: web.Request) -> None:
        """Raises ApiError and InvalidRequestError."""
        self._tokens = await gap_tokens(request.app[CLIENT], self.gap, self.num_wanted)


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/infill", infill)


async def infill(request: web.Request) -> web.StreamResponse:
    fields = await read_sampling_fields(request, InfillFields)
    await fields.build_prompt(request)
    return await complete(request, fields)
