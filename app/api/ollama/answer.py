"""An answer in Ollama's form: one object, or a line for each piece. Durations are in nanoseconds."""

from __future__ import annotations

from datetime import UTC, datetime

from app.api.answer_parts import logprobs_json, warnings_json
from app.api.answering import Chunks, Event
from app.api.chat_answer import ChatAnswer, ChatAnswers
from app.api.errors import ApiError
from app.api.event_stream import LineStream
from app.api.json_body import AnyObject, begun_object
from app.api.ollama.fields import OllamaFields
from app.protocol.output import Output, ToolCall, Usage


def error_body(error: ApiError) -> AnyObject:
    return {"error": error.body("")["error"]["message"]}


def now() -> str:
    return written(datetime.now(UTC))


def written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Lines(Chunks):
    """With `is_chat` each text is part of a message; /api/generate has none."""

    stream = LineStream

    def __init__(self, model: str, is_chat: bool, fields: OllamaFields, chat: ChatAnswers) -> None:
        self._model = model
        self._is_chat = is_chat
        self._fields = fields
        self._chat = chat

    async def of(self, index: int, output: Output) -> list[Event]:
        delta = await self._chat.read(index, output)
        lines: list[Event] = []
        if delta.content or delta.reasoning or (self._fields.logprobs and output.logprobs):
            line = self._line(delta.content, delta.reasoning)
            if self._fields.logprobs:
                line["logprobs"] = logprobs_json(output.logprobs, self._fields.top_logprobs or 0)
            lines.append(line)
        answer = self._chat.answers[index]
        if output.finish_reason:
            if answer.message.tool_calls:  # whole ones: their arguments are objects
                lines.append(self._line("", calls=answer.message.tool_calls))
            lines.append(self._line("") | self._end(answer))
        return lines

    def failed(self, error: ApiError, path: str) -> list[Event]:  # noqa: ARG002
        return [error_body(error)]

    def whole(self) -> AnyObject:
        """The line of an answer that has ended."""
        (answer,) = self._chat.answers
        message = answer.message
        line = self._line(message.content, message.reasoning, message.tool_calls) | self._end(answer)
        if self._fields.logprobs:
            line["logprobs"] = logprobs_json(answer.whole.logprobs, self._fields.top_logprobs or 0)
        return line

    def _line(self, content: str, thinking: str = "", calls: tuple[ToolCall, ...] = ()) -> AnyObject:
        return line(self._model, self._is_chat, content, thinking, calls)

    def _end(self, answer: ChatAnswer) -> AnyObject:
        reason = "length" if answer.finish_reason == "length" else "stop"
        return {
            "done": True,
            "done_reason": reason,
            **_durations(answer.whole.usage),
            **warnings_json(self._fields.warnings, answer.whole.format.warnings, answer.warnings),
        }


def line(
    model: str, is_chat: bool, content: str, thinking: str = "", calls: tuple[ToolCall, ...] = ()
) -> AnyObject:
    said: AnyObject = {"content": content} if is_chat else {"response": content}
    if thinking:
        said["thinking"] = thinking
    if calls:
        said["tool_calls"] = [_call_json(index, call) for index, call in enumerate(calls)]
    place = {"message": {"role": "assistant", **said}} if is_chat else said
    return {"model": model, "created_at": now(), **place, "done": False}


def _call_json(index: int, call: ToolCall) -> AnyObject:
    function = {"index": index, "name": call.name, "arguments": begun_object(call.arguments)}
    return {"id": call.id, "function": function}


def _durations(usage: Usage) -> AnyObject:
    return {
        "total_duration": _ns(usage.queue_s + usage.prompt_s + usage.decode_s),
        "load_duration": 0,  # it was there
        "prompt_eval_count": usage.num_prompt_tokens,
        "prompt_eval_duration": _ns(usage.prompt_s),
        "eval_count": usage.num_generated_tokens,
        "eval_duration": _ns(usage.decode_s),
    }


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
