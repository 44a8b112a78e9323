"""Fetches a page from the public web, within limits. Any asyncio loop.

No address of this machine or of its networks is asked, whatever a name or a redirect says: the connection is
made to the address that was checked. For that reason no proxy is used.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from app.models.off_loop import off_loop
from app.tools.tool import ToolError

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

MAX_BYTES = 4 << 20  # unpacked
MAX_S, RESOLVE_S = 30.0, 10.0
MAX_REDIRECTS = 5
MAX_URL_CHARS = 4000
# Networks through which an address of the old kind may be reached under another name.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

# By what the server says that it is.
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/json": ".json",
    "text/csv": ".csv",
}

IsAllowed = Callable[[str], bool]  # of an address in digits


@dataclass(frozen=True, slots=True)
class WebPage:
    url: str  # after redirects
    suffix: str  # of a file with this content
    content: bytes


def is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo and ip.teredo[1])
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


async def fetch(url: str, is_allowed: IsAllowed = is_public) -> WebPage:
    """Raises ToolError."""
    import aiohttp

    connector = aiohttp.TCPConnector(resolver=_resolver(is_allowed), use_dns_cache=False)
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": "Mozilla/5.0 (compatible; Skein)", "Accept": "text/html, text/*, */*;q=0.5"},
        trust_env=False,
    )
    try:
        async with asyncio.timeout(MAX_S), session:
            return await _follow(session, url, is_allowed)
    except TimeoutError:
        raise ToolError(f"the page did not come within {MAX_S:g} seconds") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise ToolError(f"the page cannot be fetched: {reason[:300]}") from error


async def _follow(session: ClientSession, url: str, is_allowed: IsAllowed) -> WebPage:
    for _redirect in range(MAX_REDIRECTS + 1):
        _check(url, is_allowed)
        async with session.get(url, allow_redirects=False) as response:
            if response.status not in (301, 302, 303, 307, 308):
                return await _read(response)
            url = urljoin(url, response.headers.get("Location", ""))
    raise ToolError(f"the page redirects more than {MAX_REDIRECTS} times")


def _check(url: str, is_allowed: IsAllowed) -> None:
    """Names are checked when they are resolved."""
    parts = urlsplit(url)
    if len(url) > MAX_URL_CHARS or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ToolError("only addresses that begin with http:// or https:// can be fetched")
    if parts.username or parts.password:
        raise ToolError("an address with a name and a password is not fetched")
    try:
        ipaddress.ip_address(parts.hostname.partition("%")[0])
    except ValueError:
        return
    if not is_allowed(parts.hostname):
        raise ToolError(_private(parts.hostname))


async def _read(response: ClientResponse) -> WebPage:
    if response.status >= 400:
        raise ToolError(f"the server answers {response.status} {(response.reason or '')[:100]}")
    kind = response.content_type.lower()
    is_text = kind.startswith("text/") or kind.endswith(("+xml", "+json", "/xml", "/javascript"))
    suffix = _SUFFIXES.get(kind) or (".txt" if is_text else "")
    if not suffix:
        raise ToolError(f"the address has no text, but {kind[:100]}")
    content = bytearray()
    async for piece in response.content.iter_chunked(1 << 16):
        content += piece
        if len(content) > MAX_BYTES:
            raise ToolError(f"the page is larger than {MAX_BYTES >> 20} MiB")
    return WebPage(str(response.url), suffix, bytes(content))


def _private(host: str) -> str:
    return f"{host[:100]} is no public address: nothing of this machine or its networks is fetched"


def _resolver(is_allowed: IsAllowed) -> Any:
    from aiohttp.abc import AbstractResolver, ResolveResult

    class Checked(AbstractResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            """All addresses of it must be public: another one would be tried next."""
            async with asyncio.timeout(RESOLVE_S):
                found = await off_loop(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM, family=family)
            addresses = list(dict.fromkeys((each[0], each[4][0]) for each in found))
            if not all(is_allowed(str(address)) for _family, address in addresses):
                raise ToolError(_private(host))
            return [
                ResolveResult(
                    hostname=host,
                    host=str(address),
                    port=port,
                    family=kind,
                    proto=0,
                    flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
                )
                for kind, address in addresses
            ]

        async def close(self) -> None:
            pass

    return Checked()
