"""Common parts of OpenAI's two completion endpoints: request fields and the frame of answers."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

import app
from app.api.answer_parts import timings_json, usage_json, warnings_json
from app.api.answering import Chunks, Event
from app.api.event_stream import DONE
from app.api.json_body import Body
from app.api.metrics import ProgressOutput
from app.api.parameters import SamplingFields
from app.api.state import model_name
from app.protocol.output import Output, Usage

MAX_COPIES = 32
MAX_TOKENS = 2**31 - 1
MAX_TOP_LOGPROBS = 20
SYSTEM_FINGERPRINT = f"b-skein-{app.__version__}"  # llama-server's begin with its build, b1234

MaxTokens = Annotated[int, Field(ge=-1, le=MAX_TOKENS)]  # -1: what the context holds


class StreamOptions(Body):
    include_usage: bool | None = None


class OpenAiFields(SamplingFields):
    """`model` may be anything where there is only one."""

    max_tokens: MaxTokens | None = None
    n: Annotated[int, Field(ge=1, le=MAX_COPIES)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    timings_per_token: bool | None = None  # llama-server's, as is the next
    return_progress: bool | None = None

    @property
    def num_copies(self) -> int:
        return self.n or 1

    @property
    def reports_progress(self) -> bool:
        return bool(self.stream and self.return_progress)

    @property
    def includes_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


def limit(max_tokens: int | None) -> int | None:
    return None if max_tokens == -1 else max_tokens


@dataclass(frozen=True, slots=True)
class ChunkFrame:
    """The fields that all chunks of one answer share."""

    kind: str
    model: str
    id: str
    created: int = field(default_factory=lambda: int(time.time()))

    @classmethod
    def of(cls, request: web.Request, kind: str, id_prefix: str) -> ChunkFrame:
        return cls(kind, model_name(request), f"{id_prefix}-{uuid.uuid4().hex}")

    def around(self, choices: Sequence[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": self.kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": SYSTEM_FINGERPRINT,
            "choices": list(choices),
            **more,
        }


class ChoiceChunks(Chunks):
    """Streams choices. Subclasses define what a chunk looks like."""

    def __init__(self, frame: ChunkFrame, fields: OpenAiFields, num_requests: int) -> None:
        self._frame = frame
        self._fields = fields
        self._usages = [Usage()] * num_requests
        self._warnings = fields.warnings

    async def of(self, index: int, output: Output) -> list[Event]:
        self._usages[index] = output.usage
        if index == 0 and output.format:
            self._warnings += map(str, output.format.warnings)
        events: list[Event] = [
            self._around([choice], **self._timings(choice)) for choice in await self._choices(index, output)
        ]
        if isinstance(output, ProgressOutput):
            events.append(self._around([self._empty_choice(index)], prompt_progress=output.json))
        return events

    def last(self) -> list[Event]:
        if not self._fields.includes_usage:
            return [DONE]
        usage = usage_json(self._usages, self._fields.num_copies)
        return [self._frame.around([], usage=usage, timings=timings_json(self._usages[0])), DONE]

    def _around(self, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        """What is wrong with the request goes with the first chunk."""
        warnings, self._warnings = warnings_json(self._warnings), []
        usage = {"usage": None} if self._fields.includes_usage else {}  # OpenAI's: it comes with the last
        return self._frame.around(choices, **usage, **more, **warnings)

    async def _choices(self, index: int, output: Output) -> list[dict[str, Any]]:
        """One for each chunk to be sent."""
        raise NotImplementedError

    def _empty_choice(self, index: int) -> dict[str, Any]:
        raise NotImplementedError

    def _timings(self, choice: dict[str, Any]) -> dict[str, Any]:
        """With the last chunk, or with each but the one that only names the role."""
        is_last = choice["finish_reason"] is not None
        names_role = "role" in choice.get("delta", {})
        if not is_last and (names_role or not self._fields.timings_per_token):
            return {}
        return {"timings": timings_json(self._usages[choice["index"]])}
