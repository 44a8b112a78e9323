"""llama-server's own endpoints, so that clients written for it work here, too."""

from aiohttp import web

from app.api.llama_server import completion, slot_actions, status, tokens


def add_routes(router: web.UrlDispatcher) -> None:
    for endpoints in (completion, tokens, status, slot_actions):
        endpoints.add_routes(router)
