"""GET /props: what is being served, and with which settings."""

from __future__ import annotations

from aiohttp import web

from app.api.json_body import json_response
from app.api.llama_answer import sampling_json
from app.api.openai import SYSTEM_FINGERPRINT
from app.api.state import CLIENT, PRESENTATION, model_name


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/props", props)


async def props(request: web.Request) -> web.Response:
    """The model's file by its name alone: its folder is private."""
    client = request.app[CLIENT]
    model = client.model
    template = await client.template_facts()
    return json_response(
        {
            "default_generation_settings": {
                "params": sampling_json(client.sampling, client.defaults.max_tokens),
                "n_ctx": model.max_sequence_tokens,
            },
            "total_slots": model.n_seq_max,
            "model_alias": model_name(request.app),
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
