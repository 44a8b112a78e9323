"""What a server tells of itself: /slots, /props, /metrics, /lora-adapters.

A slot has llama-server's fields, and what Skein knows besides: positions, cells, state. Texts of chats and
sampling settings are left out. Adapters are the same for all requests: cells depend on them, and so do all
rows of a step.
"""

from __future__ import annotations

from typing import Annotated, Any, NoReturn

import psutil
from aiohttp import web
from pydantic import Field

from app.api.errors import invalid, unavailable
from app.api.json_body import Body, json_response
from app.api.llama_answer import drafting_json, sampling_json
from app.api.openai import SYSTEM_FINGERPRINT
from app.api.state import PRESENTATION, ROUTER, Router, model_name, require_monitoring, take_model
from app.protocol.model import ModelInfo
from app.protocol.report import SlotSnapshot, SlotState, Span

NO_LIMIT = -1


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/slots", slots)
    router.add_get("/props", props)
    router.add_get("/metrics", metrics)
    router.add_get("/lora-adapters", adapters)
    router.add_post("/lora-adapters", set_scales)


async def slots(request: web.Request) -> web.Response:
    """With `fail_on_no_slot` it answers 503 while all are busy."""
    require_monitoring(request)
    client = (await take_model(request)).client
    model, report = client.model, client.last_report
    snapshots = report.slots if report else tuple(map(_empty, range(model.n_seq_max)))
    if request.query.get("fail_on_no_slot") and all(slot.is_running for slot in snapshots):
        raise unavailable("no slot available")
    spans = {span.seq_id: span for span in report.spans} if report else {}
    return json_response(
        [
            slot_json(slot, model.max_sequence_tokens, spans.get(slot.seq_id))
            | {"speculative": model.num_drafted_tokens > 0}
            for slot in snapshots
        ]
    )


def slot_json(slot: SlotSnapshot, max_tokens: int, span: Span | None) -> dict[str, Any]:
    usage = slot.usage
    num_generated = usage.num_generated_tokens if slot.is_running else 0
    body: dict[str, Any] = {
        "id": slot.seq_id,
        "n_ctx": max_tokens,
        "speculative": False,
        "is_processing": slot.is_running,
        "n_prompt_tokens": usage.num_prompt_tokens,
        "n_prompt_tokens_processed": usage.num_computed_prompt_tokens,
        "n_prompt_tokens_cache": usage.num_cached_tokens,
        "next_token": [
            {
                "has_next_token": slot.is_running,
                "n_remain": _num_left(slot, span),
                "n_decoded": num_generated,
            }
        ],
    }
    return body | {
        "state": slot.state.value,
        "pos_min": slot.pos_min,
        "pos_max": slot.pos_max,
        "n_cells": slot.num_cells,
        "n_cells_own": slot.num_cells - slot.num_shared_cells,
        "n_cells_shared": slot.num_shared_cells,
        "n_pending": slot.num_pending_tokens,
        "is_pinned": slot.is_pinned,
        "checkpoints": list(slot.checkpoints),
    }


def _num_left(slot: SlotSnapshot, span: Span | None) -> int:
    if not slot.is_running or span is None or span.max_tokens is None:
        return NO_LIMIT
    return max(span.max_tokens - span.num_generated_tokens, 0)


def _empty(seq_id: int) -> SlotSnapshot:
    return SlotSnapshot(seq_id, SlotState.EMPTY)


async def props(request: web.Request) -> web.Response:
    """The model's file by its name alone: its folder is private. Without a name, those of a router."""
    if ROUTER in request.app and not request.query.get("model"):
        return json_response(_router_json(request.app[ROUTER]))
    client = (await take_model(request)).client
    model = client.model
    template = await client.template_facts()
    return json_response(
        {
            "default_generation_settings": {
                "params": sampling_json(client.sampling, client.defaults.max_tokens) | drafting_json(model),
                "n_ctx": model.max_sequence_tokens,
            },
            "total_slots": model.n_seq_max,
            "model_alias": model_name(request),
            "model_path": model.path.name,
            "modalities": {"vision": model.senses.sees, "video": False, "audio": model.senses.hears},
            "endpoint_slots": request.app[PRESENTATION].is_monitored,
            "endpoint_props": False,  # they cannot be changed
            "endpoint_metrics": request.app[PRESENTATION].is_monitored,
            "ui": False,
            "chat_template": template.source,
            **({"chat_template_tool_use": template.tool_source} if template.tool_source else {}),
            "bos_token": template.bos_text,
            "eos_token": template.eos_text,
            "build_info": SYSTEM_FINGERPRINT,
            "is_sleeping": client.is_asleep,
        }
    )


def _router_json(router: Router) -> dict[str, Any]:
    return {
        "role": "router",
        "max_instances": router.max_loaded,
        "models_autoload": True,
        "model_alias": "skein",
        "model_path": "none",
        "default_generation_settings": {"params": None, "n_ctx": 0},
        "build_info": SYSTEM_FINGERPRINT,
    }


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_started_at = psutil.Process().create_time()


async def metrics(request: web.Request) -> web.Response:
    require_monitoring(request)
    client = (await take_model(request)).client
    headers = {"Content-Type": CONTENT_TYPE, "Process-Start-Time-Unix": str(int(_started_at))}
    return web.Response(text=client.metrics.text(client.num_waiting), headers=headers)


MAX_ADAPTERS = 100
FIXED = (
    "The scales of adapters are the same for all requests: rows with other ones cannot share a step. Change "
    "them in the model's settings, and load the model again."
)


class Scale(Body):
    id: Annotated[int, Field(ge=0)]
    scale: float


Scales = Annotated[list[Scale], Field(max_length=MAX_ADAPTERS, fail_fast=True)]


async def adapters(request: web.Request) -> web.Response:
    """Files by their names alone: their folders are private."""
    loaded = (await take_model(request)).info.adapters
    return json_response(
        [{"id": number, "path": one.path.name, "scale": one.scale} for number, one in enumerate(loaded)]
    )


async def set_scales(_request: web.Request) -> NoReturn:
    raise invalid(FIXED)


def require_scales(scales: list[Scale] | None, model: ModelInfo) -> None:
    """Raises ApiError for a request that wants others than there are. An adapter that is not named has 0."""
    if scales is None:
        return
    wanted = {one.id: one.scale for one in scales}
    if wanted.keys() - set(range(len(model.adapters))):
        raise invalid(f"lora: this server has {len(model.adapters)} adapters; see GET /lora-adapters.")
    if any(wanted.get(number, 0.0) != one.scale for number, one in enumerate(model.adapters)):
        raise invalid(f"lora: {FIXED}")
