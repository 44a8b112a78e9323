"""Whether the server can answer, with all of its models. It needs no key."""

from aiohttp import web

from app.api.json_body import json_response
from app.api.state import CLIENT, TEXT_ENGINES


def add_routes(router: web.UrlDispatcher) -> None:
    for path in ("/health", "/v1/health"):
        router.add_get(path, health)


async def health(request: web.Request) -> web.Response:
    for client in (request.app[CLIENT], *request.app[TEXT_ENGINES].every):
        client.require_model()
    return json_response({"status": "ok"})
