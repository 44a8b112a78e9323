"""Asks a server over HTTP: with its key, its pinned certificate and the system's proxy.

A failure is one sentence that names the host. On the asyncio loop of an engine or of the window.
"""

import asyncio
import contextlib
import hashlib
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from app.models.off_loop import off_loop
from app.protocol.errors import EngineError
from app.protocol.load import Server
from app.system.proxies import proxy_for
from app.system.said import Said, said

CONNECT_S, SILENCE_S = 10.0, 900.0  # a long prompt may be computed for minutes before the first word
ASKING_S = 15.0
LINE_BYTES = 2**21  # of a stream's event
MAX_BYTES = 2**24  # of an answer that is not a stream
EVENT = b"data:"


class ServerError(EngineError):
    """The server was not reached, or refused. `is_refused`: the same would be refused again."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_refused(self) -> bool:
        return 400 <= self.status < 500 and self.status != 429


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
        async with self._response("GET", path, timeout=aiohttp.ClientTimeout(total=ASKING_S)) as response:
            text = (await response.content.read(MAX_BYTES)).decode("utf-8", "replace")
        with contextlib.suppress(ValueError):
            return json.loads(text)
        return text

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
                data = line.removeprefix(EVENT).strip() if line.startswith(EVENT) else b""
                if data == b"[DONE]":
                    return
                if data:
                    yield self._read(data)

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    def _read(self, data: bytes) -> dict[str, Any]:
        try:
            chunk = json.loads(data)
        except ValueError:
            chunk = None
        if not isinstance(chunk, dict):
            raise ServerError(said("{host} sent something that is not an answer.", host=self.host))
        if error := chunk.get("error"):
            code = error.get("code") if isinstance(error, dict) else 0
            status = code if isinstance(code, int) else 500
            raise ServerError(self._refusal(status, message_of(chunk)), status)
        return chunk

    @contextlib.asynccontextmanager
    async def _response(self, method: str, path: str, **body: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        url = self.server.url + path
        with self._failures_said():
            proxy = await off_loop(proxy_for, url)
            async with self._opened().request(
                method, url, proxy=proxy, allow_redirects=False, **body
            ) as response:
                if response.status != 200:
                    text = (await response.content.read(MAX_BYTES)).decode("utf-8", "replace")
                    raise ServerError(self._refusal(response.status, message_of(text)), response.status)
                yield response

    async def socket(self, path: str, **options: Any) -> aiohttp.ClientWebSocketResponse[bool]:
        """A WebSocket, to be closed before this one is. Raises ServerError."""
        url = self.server.url + path
        with self._failures_said():
            proxy = await off_loop(proxy_for, url)
            socket: aiohttp.ClientWebSocketResponse[bool]
            socket = await self._opened().ws_connect(url, proxy=proxy, **options)
            return socket

    @contextlib.contextmanager
    def _failures_said(self) -> Iterator[None]:
        try:
            yield
        except aiohttp.WSServerHandshakeError as error:
            raise ServerError(self._refusal(error.status, error.message), error.status) from error
        except (aiohttp.ClientSSLError, aiohttp.ServerFingerprintMismatch) as error:
            raise UntrustedError(
                said("The certificate of {host} is not trusted: nothing was sent.", host=self.host)
            ) from error
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            reason = getattr(error, "strerror", None) or "it does not answer"
            raise ServerError(
                said("{host} cannot be reached: {reason}.", host=self.host, reason=reason)
            ) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:  # also TimeoutError
            raise ServerError(
                said("The connection to {host} broke off. Try again.", host=self.host)
            ) from error

    def _refusal(self, status: int, reason: str) -> Said:
        host = self.host
        match status:
            case 401 | 403:
                return said("{host} refuses the key. Change it under Model → Add an engine….", host=host)
            case 404:
                return said("{host} does not know this: {reason}", host=host, reason=reason)
            case 429:
                return said("{host} is busy: {reason} Try again later.", host=host, reason=reason)
            case _ if status >= 500:
                return said("{host} failed: {reason}", host=host, reason=reason)
        return said("{host} refused: {reason}", host=host, reason=reason)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"User-Agent": "skein"}
            if self.server.key:
                headers["Authorization"] = f"Bearer {self.server.key}"
            pinned = bytes.fromhex(self.server.fingerprint.replace(":", ""))
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=_Pinned(pinned) if pinned else True),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=headers,
                read_bufsize=LINE_BYTES,
            )
        return self._session


class _Pinned(aiohttp.Fingerprint):
    """The one certificate that is trusted, whoever has signed it."""

    def check(self, transport: asyncio.Transport) -> None:
        try:
            super().check(transport)
        except aiohttp.ServerFingerprintMismatch:
            # aiohttp closes it politely, which would outlive the loop, and asks for its socket before.
            asyncio.get_running_loop().call_soon(transport.abort)
            raise


def message_of(answer: Any) -> str:
    """What a server says of a failure, in whichever of the usual places."""
    if isinstance(answer, str):
        try:
            answer = json.loads(answer)
        except ValueError:
            return answer.strip()[:300] or "no reason given"
    for name in ("error", "message", "detail"):
        if isinstance(answer, dict) and answer.get(name):
            return message_of(answer[name])
    return str(answer)[:300]


async def fingerprint_of(url: str) -> str:
    """SHA-256 of the certificate that is shown there, trusted or not. Raises OSError."""
    parts = urlsplit(url)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    async with asyncio.timeout(CONNECT_S):
        _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443, ssl=context)
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return hashlib.sha256(certificate).digest().hex(":").upper()
