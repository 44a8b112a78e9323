"""What Ollama's clients ask about models: there is one, and it is loaded."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from aiohttp import web

from app.api.as_chat import AnyObject
from app.api.json_body import json_response
from app.api.llama_answer import sampling_json
from app.api.ollama.answer import written
from app.api.state import CLIENT, model_name
from app.protocol.model import ModelInfo

# Of Ollama, whose API this is: clients ask for the oldest that they know.
OLLAMA_VERSION = "0.12.11"
NEVER = "9999-12-31T23:59:59Z"  # it is unloaded
PARAMETERS = ("temperature", "top_k", "top_p", "min_p", "repeat_penalty", "seed")


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/", running)
    router.add_get("/api/version", version)
    router.add_get("/api/tags", tags)
    router.add_get("/api/ps", running_models)
    router.add_post("/api/show", show)


async def running(_request: web.Request) -> web.Response:
    return web.Response(text="Ollama is running")


async def version(_request: web.Request) -> web.Response:
    return json_response({"version": OLLAMA_VERSION})


async def tags(request: web.Request) -> web.Response:
    return json_response({"models": [_listed(request.app)] if request.app[CLIENT].has_model else []})


async def running_models(request: web.Request) -> web.Response:
    if not request.app[CLIENT].has_model:
        return json_response({"models": []})
    model = request.app[CLIENT].model
    elsewhere = sum(need.total_bytes for _device, need in model.memory_elsewhere)
    loaded = {
        **_listed(request.app),
        "size": model.memory.total_bytes + elsewhere,
        "size_vram": elsewhere,
        "expires_at": NEVER,
        "context_length": model.max_sequence_tokens,
    }
    return json_response({"models": [loaded]})


async def show(request: web.Request) -> web.Response:
    """Of the one model there is, whatever name was sent. `context_length` is what a chat here can have."""
    client = request.app[CLIENT]
    model = client.model
    template = await client.use_prompts(lambda prompts: prompts.template_source)
    settings = sampling_json(client.sampling, client.defaults.max_tokens)
    capabilities = {"completion": True, "tools": model.takes_tools, "thinking": model.thinks}
    return json_response(
        {
            "modelfile": f"FROM {model_name(request.app)}\n",
            "parameters": "\n".join(f"{name} {settings[name]}" for name in PARAMETERS),
            "template": template,
            "details": _details(model),
            "model_info": {
                "general.architecture": model.architecture,
                "general.name": model.name,
                "general.parameter_count": model.n_params,
                f"{model.architecture}.context_length": model.max_sequence_tokens,
            },
            "capabilities": [name for name, has_it in capabilities.items() if has_it],
            "modified_at": _modified_at(model.path),
        }
    )


def _listed(application: web.Application) -> AnyObject:
    model, name = application[CLIENT].model, model_name(application)
    return {
        "name": name,
        "model": name,
        "modified_at": _modified_at(model.path),
        "size": model.size_bytes,
        # Tells models apart. The digest of a file takes seconds for each GB.
        "digest": hashlib.sha256(f"{model.path.name} {model.size_bytes}".encode()).hexdigest(),
        "details": _details(model),
    }


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
