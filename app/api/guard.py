"""Access control: this machine's programs with the key, and web pages served by this machine. No others.

A page from elsewhere can make a browser send requests to 127.0.0.1. It cannot hide its Origin, know the key,
or choose another Host than its own name (DNS rebinding). Every route is checked, and before a body is read.
"""

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Sequence

from aiohttp import web

from app.api.errors import ApiError
from app.settings.api_access import matches

LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
LOCAL_ORIGIN = re.compile(r"https?://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?")
HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::([0-9]{1,5}))?")
PUBLIC_PATHS = frozenset({"/", "/health", "/v1/health"})

ALLOWED_METHODS = "GET, POST, DELETE, OPTIONS"
HEADER_NAMES = re.compile(r"[A-Za-z0-9-]{1,100}(?: *, *[A-Za-z0-9-]{1,100}){0,99}")
USUAL_HEADERS = "Authorization, Content-Type, X-Api-Key"


class Guard:
    """`hosts` and `port` are what the server is bound to. Without a `key`, every program has access.

    `allowed_origins` and `allowed_hosts` are patterns of `settings.api_access`: of web pages from elsewhere,
    and of further names that lead here.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        port: int,
        key: str | None,
        *,
        usual_port: int = 80,
        allowed_origins: Sequence[str] = (),
        allowed_hosts: Sequence[str] = (),
    ) -> None:
        self._port, self._usual_port = port, usual_port
        self._allowed_origins, self._allowed_hosts = tuple(allowed_origins), tuple(allowed_hosts)
        self._key = key.encode() if key else None
        self._names = set(LOCAL_NAMES)
        self._is_public = not all(map(is_loopback, hosts))
        if self._is_public:
            own = socket.gethostname().lower()
            self._names |= {*map(_written, hosts), own, f"{own}.local"}

    def admit(self, request: web.BaseRequest) -> str | None:
        """The Origin to be named in the answer, if the request has one. Raises ApiError.

        A browser's question whether it may ask (OPTIONS) is only answered yes where an Origin comes back.
        """
        self._check_host(request)
        if request.method != "OPTIONS":
            self._check_origin(request)
        return self._known_origin(request)

    def check_key(self, request: web.BaseRequest) -> None:
        """Raises ApiError."""
        if self._key is None or request.path in PUBLIC_PATHS:
            return
        if not any(hmac.compare_digest(given, self._key) for given in _given_keys(request)):
            raise ApiError(401, "Invalid API Key")

    def _check_host(self, request: web.BaseRequest) -> None:
        hosts = request.headers.getall("Host", [])
        found = HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if (
            found is None
            or not request.raw_path.startswith("/")
            or not self._is_ours(found[1].lower(), found[2])
        ):
            raise ApiError(
                403,
                "This server does not answer for that Host. Use the address it printed, or allow the name "
                "(--allow-host).",
            )

    def _is_ours(self, name: str, port: str | None) -> bool:
        if matches(name, self._allowed_hosts):
            return True  # through a forwarded port, or a proxy
        if not self._is_public:
            return name in self._names and int(port or self._usual_port) == self._port
        # A rebinding page has a name, never a bare address. Ports may have been forwarded.
        return name in self._names or _is_address(name)

    def _check_origin(self, request: web.BaseRequest) -> None:
        is_from_elsewhere = request.headers.get("Sec-Fetch-Site") == "cross-site"
        if self._known_origin(request) is None and ("Origin" in request.headers or is_from_elsewhere):
            raise ApiError(
                403,
                "Web pages from elsewhere may not use this server, unless it allows them (--allow-origin).",
            )

    def _known_origin(self, request: web.BaseRequest) -> str | None:
        origins = request.headers.getall("Origin", [])
        if len(origins) != 1:
            return None
        (origin,) = origins
        is_known = LOCAL_ORIGIN.fullmatch(origin) or matches(origin, self._allowed_origins)
        return origin if is_known else None


def cross_origin_headers(request: web.BaseRequest, origin: str) -> dict[str, str]:
    """What a browser wants to read before it lets a page of `origin`, which may ask, ask.

    Every header that the page wants to send may be sent: clients add many of their own (X-Stainless-…), and
    what lets them in is the key. It is no cookie: a page whose client insists on credentials gets no more.
    """
    wanted = request.headers.get("Access-Control-Request-Headers", "")
    headers = {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Allow-Methods": ALLOWED_METHODS,
        "Access-Control-Allow-Headers": wanted if HEADER_NAMES.fullmatch(wanted) else USUAL_HEADERS,
        "Access-Control-Expose-Headers": "Retry-After",
        "Access-Control-Max-Age": "600",
        "Vary": "Origin, Access-Control-Request-Headers",
    }
    if request.headers.get("Access-Control-Request-Private-Network") == "true":
        headers["Access-Control-Allow-Private-Network"] = "true"  # Chrome asks, where the page is not local
    return headers


def new_key() -> str:
    return secrets.token_urlsafe(32)


def is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host.strip("[]")).is_loopback)


def _given_keys(request: web.BaseRequest) -> list[bytes]:
    """The key may come in one of several headers; it is checked in one place."""
    schemes = [value.partition(" ") for value in request.headers.getall("Authorization", [])]
    keys = [key.strip() for scheme, _, key in schemes if scheme.lower() == "bearer"]
    keys += request.headers.getall("X-Api-Key", [])
    return [key.encode("utf-8", "surrogateescape") for key in keys]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True


def _written(host: str) -> str:
    """The host as a URL has it."""
    return f"[{host}]" if ":" in host else host.lower()
