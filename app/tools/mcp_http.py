"""A server over HTTP, in the child process that speaks with it: limits, and signing in by OAuth.

The user signs in with the browser, which comes back to a port of this machine. What is to be kept of it
(tokens and our registration) is sent to the parent, who keeps it in the keyring.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import ValidationError

from app.system.proxies import proxy_for
from app.tools.mcp_stdio import MAX_LINE_BYTES

CONNECT_S, SILENCE_S = 30.0, 300.0
SIGN_IN_S = 300.0
PAGE = b"<!doctype html><meta charset=utf-8><title>Skein</title><p>You can close this page now."

Send = Callable[[Mapping[str, Any]], None]


class TooLargeError(Exception):
    def __init__(self) -> None:
        super().__init__(f"The answer is longer than {MAX_LINE_BYTES >> 20} MiB, or packed.")


@contextlib.asynccontextmanager
async def http_transport(
    url: str, headers: Mapping[str, str], uses_sse: bool, kept: str, send: Send
) -> AsyncIterator[Any]:
    with contextlib.ExitStack() as stack:
        auth = None
        if not any(name.lower() == "authorization" for name in headers):
            auth = stack.enter_context(_sign_in(url, kept, send))

        def client(*_defaults: Any, **_more: Any) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(
                headers={"Accept-Encoding": "identity", **headers},
                auth=auth,
                timeout=httpx2.Timeout(CONNECT_S, read=SILENCE_S),
                event_hooks={"response": [_bound]},
                transport=_Transport(),
            )

        if uses_sse:
            async with sse_client(url, httpx_client_factory=client) as streams:
                yield streams
        else:
            async with (
                client() as http,
                streamable_http_client(url, http_client=http, max_sse_event_size=MAX_LINE_BYTES) as streams,
            ):
                yield streams


class _Transport(httpx2.AsyncBaseTransport):
    """Through the proxy that each address takes."""

    def __init__(self) -> None:
        self._open: dict[str | None, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        proxy = await asyncio.to_thread(proxy_for, str(request.url))
        if proxy not in self._open:
            self._open[proxy] = httpx2.AsyncHTTPTransport(proxy=proxy)
        return await self._open[proxy].handle_async_request(request)

    async def aclose(self) -> None:
        for transport in self._open.values():
            await transport.aclose()


async def _bound(response: httpx2.Response) -> None:
    if response.headers.get("Content-Encoding", "identity") not in ("", "identity"):
        raise TooLargeError
    if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        num_bytes = 0
        async for piece in self._stream:
            num_bytes += len(piece)
            if num_bytes > MAX_LINE_BYTES:
                raise TooLargeError
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


@contextlib.contextmanager
def _sign_in(url: str, kept: str, send: Send) -> Any:
    store = _Store(kept, send)
    with _reserved_port(store.port) as reserved:
        redirect = f"http://127.0.0.1:{reserved.getsockname()[1]}/callback"
        store.forget_other_port(redirect)
        callback = _Callback(reserved)

        async def open_page(page: str) -> None:
            await callback.listen()
            send({"browse": page})

        yield OAuthClientProvider(
            url,
            OAuthClientMetadata(
                client_name="Skein",
                redirect_uris=[redirect],  # type: ignore[list-item]
                grant_types=["authorization_code", "refresh_token"],
                response_types=["code"],
                token_endpoint_auth_method="none",
            ),
            store,
            redirect_handler=open_page,
            callback_handler=callback.wait,
        )


@contextlib.contextmanager
def _reserved_port(wanted: int) -> Any:
    """Bound, but nobody listens yet."""
    with socket.socket() as reserved:
        try:
            reserved.bind(("127.0.0.1", wanted))
        except OSError:
            reserved.bind(("127.0.0.1", 0))
        yield reserved


class _Store:
    """What the SDK keeps, as one text."""

    def __init__(self, kept: str, send: Send) -> None:
        self._send = send
        self._tokens: OAuthToken | None = None
        self._client: OAuthClientInformationFull | None = None
        with contextlib.suppress(ValueError, ValidationError, KeyError, TypeError):
            grant = json.loads(kept)
            self._tokens = grant["tokens"] and OAuthToken.model_validate(grant["tokens"])
            self._client = grant["client"] and OAuthClientInformationFull.model_validate(grant["client"])

    @property
    def port(self) -> int:
        """The port of the address that was registered."""
        uris = (self._client and self._client.redirect_uris) or []
        return urlsplit(str(uris[0])).port or 0 if uris else 0

    def forget_other_port(self, redirect: str) -> None:
        uris = (self._client and self._client.redirect_uris) or []
        if redirect not in map(str, uris):
            self._client = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens
        self._keep()

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info
        self._keep()

    def _keep(self) -> None:
        grant = {
            "tokens": self._tokens and self._tokens.model_dump(mode="json", exclude_none=True),
            "client": self._client and self._client.model_dump(mode="json", exclude_none=True),
        }
        self._send({"keep": json.dumps(grant)})


class _Callback:
    """Where the browser comes back to, once."""

    def __init__(self, reserved: socket.socket) -> None:
        self._reserved = reserved
        self._answer: asyncio.Future[AuthorizationCodeResult] | None = None
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        self._answer = asyncio.get_running_loop().create_future()
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, sock=self._reserved)

    async def wait(self) -> AuthorizationCodeResult:
        """Raises TimeoutError."""
        assert self._answer
        return await asyncio.wait_for(self._answer, SIGN_IN_S)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(CONNECT_S):
                request = await reader.readuntil(b"\r\n\r\n")
                parts = request.decode("latin-1").split(" ", 2)
                place = urlsplit(parts[1])
                values = {name: one[0] for name, one in parse_qs(place.query).items()}
                if parts[0] != "GET" or place.path != "/callback":
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    return
                head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}\r\n"
                writer.write(f"{head}Connection: close\r\n\r\n".encode() + PAGE)
                await writer.drain()
                if self._answer and not self._answer.done():
                    self._answer.set_result(
                        AuthorizationCodeResult(
                            code=values.get("code", ""), state=values.get("state"), iss=values.get("iss")
                        )
                    )
        except (TimeoutError, OSError, ValueError, IndexError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()
