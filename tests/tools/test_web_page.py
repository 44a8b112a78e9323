"""Pages of the public web, and only those."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from app.tools import web_page
from app.tools.tool import ToolError
from app.tools.web_page import fetch, is_public


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[str]:
    async def page(_request: web.Request) -> web.Response:
        return web.Response(text="<p>hello", content_type="text/html")

    async def picture(_request: web.Request) -> web.Response:
        return web.Response(body=b"x", content_type="image/png")

    async def elsewhere(request: web.Request) -> web.Response:
        raise web.HTTPFound(request.query["to"])

    async def loop(_request: web.Request) -> web.Response:
        raise web.HTTPFound("/loop")

    async def large(_request: web.Request) -> web.Response:
        packed = gzip.compress(bytes(web_page.MAX_BYTES + 1))
        return web.Response(body=packed, content_type="text/plain", headers={"Content-Encoding": "gzip"})

    async def hang(_request: web.Request) -> web.Response:
        await asyncio.sleep(600)
        return web.Response()

    application = web.Application()
    for name, handler in {
        "page": page,
        "picture": picture,
        "to": elsewhere,
        "loop": loop,
        "large": large,
        "hang": hang,
    }.items():
        application.router.add_get(f"/{name}", handler)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def anything(_address: str) -> bool:
    return True


async def test_a_page_is_fetched_through_redirects():
    async with serving() as url:
        page = await fetch(f"{url}/to?to=/page", anything)
    assert (page.url, page.suffix, page.content) == (f"{url}/page", ".html", b"<p>hello")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/picture", "no text, but image/png"),
        ("/large", "larger than 4 MiB"),
        ("/none", "answers 404"),
        ("/to?to=file:///etc/passwd", "only addresses"),
    ],
)
async def test_what_is_no_page(path, reason):
    async with serving() as url:
        with pytest.raises(ToolError, match=reason):
            await fetch(url + path, anything)


async def test_redirects_without_an_end_are_left():
    async with serving() as url:
        with pytest.raises(ToolError, match="redirects more than 5 times"):
            await fetch(f"{url}/loop", anything)


async def test_one_that_hangs_is_left(monkeypatch):
    monkeypatch.setattr(web_page, "MAX_S", 0.2)
    async with serving() as url:
        with pytest.raises(ToolError, match="did not come within"):
            await fetch(f"{url}/hang", anything)


async def test_nothing_private_is_asked():
    async with serving() as url:
        port = url.rpartition(":")[2]
        for host in (
            "127.0.0.1",
            "localhost",
            "[::1]",
            "0.0.0.0",
            "[::ffff:127.0.0.1]",
            "2130706433",
            "0x7f.1",
        ):
            with pytest.raises(ToolError, match=r"no public address|cannot be fetched"):
                await fetch(f"http://{host}:{port}/page")


async def test_nothing_private_is_asked_after_a_redirect():
    def only_the_first(address: str) -> bool:
        return address == "127.0.0.1"

    async with serving() as url:
        for to in ("http://169.254.169.254/", "http://[::1]:1/", "http://10.0.0.1/"):
            with pytest.raises(ToolError, match="no public address"):
                await fetch(f"{url}/to?to={to}", only_the_first)


@pytest.mark.parametrize(
    "url", ["", "ftp://example.com", "file:///etc/passwd", "http://", "http://a:b@example.com"]
)
async def test_other_addresses_are_refused(url):
    with pytest.raises(ToolError):
        await fetch(url)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1", True),
        ("127.0.0.1", False),
        ("10.1.1.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fc00::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_public_addresses(address, expected):
    assert is_public(address) is expected
