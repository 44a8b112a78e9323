"""/lora-adapters: the adapters that the model was loaded with. They are the same for all requests.

Cells depend on them, and so do all rows of a step: other scales for one request would need another context.
"""

from __future__ import annotations

from typing import Annotated, NoReturn

from aiohttp import web
from pydantic import Field

from app.api.errors import invalid
from app.api.json_body import Body, json_response
from app.api.state import CLIENT
from app.protocol.model import ModelInfo

MAX_ADAPTERS = 100
FIXED = (
    "The scales of adapters are the same for all requests: rows with other ones cannot share a step. Change "
    "them in the model's settings, and load the model again."
)


class Scale(Body):
    id: Annotated[int, Field(ge=0)]
    scale: float


Scales = Annotated[list[Scale], Field(max_length=MAX_ADAPTERS, fail_fast=True)]


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/lora-adapters", adapters)
    router.add_post("/lora-adapters", set_scales)


async def adapters(request: web.Request) -> web.Response:
    """Files by their names alone: their folders are private."""
    loaded = request.app[CLIENT].model.adapters
    return json_response(
        [{"id": number, "path": one.path.name, "scale": one.scale} for number, one in enumerate(loaded)]
    )


async def set_scales(_request: web.Request) -> NoReturn:
    raise invalid(FIXED)


def require_scales(scales: list[Scale] | None, model: ModelInfo) -> None:
    """Raises ApiError for a request that wants others than there are. An adapter that is not named has 0."""
    if scales is None:
        return
    wanted = {one.id: one.scale for one in scales}
    if wanted.keys() - set(range(len(model.adapters))):
        raise invalid(f"lora: this server has {len(model.adapters)} adapters; see GET /lora-adapters.")
    if any(wanted.get(number, 0.0) != one.scale for number, one in enumerate(model.adapters)):
        raise invalid(f"lora: {FIXED}")
