"""/v1/models: the models there are, by their public names. /health: whether they can answer.

Where there are several, /models/load, /models/unload and /models/sse are llama-server's.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from app.api.engine_client import NO_MODEL, QUIET_SECONDS
from app.api.errors import ApiError, unavailable
from app.api.event_stream import EventStream
from app.api.json_body import Body, json_response, read_fields
from app.api.state import ENGINES, PRESENTATION, ROUTER, Router, ServedModel, every_engines, listed_models
from app.protocol.model import ModelInfo


def add_routes(router: web.UrlDispatcher) -> None:
    for prefix in ("", "/v1"):
        router.add_get(f"{prefix}/models", models)
    router.add_get("/v1/models/{name}", one_model)
    for path in ("/health", "/v1/health"):
        router.add_get(path, health)
    router.add_post("/models/load", load)
    router.add_post("/models/unload", unload)
    router.add_get("/models/sse", events)


async def models(request: web.Request) -> web.Response:
    every = listed_models(request.app)
    if not every:
        raise unavailable(NO_MODEL)
    listed = [_model_json(request.app, one) for one in every]
    known = [_known_json(one.name, one.info) for one in every]
    return json_response({"object": "list", "models": known, "data": listed})


async def one_model(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    models = request.app[ENGINES].models
    found = next((one for one in models if name in (one.name, *one.aliases)), None)
    if found is None:
        known = ", ".join(repr(one.name) for one in models)
        raise ApiError(404, f"There is no such model here, only {known}.")
    return json_response(_model_json(request.app, found))


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


def _model_json(application: web.Application, served: ServedModel) -> dict[str, Any]:
    model, status = served.info, served.status
    vector = {"n_embd": model.n_embd} if model.pooling else {}
    body = {
        "id": served.name,
        "aliases": list(served.aliases),
        "tags": list(served.tags),
        "object": "model",
        "created": application[PRESENTATION].created,
        "owned_by": "skein",
    }
    if status:
        senses = {"image": model.senses.sees, "audio": model.senses.hears}
        inputs = ["text", *(name for name, has_it in senses.items() if has_it)]
        body |= {
            "status": status,
            "architecture": {"input_modalities": inputs, "output_modalities": ["text"]},
        }
    if not served.client.has_model:  # so much is known only once it is loaded
        return body
    return body | {
        "meta": {
            "n_vocab": model.n_vocab,
            "n_ctx": model.max_sequence_tokens,
            "n_ctx_train": model.n_ctx_train,
            "n_params": model.n_params,
            "size": model.size_bytes,
            **vector,
        },
    }


class NameFields(Body):
    model: str = ""


async def load(request: web.Request) -> web.Response:
    """Begins it, and does not wait."""
    router, fields = router_of(request), await read_fields(request, NameFields)
    router.load(fields.model)
    return json_response({"success": True})


async def unload(request: web.Request) -> web.Response:
    router, fields = router_of(request), await read_fields(request, NameFields)
    router.unload(fields.model)
    return json_response({"success": True})


async def events(request: web.Request) -> web.StreamResponse:
    """What becomes of the models, until the reader leaves."""
    stream, router = EventStream(request), router_of(request)
    with router.listen() as queue:
        await stream.begin()
        while True:
            try:
                async with asyncio.timeout(QUIET_SECONDS):
                    event = await queue.get()
            except TimeoutError:
                await stream.keep_alive()
            else:
                if event["data"]["status"] == "loaded":
                    loaded = next(one for one in router.models if one.name == event["model"])
                    info = {"info": _model_json(request.app, loaded)}
                    event = event | {"data": event["data"] | info}
                await stream.send(event)


def router_of(request: web.Request) -> Router:
    """Raises ApiError (404) where there is one model."""
    if ROUTER not in request.app:
        raise ApiError(404, "This server has one model.")
    return request.app[ROUTER]


async def health(request: web.Request) -> web.Response:
    if not all(engines.models for engines in every_engines(request.app)):
        raise unavailable(NO_MODEL)
    return json_response({"status": "ok"})
