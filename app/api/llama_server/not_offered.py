"""llama-server's endpoints that Skein does not have: each says so. With 501 clients would ask again."""

from typing import NoReturn

from aiohttp import web
from aiohttp.typedefs import Handler

from app.api.errors import ApiError

PATHS = {
    "This server takes no sound.": ("/v1/audio/transcriptions",),
    "This server has one model. Start it with another one.": ("/models/load", "/models/unload"),
}


def add_routes(router: web.UrlDispatcher) -> None:
    for message, paths in PATHS.items():
        for path in paths:
            router.add_post(path, _refusal(message))
    router.add_get("/cors-proxy", _refusal("This server fetches no pages for others.", 403))
    router.add_post("/props", _refusal("The settings of this server cannot be changed while it runs."))


def _refusal(message: str, status: int = 404) -> Handler:
    async def refuse(_request: web.Request) -> NoReturn:
        raise ApiError(status, message, "not_supported_error")

    return refuse
