"""Shared state of the request handlers, and the model that a request is about."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
)
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler

from app.api.engine_client import EngineClient
from app.api.errors import ApiError
from app.api.json_body import NAMED_MODEL
from app.protocol.model import ModelInfo
from app.shelves.shelf import NamedShelves

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Presentation:
    """Whether /slots and /metrics are enabled.

    `created` is what clients are told of the models: when this server began, so that it never changes.
    """

    is_monitored: bool = True
    created: int = field(default_factory=lambda: int(time.time()))


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as callers know it, by its name or an alias.

    `info` is what its file tells until it was loaded once. `status` is llama-server's object, where requests
    choose among several models.
    """

    client: EngineClient
    name: str
    info: ModelInfo
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    status: Mapping[str, Any] = field(default_factory=dict)


class ServedModels(Protocol):
    """The models of a server, or one alone. All calls come from the thread of its loop."""

    @property
    def models(self) -> Sequence[ServedModel]:
        """Those that can be asked for."""

    def lease(
        self, name: str, /, *, loads: bool = True, is_use: bool = True
    ) -> AbstractAsyncContextManager[ServedModel]:
        """Loads the model first if need be, and keeps it until the block is left.

        Without `loads` one that is not loaded is refused. What is no use only asks about the model: one that
        sleeps sleeps on. Raises ApiError and EngineError.
        """

    def close(self) -> None:
        """Ends every answer; no more are begun."""


class Router(ServedModels, Protocol):
    """Where callers may load and unload models, too."""

    max_loaded: int

    def load(self, name: str) -> None:
        """Soon. Raises ApiError."""

    def unload(self, name: str) -> None:
        """Once its answers have ended; a load is called off. Raises ApiError."""

    def listen(self) -> AbstractContextManager[asyncio.Queue[dict[str, Any]]]:
        """The events from now on, as llama-server's /models/sse writes them."""


@dataclass(frozen=True, slots=True)
class TextEngines:
    """Those that turn texts into vectors, and rank documents, beside the chat models. It may be one."""

    embedder: ServedModels | None = None
    ranker: ServedModels | None = None

    @property
    def every(self) -> tuple[ServedModels, ...]:
        return tuple(dict.fromkeys(one for one in (self.embedder, self.ranker) if one))


@dataclass(frozen=True, slots=True)
class ServedShelves:
    """The shelves, with the loop of their thread. None: the server's."""

    source: NamedShelves
    loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, work: Callable[[NamedShelves], Coroutine[Any, Any, T]]) -> T:
        """Runs `work` on the thread of the shelves."""
        if self.loop is None:
            return await work(self.source)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(self.source), self.loop))


SHELVES = web.AppKey("shelves", ServedShelves)
ENGINES = web.AppKey("engines", ServedModels)
ROUTER = web.AppKey("router", Router)
TEXT_ENGINES = web.AppKey("text_engines", TextEngines)
PRESENTATION = web.AppKey("presentation", Presentation)
LEASES = web.RequestKey("leases", AsyncExitStack)
MODEL = web.RequestKey("model", ServedModel)
ASKED: ContextVar[EngineClient] = ContextVar("asked")  # the engine of the request that this task is about


@web.middleware
async def hold_model(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A model that was taken for a request stays until the answer is written."""
    async with AsyncExitStack() as leases:
        request[LEASES] = leases
        return await handler(request)


async def take_model(request: web.Request, engines: ServedModels | None = None) -> ServedModel:
    """The model that the request names, in its body or in its address. Raises ApiError and EngineError."""
    if MODEL not in request:
        name = request.get(NAMED_MODEL) or request.query.get("model", "")
        loads = request.query.get("autoload", "1") in ("1", "true")
        lease = (engines or request.app[ENGINES]).lease(name, loads=loads, is_use=request.method != "GET")
        request[MODEL] = served = await request[LEASES].enter_async_context(lease)
        ASKED.set(served.client)
    return request[MODEL]


def client_of(request: web.Request) -> EngineClient:
    """The engine of the model that was taken."""
    return request[MODEL].client


def model_name(request: web.Request) -> str:
    """The public name of the model that was taken."""
    return request[MODEL].name


def every_engines(application: web.Application) -> tuple[ServedModels, ...]:
    """Of chats, and of texts beside them."""
    return application[ENGINES], *application[TEXT_ENGINES].every


def listed_models(application: web.Application) -> list[ServedModel]:
    return [one for engines in every_engines(application) for one in engines.models]


def require_monitoring(request: web.Request) -> None:
    """Raises ApiError: 501, as llama-server has it."""
    if not request.app[PRESENTATION].is_monitored:
        raise ApiError(501, "This server was started without /slots and /metrics.")
