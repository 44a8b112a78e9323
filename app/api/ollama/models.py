"""What Ollama's clients ask about models: there is one, perhaps with another for embeddings beside it.

The other makes the vectors of /api/embed and the older /api/embeddings.
"""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from app.api.embeddings import MAX_TEXTS, EmbeddingFields, embedder_of, one_of_each
from app.api.engine_client import NO_MODEL
from app.api.errors import ApiError, unavailable
from app.api.json_body import AnyObject, Body, as_json, json_response, read_fields
from app.api.llama_answer import sampling_json
from app.api.ollama.answer import written
from app.api.ollama.fields import OllamaBody
from app.api.state import ENGINES, ServedModel, listed_models, model_name
from app.protocol.load import Pooling
from app.protocol.model import ModelInfo

# The Ollama whose API this is: clients ask for the oldest that they know.
OLLAMA_VERSION = "0.12.11"
NEVER = "9999-12-31T23:59:59Z"  # it is unloaded
PARAMETERS = ("temperature", "top_k", "top_p", "min_p", "repeat_penalty", "seed")


class ShowFields(Body):
    model: str | None = None
    name: str | None = None  # as it was called first


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/", running)
    router.add_get("/api/version", version)
    router.add_get("/api/tags", tags)
    router.add_get("/api/ps", running_models)
    router.add_post("/api/show", show)
    router.add_post("/api/embed", embed)
    router.add_post("/api/embeddings", embeddings)


async def running(_request: web.Request) -> web.Response:
    return web.Response(text="Ollama is running")


async def version(_request: web.Request) -> web.Response:
    return json_response({"version": OLLAMA_VERSION})


async def tags(request: web.Request) -> web.Response:
    return json_response({"models": [_listed(one.name, one.info) for one in listed_models(request.app)]})


async def running_models(request: web.Request) -> web.Response:
    running = [one for one in listed_models(request.app) if one.client.has_model]
    return json_response({"models": [_running(one.name, one.info) for one in running]})


async def show(request: web.Request) -> web.Response:
    """What is known without loading it. `context_length` is what a chat here can have."""
    fields = await read_fields(request, ShowFields)
    served = _named(request.app, fields.model or fields.name or "")
    client, model = served.client, served.info
    template, parameters = "", ""
    if client.has_model and not model.pooling:
        template = (await client.template_facts()).source
        settings = sampling_json(client.sampling, client.defaults.max_tokens)
        parameters = "\n".join(f"{name} {settings[name]}" for name in PARAMETERS)
    return json_response(
        {
            "modelfile": f"FROM {model.name}\n",
            "parameters": parameters,
            "template": template,
            "details": _details(model),
            "model_info": {
                "general.architecture": model.architecture,
                "general.name": model.name,
                "general.parameter_count": model.n_params,
                f"{model.architecture}.context_length": model.max_sequence_tokens,
                **({f"{model.architecture}.embedding_length": model.n_embd} if model.pooling else {}),
            },
            "capabilities": _capabilities(model),
            "modified_at": _modified_at(model.path),
        }
    )


def _named(application: web.Application, name: str) -> ServedModel:
    """Where there is one chat model, it goes by any name. Raises ApiError."""
    for one in listed_models(application):
        if name in (one.name, *one.aliases):
            return one
    if len(chats := application[ENGINES].models) == 1:
        return chats[0]
    raise ApiError(404, f"model {name!r} not found") if chats else unavailable(NO_MODEL)


def _listed(name: str, model: ModelInfo) -> AnyObject:
    return {
        "name": name,
        "model": name,
        "modified_at": _modified_at(model.path),
        "size": model.size_bytes,
        # Tells models apart. The digest of a file takes seconds for each GB.
        "digest": hashlib.sha256(f"{model.path.name} {model.size_bytes}".encode()).hexdigest(),
        "details": _details(model),
    }


def _running(name: str, model: ModelInfo) -> AnyObject:
    elsewhere = sum(need.total_bytes for _device, need in model.memory_elsewhere)
    return {
        **_listed(name, model),
        "size": model.memory.total_bytes + elsewhere,
        "size_vram": elsewhere,
        "expires_at": NEVER,
        "context_length": model.max_sequence_tokens,
    }


def _capabilities(model: ModelInfo) -> list[str]:
    if model.pooling:
        return [] if model.pooling is Pooling.RANK else ["embedding"]
    has = {
        "completion": True,
        "tools": model.takes_tools,
        "thinking": model.thinks,
        "vision": model.senses.sees,
        "audio": model.senses.hears,
    }
    return [name for name, has_it in has.items() if has_it]


def _details(model: ModelInfo) -> AnyObject:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.architecture,
        "families": [model.architecture],
        "parameter_size": _rounded(model.n_params),
        "quantization_level": _quantization(model.description),
    }


def _rounded(n_params: int) -> str:
    return f"{n_params / 1e9:.1f}B" if n_params >= 1e9 else f"{n_params / 1e6:.2f}M"


def _quantization(description: str) -> str:
    """From "qwen3 0.6B Q4_K - Medium": Q4_K_M."""
    words = description.split()
    if len(words) > 2 and words[-2] == "-":
        return f"{words[-3]}_{words[-1][0]}"
    return words[-1] if words else ""


def _modified_at(path: Path) -> str:
    try:
        seconds = path.stat().st_mtime
    except OSError:  # it was moved since it was loaded
        seconds = 0
    return written(datetime.fromtimestamp(seconds, UTC))


class EmbedFields(OllamaBody):
    """Without a text the caller only wants the model to be there. One too long is cut, by default."""

    input: str | Annotated[list[str], Field(max_length=MAX_TEXTS, fail_fast=True)] = ""
    truncate: bool = True
    dimensions: Annotated[int, Field(ge=0)] = 0  # 0: all

    @property
    def texts(self) -> list[str]:
        return self.input if isinstance(self.input, list) else [self.input] if self.input else []


class OldEmbedFields(OllamaBody):
    prompt: str = ""


async def embed(request: web.Request) -> web.Response:
    fields = await read_fields(request, EmbedFields)
    begun = time.perf_counter_ns()
    written, num_tokens = await _written(request, fields.texts, fields.dimensions, cuts=fields.truncate)
    head: dict[str, Any] = {
        "model": model_name(request),
        "total_duration": time.perf_counter_ns() - begun,
        "load_duration": 0,
        "prompt_eval_count": num_tokens,
    }
    return _json(f'{as_json(head)[:-1]},"embeddings":[{",".join(written)}]}}')


async def embeddings(request: web.Request) -> web.Response:
    fields = await read_fields(request, OldEmbedFields)
    texts = [fields.prompt] if fields.prompt else []
    written, _num_tokens = await _written(request, texts)
    return _json(f'{{"embedding":{"".join(written) or "[]"}}}')


async def _written(
    request: web.Request, texts: list[str], dimensions: int = 0, *, cuts: bool = True
) -> tuple[list[str], int]:
    """Each vector as JSON, and the number of all tokens. Raises ApiError and RequestError."""
    await embedder_of(request)
    if not texts:
        return [], 0
    fields = EmbeddingFields.model_validate({"input": texts, "dimensions": dimensions or None})
    found = [(as_json(vector.tolist()), num) async for vector, num in one_of_each(request, fields, cuts=cuts)]
    return [written for written, _num in found], sum(num for _written, num in found)


def _json(text: str) -> web.Response:
    return web.Response(text=text, content_type="application/json")
