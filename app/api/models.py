"""/v1/models: the one model there is, by its public name. /health: whether all models can answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from app.api.errors import ApiError
from app.api.json_body import json_response
from app.api.state import CLIENT, PRESENTATION, TEXT_ENGINES, model_name, model_names
from app.protocol.model import ModelInfo


def add_routes(router: web.UrlDispatcher) -> None:
    for prefix in ("", "/v1"):
        router.add_get(f"{prefix}/models", models)
    router.add_get("/v1/models/{name}", one_model)
    for path in ("/health", "/v1/health"):
        router.add_get(path, health)


async def models(request: web.Request) -> web.Response:
    client = request.app[CLIENT]
    others = [one.model for one in request.app[TEXT_ENGINES].every if one is not client]
    listed = [model_json(request.app), *(_model_json(request.app, model, model.name) for model in others)]
    every = [client.model, *others]
    known = [_known_json(one["id"], model) for one, model in zip(listed, every, strict=True)]
    return json_response({"object": "list", "models": known, "data": listed})


async def one_model(request: web.Request) -> web.Response:
    if request.match_info["name"] not in model_names(request.app):
        raise ApiError(404, f"There is no such model here, only {model_name(request.app)!r}.")
    return json_response(model_json(request.app))


def model_json(application: web.Application) -> dict[str, Any]:
    names, tags = application[PRESENTATION].names, application[PRESENTATION].tags
    return _model_json(application, application[CLIENT].model, model_name(application), names, tags)


def _known_json(name: str, model: ModelInfo) -> dict[str, Any]:
    """Beside OpenAI's list, as llama-server has it: whether it may be sent pictures or sounds."""
    completes = ["completion", "multimodal"] if model.senses.any else ["completion"]
    return {
        "name": name,
        "model": name,
        "type": "model",
        "capabilities": completes if model.pooling is None else ["embedding"],
        "details": {"format": "gguf"},
    }


def _model_json(
    application: web.Application,
    model: ModelInfo,
    name: str,
    aliases: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> dict[str, Any]:
    vector = {"n_embd": model.n_embd} if model.pooling else {}
    return {
        "id": name,
        "aliases": list(aliases),
        "tags": list(tags),
        "object": "model",
        "created": application[PRESENTATION].created,
        "owned_by": "skein",
        "meta": {
            "n_vocab": model.n_vocab,
            "n_ctx": model.max_sequence_tokens,
            "n_ctx_train": model.n_ctx_train,
            "n_params": model.n_params,
            "size": model.size_bytes,
            **vector,
        },
    }


async def health(request: web.Request) -> web.Response:
    for client in (request.app[CLIENT], *request.app[TEXT_ENGINES].every):
        client.require_model()
    return json_response({"status": "ok"})
