"""Limits `huggingface_hub`: time, size, no retries, and safe addresses only.

Its own client would wait without limit, read responses of any size, and retry for half a minute. Any thread.
"""

import time
from contextlib import closing
from functools import cache
from typing import Any

import httpx2
from huggingface_hub import set_client_factory

from app.models import hub_address
from app.models.hub_address import no_hub, offline, refused, unreachable, wait_s
from app.protocol.json_object import check_size
from app.system.proxies import proxy_for
from app.system.said import said

TIMEOUT_S = 10.0  # of silence
MAX_ANSWER_S = 60.0
MAX_ANSWER_BYTES = 8 * 2**20  # unpacked; 40 repositories with their chat templates are half a MiB
MAX_REDIRECTS = 5
# Compressed twice, or with a better algorithm, a response could grow to any size. gzip grows 1,000-fold.
_PACKED = ("", "identity", "gzip")
# The body is decompressed by now. Without "Link": the library would follow it with our token.
_LEFT_OUT = ("content-encoding", "content-length", "transfer-encoding", "link")


@cache
def use_limits() -> None:
    """For all requests of the library from now on. Failures become a HubError."""
    set_client_factory(
        lambda: _Client(
            event_hooks={"request": [_check], "response": [_leave_unread]},
            headers={"Accept-Encoding": "gzip"},
            follow_redirects=True,
            max_redirects=MAX_REDIRECTS,
            timeout=TIMEOUT_S,
            transport=_Transport(),
        )
    )


class _Transport(httpx2.BaseTransport):
    """Through the proxy that each address takes. httpx itself fails where one is a SOCKS proxy."""

    def __init__(self) -> None:
        self._through = cache(lambda proxy: httpx2.HTTPTransport(proxy=proxy))

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._through(proxy_for(str(request.url))).handle_request(request)


class _Client(httpx2.Client):
    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        endpoint = str(request.url.join("/"))[:-1]
        request.extensions |= {"timeout": httpx2.Timeout(TIMEOUT_S).as_dict(), "home": endpoint}
        try:
            with closing(super().send(request, **(options | {"stream": True}))) as response:
                if response.status_code == 429 or response.status_code >= 500:  # the library would sleep
                    raise refused(response.status_code, "", endpoint, False, wait_s(response.headers))
                body = _read(response, endpoint)
        except httpx2.HTTPError as error:
            raise unreachable(endpoint, error) from error
        headers = [(name, value) for name, value in response.headers.items() if name not in _LEFT_OUT]
        return httpx2.Response(response.status_code, headers=headers, content=body, request=response.request)


def _check(request: httpx2.Request) -> None:
    """Applies to redirects, too. httpx itself sends a token to the first host only."""
    hub_address.check(str(request.url), str(request.extensions["home"]))


def _leave_unread(response: httpx2.Response) -> None:
    """The body of a redirect would be read to its end, which may never come."""
    if response.has_redirect_location and isinstance(response.stream, httpx2.SyncByteStream):
        response.stream.close()
        response.stream = httpx2.ByteStream(b"")


def _read(response: httpx2.Response, endpoint: str) -> bytes:
    if response.headers.get("Content-Encoding", "") not in _PACKED:
        raise no_hub(endpoint)
    began, body = time.monotonic(), bytearray()
    for piece in response.iter_bytes():
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise no_hub(endpoint)
        if time.monotonic() - began > MAX_ANSWER_S:
            raise offline(endpoint, said("its response does not end"))
    try:
        check_size(bytes(body))
    except ValueError:
        raise no_hub(endpoint) from None
    return bytes(body)
