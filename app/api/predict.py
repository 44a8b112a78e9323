"""POST /predict: chat completions in the form of Google's Vertex AI, as llama-server has it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from app.api.as_chat import as_chat
from app.api.chat_completions import whole_answer
from app.api.errors import ApiError, from_engine, invalid
from app.api.json_body import Body, json_response, read_fields
from app.protocol.errors import EngineError, RequestError

MAX_INSTANCES = 128
FORMAT, FORMATS = "@requestFormat", ("chatCompletions", "v1/chat/completions", "/v1/chat/completions")


class PredictFields(Body):
    instances: Annotated[list[dict[str, Any]], Field(max_length=MAX_INSTANCES)]


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/predict", predict)


async def predict(request: web.Request) -> web.Response:
    """An instance that fails has an error for a prediction."""
    fields = await read_fields(request, PredictFields)
    predictions = await asyncio.gather(*(_prediction(request, instance) for instance in fields.instances))
    return json_response({"predictions": predictions})


async def _prediction(request: web.Request, instance: dict[str, Any]) -> dict[str, Any]:
    try:
        if instance.get(FORMAT) not in FORMATS:
            raise invalid(f"{FORMAT}: only chatCompletions is supported.")
        body = {name: value for name, value in instance.items() if name not in (FORMAT, "stream")}
        return await whole_answer(request, await as_chat(request, lambda: body))
    except ApiError as error:
        return error.body(request.path)
    except (RequestError, EngineError) as error:
        return from_engine(error).body(request.path)
