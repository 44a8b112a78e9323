"""A response as it is made: whole, or told by events."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence

from aiohttp import web

from app.api.answer_parts import timings_json, warnings_json
from app.api.answering import Event
from app.api.as_chat import assistant_message, function_call
from app.api.compaction import LateAnswer
from app.api.errors import ApiError
from app.api.event_stream import NamedEventStream
from app.api.json_body import AnyObject, as_json
from app.api.metrics import ProgressOutput
from app.api.responses.fields import ResponseFields
from app.api.responses.output import OutputItems, compaction_item
from app.api.responses.store import RESPONSES, Stored
from app.api.state import client_of
from app.protocol.output import AnswerMessage, MessageDelta, Output, ToolCallDelta, Usage

REPEATED = {"reasoning", "text", "tool_choice", "tools"}  # in the response, as they were sent


class Response(LateAnswer):
    """`body` is `new_body`; `messages` are the chat that it answers, as JSON, without instructions."""

    stream = NamedEventStream

    def __init__(
        self, request: web.Request, fields: ResponseFields, body: AnyObject, messages: bytes
    ) -> None:
        self._request = request
        self._fields = fields
        self.messages = messages
        self._items = OutputItems(fields.top_logprobs or 0, fields.namespaces)
        self._num_events = 0
        self._num_reasoning_tokens = 0
        self._body = body

    async def of(self, index: int, output: Output) -> list[Event]:
        assert self.chat
        delta = await self.chat.read(index, output)
        if output.finish_reason:
            await self._count_reasoning()
        if output.format:
            self._body |= warnings_json(self._fields.warnings, output.format.warnings)
        events = self._begin()
        if isinstance(output, ProgressOutput):
            events = events or [self._event("response.in_progress")]
            events[-1]["prompt_progress"] = output.json
        logprobs = output.logprobs if self._fields.wants_logprobs else ()
        events += self._items.add(delta, logprobs)
        if events and (self._fields.timings_per_token or isinstance(output, ProgressOutput)):
            events[-1]["timings"] = timings_json(output.usage)
        return self._numbered(events)

    def last(self) -> list[Event]:
        events = self._items.close(self._status())
        body = self._ended()
        usage = self.answer.whole.usage
        end = {"type": f"response.{body['status']}", "response": body, "timings": timings_json(usage)}
        return self._numbered([*events, end])

    def failed(self, error: ApiError, path: str) -> list[Event]:
        cause = error.body(path)["error"]
        self._body |= {
            "status": "failed",
            "error": {"code": "server_error", "message": cause["message"]},
            "output": self._items.all,
        }
        plain = {"type": "error", "code": str(cause["type"]), "message": cause["message"], "param": None}
        return self._numbered([*self._begin(), plain, self._event("response.failed")])

    async def whole(self) -> AnyObject:
        """The response of an answer that has ended."""
        answer = self.answer
        self._compacted()
        await self._count_reasoning()
        logprobs = answer.whole.logprobs if self._fields.wants_logprobs else ()
        self._items.add(_at_once(answer.message), logprobs)
        self._items.close(self._status())
        return self._ended()

    async def _count_reasoning(self) -> None:
        if text := self.answer.message.reasoning:
            tokenized = await client_of(self._request).use_prompts(
                lambda prompts: prompts.tokenize(text, parse_special=False)
            )
            self._num_reasoning_tokens = len(tokenized)

    def _begin(self) -> list[AnyObject]:
        if self._num_events:
            return []
        return [self._event("response.created"), self._event("response.in_progress"), *self._compacted()]

    def _compacted(self) -> list[AnyObject]:
        return self._items.add_whole(compaction_item(self.compaction.text)) if self.compaction.text else []

    def _event(self, kind: str) -> AnyObject:
        return {"type": kind, "response": dict(self._body)}

    def _numbered(self, events: list[AnyObject]) -> list[Event]:
        numbered: list[Event] = []
        for event in events:
            numbered.append(event | {"sequence_number": self._num_events})
            self._num_events += 1
        return numbered

    def _status(self) -> str:
        answer = self.answer
        return "incomplete" if answer.finish_reason == "length" or answer.cut_call else "completed"

    def _ended(self) -> AnyObject:
        """The whole body, kept for those who will refer to it."""
        answer, of_format = self.answer, self.answer.whole.format.warnings
        status = self._status()
        self._body |= {
            "status": status,
            "completed_at": int(time.time()),
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "output": self._items.all,
            "usage": usage_json([answer.whole.usage], self._num_reasoning_tokens),
            **warnings_json(self._fields.warnings, self.compaction.warnings, of_format, answer.warnings),
        }
        if self._fields.store is not False:
            messages = self.messages[:-1] + b"," + as_json(_as_message(answer.message)).encode() + b"]"
            items = {item["id"]: as_json(item).encode() for item in self._items.all}
            body = as_json(self._body).encode()
            self._request.app[RESPONSES].keep(Stored(self._body["id"], body, messages, items))
        return self._body


def new_body(fields: ResponseFields, model: str) -> AnyObject:
    """A response before its first token. Any thread."""
    sent = fields.model_dump(include=REPEATED, exclude_none=True, by_alias=True)
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": fields.instructions,
        "max_output_tokens": fields.max_output_tokens,
        "metadata": fields.metadata or {},
        "model": model,
        "output": [],
        "parallel_tool_calls": fields.parallel_tool_calls is not False,
        "previous_response_id": fields.previous_response_id,
        "reasoning": sent.get("reasoning", {"effort": None, "summary": None}),
        "store": fields.store is not False,
        "temperature": fields.temperature,
        "text": sent.get("text", {"format": {"type": "text"}}),
        "tool_choice": sent.get("tool_choice", "auto"),
        "tools": sent.get("tools", []),
        "top_p": fields.top_p,
        "truncation": "disabled",
        "usage": None,
        **warnings_json(fields.warnings),
    }


def usage_json(usages: Sequence[Usage], num_reasoning_tokens: int = 0) -> AnyObject:
    num_prompt_tokens = sum(usage.num_prompt_tokens for usage in usages)
    num_generated_tokens = sum(usage.num_generated_tokens for usage in usages)
    return {
        "input_tokens": num_prompt_tokens,
        "input_tokens_details": {"cached_tokens": sum(usage.num_cached_tokens for usage in usages)},
        "output_tokens": num_generated_tokens,
        "output_tokens_details": {"reasoning_tokens": num_reasoning_tokens},
        "total_tokens": num_prompt_tokens + num_generated_tokens,
    }


def _at_once(message: AnswerMessage) -> MessageDelta:
    calls = [
        ToolCallDelta(index, call.id, call.name, call.arguments)
        for index, call in enumerate(message.tool_calls)
    ]
    return MessageDelta(message.content, message.reasoning, tuple(calls))


def _as_message(message: AnswerMessage) -> AnyObject:
    """The message that is sent again with the next turn."""
    calls = [function_call(call.id, call.name, call.arguments) for call in message.tool_calls]
    return assistant_message(message.content, message.reasoning, calls)
