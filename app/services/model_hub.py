"""The hub for the window: search, files of a repository, and the token. GUI thread.

Only the newest query is answered. Knows no widgets, and downloads nothing.
"""

from __future__ import annotations

import asyncio
import io
import logging
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.models.gguf_header import GgufHeader, HeaderCutError, HeaderError, read_header
from app.models.hub import Hub, Repo, RepoContents
from app.models.hub_address import (
    DEFAULT_ENDPOINT,
    GatedError,
    HubError,
    endpoint_of,
    file_url,
    keep_token,
    read_token,
    unreachable,
)
from app.models.memory_fit import estimate
from app.models.off_loop import off_loop
from app.services.model_fits import ExpectedRoom
from app.services.preferences import Preferences
from app.settings.load import load_params
from app.system.said import said

if TYPE_CHECKING:
    from app.models.hub_session import HubSession


log = logging.getLogger(__name__)

PATIENCE_S = 60.0  # for a whole answer: the name resolver has no timeout of its own


@dataclass(frozen=True, slots=True)
class Trouble:
    text: str  # the text for the user
    page: str = ""  # a web page where access must be requested; then a token is needed, too


@dataclass(frozen=True, slots=True)
class FoundRepos:
    words: str
    repos: tuple[Repo, ...]


class ModelHub(QObject):
    """Each query ends in `found`, `opened` or `failed`, unless a newer one replaces it."""

    found = Signal(object)  # Found
    opened = Signal(object)  # RepoContents
    failed = Signal(object)  # Trouble
    token_changed = Signal()
    token_noted = Signal(object)  # what happened to a token: a sentence for the user
    endpoint_changed = Signal()
    estimated = Signal(str, int)  # what the models of a repository take beside their weights, in bytes
    measured = Signal()  # how much memory is free

    def __init__(
        self, preferences: Preferences, parent: QObject | None = None, engine: Engines | None = None
    ) -> None:
        """The memory of `engine` counts as free, since a new model replaces it."""
        super().__init__(parent)
        self._preferences = preferences
        self._engine = engine
        self._question: asyncio.Task[None] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self.free_bytes = 0  # of memory, for models; 0: not measured yet
        self._tokens: dict[str, str] = {}  # by the hub they are for
        preferences.changed.connect(self._on_setting_changed)

    @property
    def endpoint(self) -> str:
        """The chosen hub, or the default one if that is invalid."""
        try:
            return endpoint_of(self._preferences.settings.hub_endpoint)
        except HubError:
            return DEFAULT_ENDPOINT

    @property
    def has_token(self) -> bool:
        """Whether a token is known: the keyring is not read before the first query."""
        return bool(self._tokens.get(self.endpoint))

    def measure(self) -> None:
        spawn(self._measure())

    async def _measure(self) -> None:
        self.free_bytes = await asyncio.to_thread(ExpectedRoom.of(self._engine).total_bytes)
        self.measured.emit()

    def search(self, words: str) -> None:
        async def ask(hub: Hub) -> None:
            async with asyncio.timeout(PATIENCE_S):
                repos = await hub.search(words)
            self.found.emit(FoundRepos(words, repos))

        self._ask(ask)

    def open(self, repo_id: str) -> None:
        async def ask(hub: Hub) -> None:
            async with asyncio.timeout(PATIENCE_S):
                contents = await hub.contents(repo_id)
            self.opened.emit(contents)
            await self._estimate(contents, hub.endpoint)

        self._ask(ask)

    async def _estimate(self, contents: RepoContents, endpoint: str) -> None:
        """From the header of one file: context and compute buffer are the same for each of them."""
        whole = [model for model in contents.models if len(model.files) == 1]
        if not whole:
            return
        url = file_url(endpoint, contents.repo.id, contents.revision, whole[0].files[0].path)
        try:
            header = await read_remote_header(url, endpoint, await self.token(endpoint))
            params = load_params(self._preferences.settings, Path(whole[0].files[0].path))
            need = await asyncio.to_thread(estimate, header, params)
        except (HubError, HeaderError) as error:
            log.info("What the models of %s need is not known: %s", contents.repo.id, error)
            return
        self.estimated.emit(contents.repo.id, need.total_bytes - need.weights_bytes)

    def stop(self) -> None:
        """Cancels the query."""
        if self._question:
            self._question.cancel()
            self._question = None

    def close(self) -> None:
        """A keyring that waits for its password must not keep the program from ending."""
        self.stop()
        if self._keeping:
            self._keeping.cancel()

    async def token(self, endpoint: str) -> str:
        if endpoint not in self._tokens:
            self._tokens[endpoint] = await off_loop(read_token, endpoint)
            self.token_changed.emit()
        return self._tokens[endpoint]

    def look_for_token(self) -> None:
        """Ends in `token_changed` if the keyring was not read before."""
        if self.endpoint not in self._tokens:
            spawn(self._look_for_token())

    async def _look_for_token(self) -> None:
        await self.token(self.endpoint)

    def set_token(self, token: str) -> None:
        """For the hub in use. An empty one is forgotten."""
        self._tokens[self.endpoint] = token
        self.token_changed.emit()
        self._keeping = spawn(self._keep(self.endpoint, token))

    async def _keep(self, endpoint: str, token: str) -> None:
        if await off_loop(keep_token, endpoint, token):
            self.token_noted.emit(
                said("The token is stored in the keyring.") if token else said("Token removed.")
            )
        else:
            self.token_noted.emit(
                said(
                    "This system has no keyring, so the token is kept only until Skein is closed. To "
                    "store it, install GNOME Keyring or KWallet."
                )
            )

    def _ask(self, question: Callable[[Hub], Coroutine[Any, Any, None]]) -> None:
        self.stop()
        self._question = spawn(self._answer(question))

    async def _answer(self, question: Callable[[Hub], Coroutine[Any, Any, None]]) -> None:
        endpoint = self.endpoint
        try:
            endpoint = endpoint_of(self._preferences.settings.hub_endpoint)
            await question(Hub(endpoint, await self.token(endpoint)))
        except TimeoutError as error:
            self.failed.emit(Trouble(unreachable(endpoint, error).args[0]))
        except GatedError as error:
            self.failed.emit(Trouble(error.args[0], error.page))
        except HubError as error:
            self.failed.emit(Trouble(error.args[0]))

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == "hub_endpoint":
            self.endpoint_changed.emit()
            self.token_changed.emit()


FIRST_BYTES = 2**20
MAX_BYTES = 32 * 2**20  # vocabularies of 260,000 words take 15 MB
MAX_S = 120.0


async def read_remote_header(url: str, endpoint: str, token: str = "") -> GgufHeader:
    """Doubles the range until the header is complete. Raises HubError, HeaderError."""
    import aiohttp

    from app.models.hub_session import HubSession

    begin = b""
    try:
        async with asyncio.timeout(MAX_S), HubSession(endpoint, token) as session:
            while len(begin) < MAX_BYTES:
                begin += await _piece(session, url, len(begin), max(len(begin), FIRST_BYTES))
                try:
                    return read_header(io.BytesIO(begin))
                except HeaderCutError:
                    continue
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise unreachable(endpoint, error) from error
    raise HeaderError(said("its header is too large to inspect remotely"))


async def _piece(session: HubSession, url: str, begin: int, length: int) -> bytes:
    async with session.get(url, f"{begin}-{begin + length - 1}") as (response, _checksum):
        span = re.match(rf"bytes {begin}-", response.headers.get("Content-Range", ""))
        if response.status != 206 or not span:
            raise HeaderError(said("the hub does not support range requests"))
        piece = bytearray()
        async for chunk in response.content.iter_chunked(2**18):
            piece += chunk
            if len(piece) >= length:
                break
    if not piece:
        raise HeaderError(said("it is truncated within its header"))
    return bytes(piece[:length])
