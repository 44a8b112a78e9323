"""A hub on this machine: what the API of huggingface.co says of repositories, and their files, well or ill.

With `stops_at` it holds every answer at that byte until it is let go, so that a test can stop there.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

REVISION = "a" * 40
PIECE = 8 * 1024


@dataclass
class Lie:
    """How a server answers a request for a file, given the file and where the range begins."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    is_endless: bool = False
    ends_early: bool = False  # the connection breaks before what was announced is there


Answer = Callable[[bytes, int], Lie]


def honest(content: bytes, begin: int) -> Lie:
    headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
    if not begin:
        return Lie(200, headers | {"Content-Length": str(len(content))}, content)
    rest = content[begin:]
    span = f"bytes {begin}-{len(content) - 1}/{len(content)}"
    return Lie(206, headers | {"Content-Length": str(len(rest)), "Content-Range": span}, rest)


def honest_piece(content: bytes, begin: int, end: int) -> Lie:
    piece = content[begin : end + 1]
    if not piece:
        return Lie(416)
    span = f"bytes {begin}-{begin + len(piece) - 1}/{len(content)}"
    return Lie(206, {"Content-Length": str(len(piece)), "Content-Range": span}, piece)


class StandInHub:
    def __init__(self) -> None:
        self.endpoint = ""
        self.repos: dict[str, dict[str, bytes]] = {}
        self.facts: dict[str, dict[str, object]] = {}  # more of what is said of a repository
        self.answer: Answer = honest
        self.answer_piece = honest_piece
        self.redirect: Callable[[web.Request], str | None] = lambda _request: None
        self.says: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None  # instead of the API
        self.refusal: tuple[int, dict[str, str]] | None = None  # of everything
        self.requests: list[tuple[str, dict[str, str]]] = []  # path and headers
        self.stops_at: int | None = None  # bytes of a file after which nothing comes
        self.has_stopped = asyncio.Event()
        self._go_on = asyncio.Event()

    @property
    def ranges(self) -> list[str]:
        """That were asked for, one for each request of a file."""
        return [headers.get("Range", "") for path, headers in self.requests if "/resolve/" in path]

    def let_go(self) -> None:
        self.stops_at = None
        self.has_stopped.clear()
        self._go_on.set()
        self._go_on = asyncio.Event()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/api/models", self._models)
        app.router.add_get("/api/models/{owner}/{name}", self._model)
        app.router.add_get("/{owner}/{name}/resolve/{revision}/{path:.+}", self._file)
        return app

    # The API

    async def _models(self, request: web.Request) -> web.StreamResponse:
        self._note(request)
        if self.says:
            return await self.says(request)
        if self.refusal:
            return web.Response(status=self.refusal[0], headers=self.refusal[1])
        words = request.query.get("search", "").lower()
        found = [self._described(repo_id) for repo_id in self.repos if words in repo_id.lower()]
        return web.json_response(found[: int(request.query.get("limit", 100))])

    async def _model(self, request: web.Request) -> web.Response:
        self._note(request)
        repo_id = "{owner}/{name}".format(**request.match_info)
        if self.refusal or repo_id not in self.repos:
            status, headers = self.refusal or (404, {"X-Error-Code": "RepoNotFound"})
            return web.Response(status=status, headers=headers)
        siblings = [
            {
                "rfilename": path,
                "size": len(content),
                "lfs": {
                    "size": len(content),
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "pointerSize": 134,
                },
            }
            for path, content in self.repos[repo_id].items()
        ]
        siblings.append({"rfilename": "README.md", "size": 100, "blobId": "b" * 40})
        return web.json_response(self._described(repo_id) | {"siblings": siblings})

    def _described(self, repo_id: str) -> dict[str, object]:
        return {
            "id": repo_id,
            "sha": REVISION,
            "downloads": 1000,
            "likes": 10,
            "gated": False,
            "tags": ["gguf", "license:apache-2.0"],
            "gguf": {"total": 4_022_468_096, "architecture": "qwen3", "context_length": 40_960},
        } | self.facts.get(repo_id, {})

    # Files

    async def _file(self, request: web.Request) -> web.StreamResponse:
        self._note(request)
        if place := self.redirect(request):
            return web.Response(status=302, headers={"Location": place})
        if self.refusal:
            return web.Response(status=self.refusal[0], headers=self.refusal[1])
        repo_id = "{owner}/{name}".format(**request.match_info)
        if repo_id not in self.repos:  # as the hub tells those without a token
            return web.Response(status=401, headers={"X-Error-Code": "RepoNotFound"})
        content = self.repos[repo_id][request.match_info["path"]]
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range", ""))
        if asked and asked[2]:
            return await self._send(request, self.answer_piece(content, int(asked[1]), int(asked[2])))
        return await self._send(request, self.answer(content, int(asked[1]) if asked else 0))

    async def _send(self, request: web.Request, lie: Lie) -> web.StreamResponse:
        response = web.StreamResponse(status=lie.status, headers=lie.headers)
        await response.prepare(request)
        sent = 0
        go_on = self._go_on
        try:
            while sent < len(lie.body) or lie.is_endless:
                if self.stops_at is not None and sent >= self.stops_at:
                    self.has_stopped.set()
                    await go_on.wait()
                await response.write(lie.body[sent : sent + PIECE] or bytes(PIECE))
                sent += PIECE
            if lie.ends_early and request.transport:
                request.transport.close()
        except ConnectionError:
            return response
        return response

    def _note(self, request: web.Request) -> None:
        self.requests.append((request.path, dict(request.headers)))


async def _settle() -> None:
    """asyncio makes and ends connections in a few turns of the loop."""
    for _ in range(5):
        await asyncio.sleep(0)


@asynccontextmanager
async def standing(hub: StandInHub) -> AsyncIterator[StandInHub]:
    """Listens at `hub.endpoint` meanwhile."""
    runner = web.AppRunner(hub.app(), shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    hub.endpoint = f"http://{host}:{port}"
    try:
        yield hub
    finally:
        await site.stop()
        await _settle()  # a connection that was just accepted is closed with the others
        await runner.cleanup()
        await _settle()
