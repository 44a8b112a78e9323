"""The user's list of servers that run models, and what a server says of itself. GUI thread.

Nobody is asked before the user wants it. Keys are in the keyring, all else in the settings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from PySide6.QtCore import QObject, Signal

from app.bridge.tasks import spawn
from app.models.hub_address import keep_token
from app.models.off_loop import off_loop
from app.protocol.errors import InvalidRequestError
from app.protocol.load import LoadParams, Server, ServerKind, model_address
from app.protocol.model_names import title_of
from app.services.preferences import Preferences
from app.settings.settings import ServerSettings
from app.system.said import said

if TYPE_CHECKING:
    from app.remote.introduction import Introduction
    from app.remote.web import Web


@dataclass(frozen=True, slots=True)
class ServerModel:
    """A model that may be chosen: its address as a chat keeps it, and what is shown of it."""

    address: str
    title: str
    host: str  # as far as it tells servers apart


class Servers(QObject):
    changed = Signal()
    key_lost = Signal(object)  # a sentence for the user

    def __init__(self, preferences: Preferences, parent: QObject) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._keys: dict[str, str] = {}  # that are known, by URL

    @property
    def known(self) -> tuple[ServerSettings, ...]:
        return tuple(self._preferences.settings.servers)

    @property
    def models(self) -> tuple[ServerModel, ...]:
        return tuple(
            ServerModel(model_address(Path(name), one.url), title_of(name), self._host_of(one.url))
            for one in self.known
            for name in one.models
        )

    def _host_of(self, url: str) -> str:
        """All of `url` where another one has the same host: by http and https, or with another path."""
        host = urlsplit(url).netloc
        return url if any(one.url != url and urlsplit(one.url).netloc == host for one in self.known) else host

    def params_of(self, address: str) -> LoadParams | None:
        """Asks nobody: a key that is not known yet is asked for by `open_remote`. None: it was removed."""
        url, _, name = address.partition("#")
        one = next((one for one in self.known if one.url == url), None)
        return LoadParams(Path(name), server=self._server(one)) if one else None

    async def check(self, server: Server) -> tuple[Server, Introduction]:
        """With the kind that was found. Raises ServerError; UntrustedError where a certificate is unknown."""
        from app.remote.introduction import Program, introduced  # the window is shown without
        from app.remote.web import Web

        web = Web(server)
        try:
            told = await introduced(web)
            is_lent = told.program is Program.SKEIN and await _has_engine(web)
        finally:
            await web.close()
        return replace(server, kind=ServerKind.SKEIN if is_lent else ServerKind.OPENAI), told

    def add(self, server: Server, models: tuple[str, ...]) -> None:
        """In place of what was known of it."""
        url, kind = server.url, server.kind
        self._keys[url] = server.key
        spawn(self._keep_key(server))
        self._keep(url, ServerSettings(url=url, kind=kind, fingerprint=server.fingerprint, models=models))

    def remove(self, one: ServerSettings) -> None:
        """Its key is known until the program ends, so that this can be undone."""
        spawn(self._keep_key(Server(one.url, one.kind)))
        self._keep(one.url)

    def undo_removal(self, one: ServerSettings) -> None:
        self.add(self._server(one), one.models)

    def _server(self, one: ServerSettings) -> Server:
        return Server(one.url, one.kind, self._keys.get(one.url, ""), one.fingerprint)

    def _keep(self, url: str, *anew: ServerSettings) -> None:
        self._preferences.set("servers", [*(one for one in self.known if one.url != url), *anew])
        self.changed.emit()

    async def _keep_key(self, server: Server) -> None:
        if not await off_loop(keep_token, server.secret_name, server.key) and server.key:
            text = said(
                "The key of {url} could not be stored in the keyring, so it is known only until Skein is "
                "closed. After that, add the engine again with its key.",
                url=server.url,
            )
            self.key_lost.emit(text)


def pasted(text: str, key: str = "") -> Server:
    """From an address, or a link such as "https://host:8712/?key=…". Raises InvalidRequestError."""
    text = text.strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        is_good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise InvalidRequestError(said("Enter an address such as https://host:8000."))
    url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/').removesuffix('/v1')}"
    return Server(url, ServerKind.OPENAI, key.strip() or parse_qs(parts.query).get("key", [""])[0])


async def _has_engine(web: Web) -> bool:
    """Whether a Skein lends its whole engine: it refuses a plain GET in other words than others."""
    from app.remote.web import ServerError

    try:
        await web.get("/engine")
    except ServerError as error:
        return error.status not in (0, 404)
    return True
