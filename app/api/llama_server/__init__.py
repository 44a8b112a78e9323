"""llama-server's own endpoints, so that what was written for it works here, too.

What Skein has none of (embeddings, rerank, infill, LoRA, saving of slots) says so.
"""

from aiohttp import web

from app.api.llama_server import completion, metrics, not_offered, props, slots, tokens


def add_routes(router: web.UrlDispatcher) -> None:
    for endpoints in (completion, tokens, props, slots, metrics, not_offered):
        endpoints.add_routes(router)
