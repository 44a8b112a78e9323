"""The HTTP session with a hub: checks redirects, and sends the token to the hub only.

Knows nothing of what the files are. Any asyncio loop.
"""

import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from app.models import hub_address
from app.models.hub_address import HubError, is_inside, leads_astray
from app.models.off_loop import off_loop
from app.system.proxies import proxies, proxy_for
from app.system.said import said

CONNECT_S, SILENCE_S = 20.0, 30.0
MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)


class HubSession:
    """For one hub. Responses are not decompressed, and not packed unless that is asked for."""

    def __init__(self, endpoint: str, token: str = "") -> None:
        self._endpoint = endpoint
        self._token = token
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=_Resolver(endpoint), limit=0),
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_S, sock_read=SILENCE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            read_bufsize=2**20,
            headers={"User-Agent": "skein"},
        )

    async def __aenter__(self) -> "HubSession":
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._session.close()

    @contextlib.asynccontextmanager
    async def get(
        self, url: str, span: str = "", packing: str = "identity"
    ) -> AsyncIterator[tuple[aiohttp.ClientResponse, str]]:
        """The response after all redirects, and the checksum that the hub sent on the way.

        `span` is a range such as "0-99". The token is sent to the hub only. Raises HubError,
        aiohttp.ClientError, TimeoutError.
        """
        checksum = ""
        for _ in range(MAX_REDIRECTS + 1):
            hub_address.check(url, self._endpoint)
            # aiohttp could find the proxy, too, but would then also read passwords from ~/.netrc: those would
            # replace the token, and be sent to every host listed there.
            headers, proxy = self._headers(url, span, packing), await off_loop(proxy_for, url)
            async with self._session.get(
                url, headers=headers, proxy=proxy, allow_redirects=False
            ) as response:
                checksum = checksum or response.headers.get("X-Linked-Etag", "").strip('"')
                if response.status not in _REDIRECTS:
                    yield response, checksum
                    return
                url = urljoin(url, response.headers.get("Location", ""))
        raise HubError(
            said(
                "{hub} redirects endlessly. Try again later.",
                hub=self._endpoint,
            )
        )

    def _headers(self, url: str, span: str, packing: str) -> dict[str, str]:
        headers = {"Accept-Encoding": packing}
        if span:
            headers["Range"] = f"bytes={span}"
        if self._token and hub_address.same_origin(url, self._endpoint):
            headers["Authorization"] = f"Bearer {self._token}"
        return headers


class _Resolver(AbstractResolver):
    """No name may resolve to the local network, except those that the user has chosen."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._trusted = {urlsplit(url).hostname for url in (endpoint, *proxies().values())}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Raises OSError, HubError."""
        found: list[Any] = await off_loop(
            socket.getaddrinfo, host, port, type=socket.SOCK_STREAM, family=family, flags=socket.AI_ADDRCONFIG
        )
        addresses = [(kind, str(where[0]), int(where[1])) for kind, _, _, _, where in found]
        if host not in self._trusted and any(is_inside(address) for _, address, _ in addresses):
            raise leads_astray(host, self._endpoint)
        return [
            ResolveResult(
                hostname=host, host=address, port=at, family=kind, proto=0, flags=socket.AI_NUMERICHOST
            )
            for kind, address, at in addresses
        ]

    async def close(self) -> None:
        return
