"""A server that plays one of a kind, and answers what the test has written."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from typing import Any

from aiohttp import web

Chunk = dict[str, Any]

LLAMA_PROPS = {
    "default_generation_settings": {"n_ctx": 1024},
    "total_slots": 2,
    "modalities": {"vision": False, "audio": False},
    "chat_template": "{% if tools %}{% endif %}",
    "build_info": "b11434-0c1e570",
}
LLAMA_MODEL = {
    "id": "/models/qwen-0.5b.gguf",
    "owned_by": "llamacpp",
    "meta": {
        "n_vocab": 151936,
        "n_ctx": 1024,
        "n_ctx_train": 32768,
        "n_params": 630167424,
        "size": 485452288,
    },
}
VLLM_MODEL = {"id": "Qwen/Qwen3-0.6B", "owned_by": "vllm", "max_model_len": 4096}
SGLANG_MODEL = {"id": "qwen/qwen2.5-0.5b-instruct", "owned_by": "sglang", "max_model_len": 32768}


def text(content: str = "", reason: str | None = None, **delta: Any) -> Chunk:
    """A chunk of a chat, as all of them write it."""
    told = {"content": content, **delta} if content else delta
    return {"choices": [{"index": 0, "delta": told, "finish_reason": reason}]}


def call(index: int, name: str = "", arguments: str = "", call_id: str = "") -> Chunk:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return text(tool_calls=[{"index": index, "id": call_id, "type": "function", "function": function}])


def usage(prompt: int, answer: int, cached: int = 0) -> Chunk:
    details = {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": answer, **details}}


class FakeServer:
    """`answers` are sent in their order; one that is a number is that status, an Event is waited for."""

    def __init__(self, models: Sequence[Chunk] = (VLLM_MODEL,), **pages: Any) -> None:
        self.models, self.pages = list(models), pages
        self.answers: list[list[Chunk | asyncio.Event | str]] = []
        self.refusal: tuple[int, Any] | None = None
        self.bodies: list[Chunk] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.gone = asyncio.Event()  # a client left in mid-answer
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path)
        self.keys.append(request.headers.get("Authorization"))
        if request.path == "/v1/models":
            return web.json_response({"object": "list", "data": self.models})
        if request.method == "POST":
            return await self._answer(request)
        page = self.pages.get(request.path.strip("/"))
        if page is None:
            raise web.HTTPNotFound
        return web.Response(text=page) if isinstance(page, str) else web.json_response(page)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        if self.refusal:
            status, body = self.refusal
            return web.json_response(body, status=status)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            for chunk in self.answers.pop(0):
                if isinstance(chunk, asyncio.Event):
                    await chunk.wait()
                    continue
                data = chunk if isinstance(chunk, str) else json.dumps(chunk)
                await response.write(f"data: {data}\n\n".encode())
        except asyncio.CancelledError:
            self.gone.set()
            raise
        return response

    @contextlib.asynccontextmanager
    async def running(self, certificate: ssl.SSLContext | None = None) -> AsyncIterator[FakeServer]:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self.handle)
        self._runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=certificate).start()
        port = self._runner.addresses[0][1]
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{port}"
        try:
            yield self
        finally:
            await self.close()

    async def close(self) -> None:
        await self._runner.cleanup()
