"""GET /slots: llama-server's fields of each slot, and what Skein knows besides: positions, cells, state.

Texts of chats and sampling settings are left out.
"""

from __future__ import annotations

from typing import Any

from aiohttp import web

from app.api.errors import unavailable
from app.api.json_body import json_response
from app.api.state import CLIENT, require_monitoring
from app.protocol.report import SlotSnapshot, SlotState, Span

NO_LIMIT = -1


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/slots", slots)


async def slots(request: web.Request) -> web.Response:
    """With `fail_on_no_slot` it answers 503 while all are busy."""
    require_monitoring(request)
    client = request.app[CLIENT]
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
        "n_prompt_tokens_processed": max(usage.num_prompt_tokens - usage.num_cached_tokens, 0),
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
