"""llama-server's own endpoints, so that clients written for it work here, too.

Endpoints that Skein does not offer (LoRA, saving of slots) say so.
"""

from aiohttp import web

from app.api.llama_server import (
    completion,
    infill,
    lora,
    metrics,
    props,
    slot_actions,
    slots,
    tokens,
)


def add_routes(router: web.UrlDispatcher) -> None:
    for endpoints in (completion, infill, lora, tokens, props, slots, slot_actions, metrics):
        endpoints.add_routes(router)
