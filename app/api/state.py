"""Shared state of the request handlers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aiohttp import web

from app.api.engine_client import EngineClient
from app.api.errors import ApiError
from app.shelves.shelf import NamedShelves

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Presentation:
    """The model's public names and tags, and whether /slots and /metrics are enabled.

    `created` is what clients are told of the model: when this server began, so that it never changes.
    """

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    is_monitored: bool = True
    created: int = field(default_factory=lambda: int(time.time()))


@dataclass(frozen=True, slots=True)
class TextEngines:
    """The engines that turn texts into vectors, and rank documents, where there are such. It may be one."""

    embedder: EngineClient | None = None
    ranker: EngineClient | None = None

    @property
    def every(self) -> tuple[EngineClient, ...]:
        return tuple(dict.fromkeys(client for client in (self.embedder, self.ranker) if client))


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
CLIENT = web.AppKey("client", EngineClient)
TEXT_ENGINES = web.AppKey("text_engines", TextEngines)
PRESENTATION = web.AppKey("presentation", Presentation)


def model_names(application: web.Application) -> tuple[str, ...]:
    """The model's public names, never its path. Raises ApiError while there is no model."""
    return application[PRESENTATION].names or (application[CLIENT].model.name,)


def model_name(application: web.Application) -> str:
    """The first of its names. Raises ApiError while there is no model."""
    return model_names(application)[0]


def require_monitoring(request: web.Request) -> None:
    """Raises ApiError: 501, as llama-server has it."""
    if not request.app[PRESENTATION].is_monitored:
        raise ApiError(501, "This server was started without /slots and /metrics.")
