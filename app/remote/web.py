"""Asks a server over HTTP: with its key, its pinned certificate and the system's proxy. Any asyncio loop.

A failure is one sentence that names the host.
"""

import asyncio
import contextlib
import errno
import hashlib
import json
import os
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from app.models.off_loop import off_loop
from app.protocol.errors import EngineError
from app.protocol.load import Server
from app.system.keepalive import keep_alive
from app.system.proxies import proxy_for
from app.system.said import said

CONNECT_S, ASKING_S = 10.0, 15.0
SILENCE_S = 900.0  # a long prompt may be computed for minutes before the first word
QUIET_S, KNOCK_EVERY_S = 30, 10  # whether its machine is still there is asked meanwhile
LINE_BYTES, MAX_BYTES = 2**21, 2**24  # of an event of a stream, and of another answer


class ServerError(EngineError):
    """The server was not reached, or refused. `is_refused`: the same would be refused again."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.is_refused = 400 <= status < 500 and status != 429


class UntrustedError(ServerError):
    """Nobody whom the system trusts has signed the certificate, or it is not the pinned one."""


class Web:
    """One server. Close it on the loop that has used it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.host = urlsplit(server.url).netloc
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str) -> Any:
        """The JSON, else the text. Raises ServerError."""
        async with self._response("GET", path, timeout=aiohttp.ClientTimeout(ASKING_S)) as response:
            return _read(await response.content.read(MAX_BYTES))

    async def get_if_there(self, path: str) -> Any:
        """None: the server does not tell."""
        try:
            return await self.get(path)
        except ServerError:
            return None

    async def events(self, path: str, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The chunks of an answer while it is written. Leaving the loop ends it there. Raises ServerError."""
        async with self._response("POST", path, json=body) as response:
            async for line in response.content:
                if not line.startswith(b"data:") or line[5:].strip() == b"[DONE]":
                    continue
                chunk = _read(line[5:])
                if not isinstance(chunk, dict):
                    raise self.strange()
                if error := chunk.get("error"):
                    code = error.get("code") if isinstance(error, dict) else None
                    raise self._refusal(code if isinstance(code, int) else 500, chunk)
                yield chunk

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    def strange(self) -> ServerError:
        return ServerError(said("{host} sent something that is not an answer.", host=self.host))

    @contextlib.asynccontextmanager
    async def _response(self, method: str, path: str, **how: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        async with (
            self._way(path) as (url, proxy),
            self._opened().request(method, url, proxy=proxy, allow_redirects=False, **how) as response,
        ):
            if response.status != 200:
                raise self._refusal(response.status, _read(await response.content.read(MAX_BYTES)))
            yield response

    async def socket(self, path: str, **options: Any) -> aiohttp.ClientWebSocketResponse[bool]:
        """A WebSocket, to be closed before this one is. Raises ServerError."""
        async with self._way(path) as (url, proxy):
            connected: aiohttp.ClientWebSocketResponse[bool]
            connected = await self._opened().ws_connect(url, proxy=proxy, **options)
            return connected

    @contextlib.asynccontextmanager
    async def _way(self, path: str) -> AsyncIterator[tuple[str, str | None]]:
        """URL and proxy. What fails within the block raises ServerError."""
        url = self.server.url + path
        try:
            yield url, await off_loop(proxy_for, url)
        except aiohttp.WSServerHandshakeError as error:
            raise self._refusal(error.status, error.message) from error
        except (aiohttp.ClientSSLError, aiohttp.ServerFingerprintMismatch) as error:
            text = said("The certificate of {host} is not trusted: nothing was sent.", host=self.host)
            raise UntrustedError(text) from error
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            number = getattr(error, "errno", None) or errno.ETIMEDOUT  # a name server's are negative
            reason = os.strerror(number) if number > 0 else getattr(error, "strerror", "")
            text = said("{host} cannot be reached: {reason}.", host=self.host, reason=reason)
            raise ServerError(text) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:  # also TimeoutError
            text = said("The connection to {host} broke off. Try again.", host=self.host)
            raise ServerError(text) from error

    def _refusal(self, status: int, answer: Any) -> ServerError:
        host, reason = self.host, _reason(answer) or f"HTTP {status}"
        if status in (401, 403):
            text = said("{host} refuses the key. Change it under Model → Add an engine….", host=host)
        elif status == 429:
            text = said("{host} is busy: {reason} Try again later.", host=host, reason=reason)
        elif status >= 500:
            text = said("{host} has an error: {reason}", host=host, reason=reason)
        else:
            text = said("{host} refused: {reason}", host=host, reason=reason)
        return ServerError(text, status)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            key, pin = self.server.key, bytes.fromhex(self.server.fingerprint.replace(":", ""))
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, ssl=_Pinned(pin) if pin else True, socket_factory=_socket
                ),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "skein"} | ({"Authorization": f"Bearer {key}"} if key else {}),
                read_bufsize=LINE_BYTES,
            )
        return self._session


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = address
    connection = socket.socket(family, kind, protocol)
    keep_alive(connection, QUIET_S, KNOCK_EVERY_S)
    return connection


class _Pinned(aiohttp.Fingerprint):
    """The one certificate that is trusted, whoever has signed it."""

    def check(self, transport: asyncio.Transport) -> None:
        try:
            super().check(transport)
        except aiohttp.ServerFingerprintMismatch:
            # aiohttp closes it politely, which would outlive the loop, and asks for its socket before.
            asyncio.get_running_loop().call_soon(transport.abort)
            raise


def fingerprint_of(url: str) -> str:
    """SHA-256 of the certificate that is shown there, trusted or not. Waits. Raises OSError, ValueError."""
    parts = urlsplit(url)
    shown = ssl.get_server_certificate((parts.hostname or "", parts.port or 443), timeout=CONNECT_S)
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(shown)).digest().hex(":").upper()


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def _reason(answer: Any) -> str:
    """In whichever of the usual places."""
    for name in ("error", "message", "detail"):
        if isinstance(answer, dict) and answer.get(name):
            return _reason(answer[name])
    return str(answer).strip()[:300]
