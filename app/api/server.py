"""The HTTP server: its middleware, start and stop. Any asyncio loop.

Endpoints are in files of their own, each with its `add_routes`.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from app.api import (
    anthropic,
    chat_completions,
    completions,
    embeddings,
    llama_server,
    models,
    ollama,
    responses,
    shelves,
    streams,
    tools,
)
from app.api.anthropic.message import error_body as anthropic_error
from app.api.engine_client import CALLER
from app.api.errors import ApiError, from_engine
from app.api.event_stream import send_whole
from app.api.guard import Guard, cross_origin_headers
from app.api.json_body import LIMITS, Limits, json_response
from app.api.lending import Lender
from app.api.llama_server.slot_actions import SLOT_FOLDER
from app.api.media import MEDIA_READER, MediaReader
from app.api.ollama.answer import error_body as ollama_error
from app.api.responses.store import RESPONSES, ResponseStore
from app.api.state import (
    ENGINES,
    PRESENTATION,
    ROUTER,
    SHELVES,
    TEXT_ENGINES,
    Presentation,
    Router,
    ServedModels,
    ServedShelves,
    TextEngines,
    hold_model,
)
from app.protocol.errors import EngineError, RequestError
from app.protocol.request import Caller
from app.tools.tool_box import ToolBox

log = logging.getLogger(__name__)

SERVER = "Skein"
MAX_HEADER_CHARS = 100  # of what a program says of itself
ENDPOINTS = (
    models,
    completions,
    chat_completions,
    responses,
    anthropic,
    ollama,
    embeddings,
    tools,
    shelves,
    streams,
    llama_server,
)
# Below these paths errors have another form.
ERROR_BODIES = {anthropic.PREFIX: anthropic_error, ollama.PREFIX: ollama_error}


class ApiServer:
    """Listens from `start` on; when `stop` returns, all its resources are released."""

    def __init__(
        self,
        engines: ServedModels,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        key: str | None,
        presentation: Presentation | None = None,
        router: Router | None = None,
        text_engines: TextEngines | None = None,
        tool_box: ToolBox | None = None,
        shelf_access: ServedShelves | None = None,
        slot_folder: Path | None = None,
        limits: Limits | None = None,
        tls: ssl.SSLContext | None = None,
        allowed_origins: Sequence[str] = (),
        allowed_hosts: Sequence[str] = (),
        lender: Lender | None = None,
    ) -> None:
        """Several hosts have commas between them, and need a port. `port` 0 takes a free one.

        `router` are the engines once more, if callers may load and unload models.
        Allowed origins and hosts are patterns of `settings.api_access`.
        """
        # "localhost" could be two sockets, and a free port of one is not one of the other.
        self._hosts = ["127.0.0.1" if name == "localhost" else name for name in host.split(",")]
        self._port = port
        self._key = key
        self._limits = limits or Limits()
        self._tls = tls
        self._allowed_origins, self._allowed_hosts = allowed_origins, allowed_hosts
        self._presentation = presentation or Presentation()
        self._engines = engines
        self._router = router
        self._text_engines = text_engines or TextEngines()
        self._tool_box = tool_box
        self._shelf_access = shelf_access
        self._slot_folder = slot_folder
        self._lender = lender
        self._runner: web.AppRunner | None = None
        self._server: asyncio.Server | None = None
        self._guard: Guard | None = None

    @property
    def address(self) -> str:
        """The address, such as http://127.0.0.1:8080; its port is known once the server listens."""
        host = f"[{self._hosts[0]}]" if ":" in self._hosts[0] else self._hosts[0]
        return f"{'https' if self._tls else 'http'}://{host}:{self._port}"

    async def start(self) -> None:
        """Raises OSError when the address cannot be had."""
        runner = web.AppRunner(
            self._application(), handler_cancellation=True, shutdown_timeout=self._limits.stop_s
        )
        await runner.setup()
        self._runner = runner
        try:
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(
                self._new_connection,
                self._hosts,
                self._port,
                ssl=self._tls,
                ssl_handshake_timeout=self._limits.header_s if self._tls else None,
            )
        except OSError:
            await runner.cleanup()
            raise
        self._port = self._server.sockets[0].getsockname()[1]
        for listening in self._server.sockets:  # the sockets of connections inherit it
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._limits.send_buffer_bytes)
        self._guard = Guard(
            self._hosts,
            self._port,
            self._key,
            usual_port=443 if self._tls else 80,
            allowed_origins=self._allowed_origins,
            allowed_hosts=self._allowed_hosts,
        )

    async def stop(self) -> None:
        """Ends every answer and every connection."""
        if self._server:
            self._server.close()
        for engines in (self._engines, *self._text_engines.every):
            engines.close()
        if self._tool_box:
            await self._tool_box.close()
        if self._runner:
            await self._runner.cleanup()
        self._server = self._runner = None

    def _application(self) -> web.Application:
        application = web.Application(
            middlewares=[_answer_errors, self._check, streams.record, hold_model],
            client_max_size=self._limits.max_body_bytes,
        )
        application[ENGINES] = self._engines
        if self._router:
            application[ROUTER] = self._router
        application[LIMITS] = self._limits
        application[MEDIA_READER] = MediaReader()
        application[PRESENTATION] = self._presentation
        application[RESPONSES] = ResponseStore()
        application[TEXT_ENGINES] = self._text_engines
        if self._slot_folder:
            application[SLOT_FOLDER] = self._slot_folder
        if self._shelf_access:
            application[SHELVES] = self._shelf_access
        if self._tool_box:
            application[tools.TOOLS] = self._tool_box
        application[streams.STREAMS] = streams.Streams()
        application.on_shutdown.append(application[streams.STREAMS].close)
        if self._lender:
            application.on_shutdown.append(self._lender.close)
            self._lender.add_routes(application.router)
        application.on_response_prepare.append(_add_headers)
        for endpoints in ENDPOINTS:
            endpoints.add_routes(application.router)
        return application

    def _new_connection(self) -> asyncio.Protocol:
        assert self._runner
        server = self._runner.server
        assert server
        if len(server.connections) >= self._limits.num_connections:
            return _Refusal()
        return _Connection(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=self._limits.header_s,
            lingering_time=self._limits.linger_s,
            auto_decompress=False,
            access_log=None,  # type: ignore[arg-type]  # None means none
        )

    @web.middleware
    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        assert self._guard
        CALLER.set(_caller(request))
        if origin := self._guard.admit(request):
            request[ORIGIN] = origin
        if request.method == "OPTIONS":  # a browser's question whether its page may ask carries no key
            return web.Response()
        self._guard.check_key(request)
        return await handler(request)


def _caller(request: web.BaseRequest) -> Caller:
    """Programs are told apart by machine, name and web page."""
    address, port, *_ = (request.transport and request.transport.get_extra_info("peername")) or ("", "")
    names = (request.headers.get(name, "")[:MAX_HEADER_CHARS] for name in ("User-Agent", "Origin"))
    return Caller(" ".join([address, *names]), str(port))


ORIGIN = web.RequestKey("origin", str)


@web.middleware
async def _answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turns every error into an error response."""
    try:
        response = await handler(request)
    except ApiError as error:
        response = error_response(request, error)
    except (RequestError, EngineError) as error:
        response = error_response(request, from_engine(error))
    except web.HTTPException as error:
        response = error_response(request, ApiError(error.status, error.reason))
    if not response.prepared:
        await send_whole(request, response)
    return response


def error_response(request: web.BaseRequest, error: ApiError) -> web.Response:
    """It ends the connection: what was sent may not have been read to its end."""
    headers = error.headers | {"Server": SERVER}  # aiohttp's own has its version
    response = json_response(_error_body(error, request.path), status=error.status, headers=headers)
    response.force_close()
    return response


def _error_body(error: ApiError, path: str) -> dict[str, Any]:
    """In the form of the protocol that the path belongs to."""
    for prefix, body in ERROR_BODIES.items():
        if path.startswith(prefix):
            return body(error)
    return error.body(path)


async def _add_headers(request: web.BaseRequest, response: web.StreamResponse) -> None:
    response.headers["Server"] = SERVER
    response.headers["X-Content-Type-Options"] = "nosniff"
    if origin := request.get(ORIGIN):
        response.headers.update(cross_origin_headers(request, origin))


class _Connection(web.RequestHandler):
    """aiohttp's, which answers what is no HTTP in a form of its own."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002  (aiohttp's own words may quote a header)
    ) -> web.StreamResponse:
        """An answer that ends the connection. Bad requests are not logged: they may hold keys or prompts.

        Nor are readers that have left: there may be hundreds a second.
        """
        if status >= 500 and not isinstance(exc, ConnectionError):
            log.error("a request could not be answered", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionResetError("an answer has begun, and cannot become an error any more")
        text = "Skein failed; its log says why." if status >= 500 else "The request is not valid HTTP."
        return error_response(request, ApiError(status, text))


class _Refusal(asyncio.Protocol):
    """One connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n")
        transport.close()
