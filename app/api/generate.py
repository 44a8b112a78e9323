"""POST /generate: a raw prompt in, its continuation out. The smallest endpoint."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from app.api.answer_parts import usage_json
from app.api.answering import FINISH_REASONS, Chunks, Event, stream_answers, whole_answers
from app.api.json_body import beside, json_response
from app.api.parameters import SamplingFields, read_sampling_fields
from app.api.state import CLIENT
from app.protocol.output import Output
from app.protocol.request import Request

MAX_TOKENS = 2**31 - 1


class GenerateFields(SamplingFields):
    prompt: Annotated[str, Field(min_length=1)]
    max_tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)] | None = None  # None: what the context holds
    stream: bool = False


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/generate", generate)


async def generate(request: web.Request) -> web.StreamResponse:
    fields = await read_sampling_fields(request, GenerateFields)
    client = request.app[CLIENT]
    recommended = client.sampling
    asked = Request(
        request_id=uuid.uuid4().hex,
        chat_id="",
        prompt=(fields.prompt,),
        sampling=await beside(request, lambda: fields.sampling(recommended)),
        max_tokens=fields.max_tokens,
        stop=fields.stops,
    )
    with client.answer(asked) as answers:
        if fields.stream:
            return await stream_answers(request, answers, _Chunks(fields.warnings))
        (whole,) = await whole_answers(request, answers)
    end = {"text": whole.text, "finish_reason": whole.finish_reason, "usage": usage_json([whole.usage])}
    return json_response(end | fields.warnings)


class _Chunks(Chunks):
    """The last one has a `finish_reason`."""

    def __init__(self, warnings: dict[str, list[str]]) -> None:
        self._warnings = warnings

    async def of(self, _index: int, output: Output) -> list[Event]:
        if output.finish_reason is None:
            return [{"text": output.text}] if output.text else []
        end: dict[str, Any] = {
            "text": output.text,
            "finish_reason": FINISH_REASONS[output.finish_reason],
            "usage": usage_json([output.usage]),
        }
        return [end | self._warnings]
