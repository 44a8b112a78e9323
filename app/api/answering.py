"""Turns the engine's outputs into an HTTP answer, whole or streamed. Each endpoint brings its own format."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from aiohttp import web

from app.api import engine_client
from app.api.answer_parts import error_of
from app.api.engine_client import OpenAnswers
from app.api.errors import ApiError
from app.api.event_stream import EventStream
from app.api.state import client_of
from app.protocol.answer_format import PLAIN_TEXT, AnswerFormat
from app.protocol.output import FinishReason, MessageDelta, Output, SampledToken, Usage

Event = dict[str, Any] | str

FINISH_REASONS = {FinishReason.STOP: "stop", FinishReason.LENGTH: "length"}


@dataclass(slots=True)
class Whole:
    """One answer from its first output to its last."""

    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[SampledToken] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    finish_reason: str | None = None
    stopping_word: str = ""
    found_no_room: bool = False
    format: AnswerFormat = PLAIN_TEXT
    delta: MessageDelta | None = None  # all of it, where another program has read it

    def add(self, output: Output) -> None:
        self.text += output.text
        self.token_ids += output.token_ids
        self.logprobs += output.logprobs
        self.usage = output.usage
        self.format = output.format or self.format
        if output.delta:
            self.delta = self.delta + output.delta if self.delta else output.delta
        self.stopping_word, self.found_no_room = output.stopping_word, output.found_no_room
        if output.finish_reason:
            self.finish_reason = FINISH_REASONS[output.finish_reason]


class Chunks:
    """How the pieces of a streamed answer are written."""

    stream: ClassVar[type[EventStream]] = EventStream

    async def of(self, index: int, output: Output) -> list[Event]:
        """What is sent when `output` of request number `index` has come."""
        raise NotImplementedError

    def last(self) -> list[Event]:
        """What is sent when every request has ended."""
        return []

    def failed(self, error: ApiError, path: str) -> list[Event]:
        """What is sent on that path when one of them fails after the stream has begun."""
        return [error.body(path)]


async def whole_answers(request: web.Request, answers: OpenAnswers) -> list[Whole]:
    """All answers of a request. Raises ApiError when one of them fails."""
    wholes = [Whole() for _request in answers.requests]
    async for batch in answers:
        _raise_first_error(request, batch)
        for index, output in batch:
            wholes[index].add(output)
    return wholes


async def stream_answers(
    request: web.Request, answers: AsyncIterator[list[tuple[int, Output]]], chunks: Chunks
) -> web.StreamResponse:
    """Sends nothing before the first token, so that a failure until then still gets its own HTTP status."""
    batch = await anext(answers, None)
    _raise_first_error(request, (batch or [])[:1])
    stream = chunks.stream(request)
    await stream.begin()
    try:
        while batch is not None:
            await _send(request, stream, chunks, batch)
            batch = await anext(answers, None)
        await stream.send(*chunks.last())
    except ApiError as error:
        await stream.send(*chunks.failed(error, request.path))
    return await stream.end()


async def _send(
    request: web.Request, stream: EventStream, chunks: Chunks, batch: list[tuple[int, Output]]
) -> None:
    """Sends the outputs up to the first error, which it raises as ApiError."""
    events: list[Event] = []
    for index, output in batch:
        if error := error_of(output, client_of(request)):
            await stream.send(*events)
            raise error
        events += await chunks.of(index, output)
    await stream.send(*events)
    if not batch or stream.silent_s >= engine_client.QUIET_SECONDS:  # also while text is held back
        await stream.keep_alive()


def _raise_first_error(request: web.Request, batch: list[tuple[int, Output]]) -> None:
    for _index, output in batch:
        if error := error_of(output, client_of(request)):
            raise error
