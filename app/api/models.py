"""/v1/models: the one model there is, by its public name."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from app.api.errors import ApiError
from app.api.json_body import json_response
from app.api.state import CLIENT, PRESENTATION, model_name, model_names


def add_routes(router: web.UrlDispatcher) -> None:
    for prefix in ("", "/v1"):
        router.add_get(f"{prefix}/models", models)
    router.add_get("/v1/models/{name}", one_model)


async def models(request: web.Request) -> web.Response:
    return json_response({"object": "list", "data": [model_json(request.app)]})


async def one_model(request: web.Request) -> web.Response:
    if request.match_info["name"] not in model_names(request.app):
        raise ApiError(404, f"There is no such model here, only {model_name(request.app)!r}.")
    return json_response(model_json(request.app))


def model_json(application: web.Application) -> dict[str, Any]:
    model = application[CLIENT].model
    return {
        "id": model_name(application),
        "aliases": list(application[PRESENTATION].names),
        "tags": list(application[PRESENTATION].tags),
        "object": "model",
        "created": application[PRESENTATION].created,
        "owned_by": "skein",
        "meta": {
            "n_vocab": model.n_vocab,
            "n_ctx": model.max_sequence_tokens,
            "n_ctx_train": model.n_ctx_train,
            "n_params": model.n_params,
            "size": model.size_bytes,
        },
    }
