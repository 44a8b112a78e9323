"""POST /infill: what a code model writes between two texts. Fields and answer are those of /completion."""

from __future__ import annotations

from typing import Annotated

from aiohttp import web
from pydantic import Field, PrivateAttr

from app.api.errors import invalid
from app.api.json_body import Body
from app.api.llama_server.completion import CompletionFields, Piece, complete
from app.api.parameters import read_sampling_fields
from app.api.state import CLIENT
from app.engine.infill import Gap, infill_tokens

MAX_FILES = 1000
NO_FIM_TOKENS = (
    "Infill is not supported by this model: its vocabulary has no tokens for a gap and the text around it. "
    "Load a code model that was trained to fill gaps."
)


class OtherFile(Body):
    text: str
    filename: str = "tmp"


class InfillFields(CompletionFields):
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
        client = request.app[CLIENT]
        model = client.model
        if not model.fim.can_fill:
            raise invalid(NO_FIM_TOKENS)
        longest = model.max_sequence_tokens
        wanted = client.defaults.max_tokens if self.num_wanted is None else self.num_wanted
        room = longest - min(longest if wanted is None else wanted, longest // 4) - 1
        self._tokens = await client.use_prompts(
            lambda prompts: infill_tokens(prompts, model.fim, self.gap, room)
        )


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/infill", infill)


async def infill(request: web.Request) -> web.StreamResponse:
    fields = await read_sampling_fields(request, InfillFields)
    await fields.build_prompt(request)
    return await complete(request, fields)
