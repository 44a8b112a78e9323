"""A server's only model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from app.api.engine_client import EngineClient
from app.api.state import ServedModel


class OneModel:
    """Requests may call it what they like."""

    def __init__(self, client: EngineClient, aliases: tuple[str, ...] = ()) -> None:
        self._client, self._aliases = client, aliases
        self.close = client.close

    @property
    def models(self) -> Sequence[ServedModel]:
        return [self._served] if self._client.has_model else []

    @asynccontextmanager
    async def lease(self, _name: str, /, **_how: bool) -> AsyncIterator[ServedModel]:
        yield self._served

    @property
    def _served(self) -> ServedModel:
        """Raises ApiError (503)."""
        info = self._client.model
        return ServedModel(self._client, (*self._aliases, info.name)[0], info, self._aliases)
