"""Servers over HTTP: those that misbehave, and those where one has to sign in."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from aiohttp import web

from app.tools import mcp_server
from app.tools.mcp_server import McpServer
from app.tools.server_config import ServerConfig
from app.tools.tool import ToolError
from tests.tools.test_hostile_servers import on_time
from tests.tools.test_mcp_server import HELLO, server

SCHEMA = {"type": "object", "properties": {"message": {"type": "string"}}}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def reply(message: dict[str, Any]) -> dict[str, Any] | None:
    """What an honest server of an older version answers; None to a notification."""
    match message.get("method"):
        case "initialize":
            result: dict[str, Any] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "h", "version": "1"},
            }
        case "tools/list":
            result = {"tools": [{"name": "echo", "inputSchema": SCHEMA}]}
        case "tools/call":
            result = {
                "content": [{"type": "text", "text": f"echo: {message['params']['arguments']['message']}"}]
            }
        case _ if "id" in message:
            return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}}
        case _:
            return None
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def honest(message: dict[str, Any]) -> web.Response:
    told = reply(message)
    return web.json_response(told) if told else web.Response(status=202)


@contextlib.asynccontextmanager
async def serving(*routes: tuple[str, str, Handler]) -> AsyncIterator[str]:
    application = web.Application()
    for method, path, handler in routes:
        application.router.add_route(method, path, handler)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def stream(request: web.Request, kind: str, pieces: list[bytes], number: int) -> web.StreamResponse:
    """So many times, without a length."""
    response = web.StreamResponse(headers={"Content-Type": kind})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        for _ in range(number):
            for piece in pieces:
                await response.write(piece)
        await response.write_eof()
    return response


MANY = b"x" * (1 << 20)


async def large_json(request: web.Request, number: int) -> web.StreamResponse:
    head = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % number
    return await stream(request, "application/json", [head, MANY], 100)


async def large_event(request: web.Request, _number: int) -> web.StreamResponse:
    return await stream(request, "text/event-stream", [b"event: message\ndata: ", MANY], 100)


async def many_events(request: web.Request, _number: int) -> web.StreamResponse:
    event = json.dumps(
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}
    )
    return await stream(request, "text/event-stream", [f"event: message\ndata: {event}\n\n".encode()], 3000)


async def packed(_request: web.Request, _number: int) -> web.StreamResponse:
    body = gzip.compress(bytes(1 << 24))
    return web.Response(body=body, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})


async def page(_request: web.Request, _number: int) -> web.StreamResponse:
    return web.Response(text="<h1>hello", content_type="text/html")


async def broken(_request: web.Request, _number: int) -> web.StreamResponse:
    return web.Response(status=500, text="oops")


async def elsewhere(_request: web.Request, _number: int) -> web.StreamResponse:
    return web.Response(status=307, headers={"Location": "http://169.254.169.254/latest"})


async def hang(_request: web.Request, _number: int) -> web.StreamResponse:
    await asyncio.sleep(600)
    return web.Response()


async def leave(request: web.Request, _number: int) -> web.StreamResponse:
    assert request.transport
    request.transport.abort()
    return web.Response()


KINDS = {
    one.__name__: one
    for one in (large_json, large_event, many_events, packed, page, broken, elsewhere, hang, leave)
}


@pytest.mark.parametrize("kind", KINDS)
async def test_one_that_misbehaves_costs_its_call(kind, monkeypatch):
    monkeypatch.setattr(mcp_server, "FIRST_RESTART_S", 0.01)
    is_honest = False

    async def handler(request: web.Request) -> web.StreamResponse:
        message = json.loads(await request.read())
        if message.get("method") == "tools/call" and not is_honest:
            return await KINDS[kind](request, message["id"])
        return honest(message)

    async with (
        serving(("POST", "/mcp", handler)) as url,
        on_time(),
        server(McpServer(ServerConfig("h", url=f"{url}/mcp", timeout_s=2.0))) as one,
    ):
        await one.start()
        with pytest.raises(ToolError):
            await one.call("echo", HELLO)
        is_honest = True
        one.config = ServerConfig("h", url=f"{url}/mcp")
        assert await one.call("echo", HELLO) == {"plain_text_response": "echo: hello"}


async def test_one_on_this_machine_is_asked_without_the_proxy_and_others_through_it(monkeypatch):
    asked = []

    async def handler(request: web.Request) -> web.StreamResponse:
        asked.append(request.headers.get("Proxy-Authorization"))
        return honest(json.loads(await request.read()))

    async def proxy(request: web.Request) -> web.StreamResponse:
        assert str(request.url) == "http://mcp.test/mcp"
        return await handler(request)

    async with (
        serving(("POST", "/mcp", handler)) as url,
        serving(("POST", "/{any:.*}", proxy)) as through,
        on_time(),
    ):
        monkeypatch.setenv("http_proxy", through.replace("//", "//me:pw@"))
        monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1")
        for where, header in ((url, None), ("http://mcp.test", "Basic bWU6cHc=")):
            asked.clear()
            async with server(McpServer(ServerConfig("h", url=f"{where}/mcp"))) as one:
                await one.start()
                assert await one.call("echo", HELLO) == {"plain_text_response": "echo: hello"}
            assert set(asked) == {header}


class Provider:
    """Lets in who has signed in: a server and its authorization server in one."""

    def __init__(self) -> None:
        self.url = ""
        self.num_registered = 0
        self.codes: dict[str, str] = {}

    @property
    def routes(self) -> list[tuple[str, str, Handler]]:
        return [
            ("POST", "/mcp", self.mcp),
            ("GET", "/.well-known/oauth-protected-resource/mcp", self.resource),
            ("GET", "/.well-known/oauth-authorization-server", self.metadata),
            ("POST", "/register", self.register),
            ("GET", "/authorize", self.authorize),
            ("POST", "/token", self.token),
        ]

    async def mcp(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != "Bearer let-me-in":
            where = f'Bearer resource_metadata="{self.url}/.well-known/oauth-protected-resource/mcp"'
            return web.Response(status=401, headers={"WWW-Authenticate": where})
        return honest(json.loads(await request.read()))

    async def resource(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response({"resource": f"{self.url}/mcp", "authorization_servers": [self.url]})

    async def metadata(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }
        )

    async def register(self, request: web.Request) -> web.StreamResponse:
        self.num_registered += 1
        return web.json_response({**await request.json(), "client_id": "skein-1"}, status=201)

    async def authorize(self, request: web.Request) -> web.StreamResponse:
        self.codes["code-1"] = request.query["code_challenge"]
        answer = urlencode({"code": "code-1", "state": request.query["state"]})
        return web.Response(status=302, headers={"Location": f"{request.query['redirect_uri']}?{answer}"})

    async def token(self, request: web.Request) -> web.StreamResponse:
        values = await request.post()
        assert values["code"] in self.codes
        assert values["code_verifier"]
        return web.json_response({"access_token": "let-me-in", "token_type": "Bearer", "expires_in": 3600})


class Signing(McpServer):
    """The user's browser and keyring."""

    def __init__(self, config: ServerConfig, kept: str = "") -> None:
        super().__init__(config)
        self.secret = kept
        self.pages: list[str] = []
        self.sentences: list[str] = []
        self.browsing: asyncio.Task[str] | None = None

    def on_browse(self, url: str) -> None:
        super().on_browse(url)
        self.sentences.append(self.sentence)
        self.browsing = asyncio.ensure_future(self._browse(url))

    async def _browse(self, url: str) -> str:
        async with aiohttp.ClientSession() as browser, browser.get(url) as response:
            return await response.text()

    def on_keep(self, text: str) -> None:
        self.secret = text

    async def kept(self) -> str:
        return self.secret


async def test_the_user_signs_in_once_in_the_browser():
    provider = Provider()
    async with serving(*provider.routes) as provider.url:
        config = ServerConfig("h", url=f"{provider.url}/mcp")
        first = Signing(config)
        async with server(first):
            assert await first.call("echo", HELLO) == {"plain_text_response": "echo: hello"}
            assert first.browsing
            assert "You can close this page" in await first.browsing
        assert "signed in" in first.sentences[0]
        again = Signing(config, first.secret)
        async with server(again):
            assert await again.call("echo", HELLO)
        assert again.browsing is None
    assert provider.num_registered == 1
    assert "let-me-in" not in "\n".join([*first.log, *again.log, repr(config)])


async def test_a_key_of_the_users_own_needs_no_browser():
    provider = Provider()
    headers = {"Authorization": "Bearer let-me-in"}
    async with serving(*provider.routes) as provider.url:
        one = Signing(ServerConfig("h", url=f"{provider.url}/mcp", headers=headers))
        async with server(one):
            assert await one.call("echo", HELLO)
        assert one.browsing is None
