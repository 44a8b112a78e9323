"""A message as it is made: whole, or told by events."""

from __future__ import annotations

import uuid

from app.api.answer_parts import warnings_json
from app.api.answering import Event
from app.api.anthropic.fields import MessagesFields
from app.api.chat_answer import ChatAnswer
from app.api.compaction import LateAnswer
from app.api.errors import ApiError
from app.api.event_stream import NamedEventStream
from app.api.json_body import AnyObject, as_json, begun_object
from app.protocol.output import Output, ToolCall, ToolCallDelta, Usage

ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}


def error_body(error: ApiError) -> AnyObject:
    cause = error.body("")["error"]
    message = cause["message"]
    if "n_prompt_tokens" in cause:  # in the words that make Claude Code shorten the chat
        num_tokens, n_ctx = cause["n_prompt_tokens"], cause["n_ctx"]
        message = f"prompt is too long: {num_tokens} tokens > {n_ctx} maximum. {message}"
    kind = ERROR_TYPES.get(error.status) or ("invalid_request_error" if error.status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


class MessageStream(NamedEventStream):
    sign_of_life = f"event: ping\ndata: {as_json({'type': 'ping'})}\n\n"


class AnthropicAnswer(LateAnswer):
    """One block is open at a time: thinking, text, or the use of a tool."""

    stream = MessageStream

    def __init__(self, model: str, fields: MessagesFields, edits: list[AnyObject]) -> None:
        """`edits` of the context were applied."""
        asked = fields.context_management is not None
        self._edits: AnyObject = {"context_management": {"applied_edits": edits}} if asked else {}
        self._id = f"msg_{uuid.uuid4().hex}"
        self._model = model
        self._fields = fields
        self._has_begun = False
        self._num_blocks = 0
        self._open = ""  # the type of the last block, until it is closed

    async def whole(self) -> AnyObject:
        """The message of an answer that has ended."""
        answer = self.answer
        message = answer.message
        content: list[AnyObject] = []
        if self.compaction.usages:
            content.append({"type": "compaction", "content": self.compaction.text or None})
        if message.reasoning:
            content.append({"type": "thinking", "thinking": message.reasoning, "signature": ""})
        if message.content:
            content.append({"type": "text", "text": message.content})
        content += [_tool_use(call) for call in message.tool_calls]
        return self._body(content, answer.whole.usage) | self._end(answer) | self._edits

    async def of(self, index: int, output: Output) -> list[Event]:
        assert self.chat
        delta = await self.chat.read(index, output)
        events = self._start(output.usage)
        if delta.reasoning:
            events += self._begin({"type": "thinking", "thinking": "", "signature": ""})
            events.append(self._delta({"type": "thinking_delta", "thinking": delta.reasoning}))
        if delta.content:
            events += self._begin({"type": "text", "text": ""})
            events.append(self._delta({"type": "text_delta", "text": delta.content}))
        for call in delta.tool_calls:
            events += self._of_call(call)
        return events

    def last(self) -> list[Event]:
        answer = self.answer
        events = self._start(answer.whole.usage)
        end = {
            "type": "message_delta",
            "delta": self._end(answer),
            "usage": self._usage(answer.whole.usage),
            **self._edits,
            **warnings_json(answer.warnings),
        }
        return [*events, *self._close(), end, {"type": "message_stop"}]

    def failed(self, error: ApiError, path: str) -> list[Event]:  # noqa: ARG002
        return [error_body(error)]

    def _start(self, usage: Usage) -> list[Event]:
        if self._has_begun:
            return []
        self._has_begun = True
        message = self._body([], usage) | {"usage": _usage_json(usage) | {"output_tokens": 0}}
        events: list[Event] = [{"type": "message_start", "message": message}]
        if self.compaction.usages:  # without a text it has failed
            events += self._begin({"type": "compaction", "content": None})
            events.append(self._delta({"type": "compaction_delta", "content": self.compaction.text or None}))
        return events

    def _usage(self, usage: Usage) -> AnyObject:
        """The total is the message's alone, as Anthropic has it."""
        total = _usage_json(usage)
        iterations = [{"type": "compaction", **_usage_json(one)} for one in self.compaction.usages]
        if not iterations:
            return total
        return total | {"iterations": iterations + [{"type": "message", **total}] * bool(self.chat)}

    def _of_call(self, call: ToolCallDelta) -> list[Event]:
        events: list[Event] = []
        if call.id:
            events += self._close()
            events += self._begin({"type": "tool_use", "id": call.id, "name": call.name, "input": {}})
        if call.arguments:
            events.append(self._delta({"type": "input_json_delta", "partial_json": call.arguments}))
        return events

    def _begin(self, block: AnyObject) -> list[Event]:
        """Nothing if such a block is open."""
        if self._open == block["type"]:
            return []
        events = self._close()
        self._open = block["type"]
        self._num_blocks += 1
        return [
            *events,
            {"type": "content_block_start", "index": self._num_blocks - 1, "content_block": block},
        ]

    def _delta(self, delta: AnyObject) -> AnyObject:
        return {"type": "content_block_delta", "index": self._num_blocks - 1, "delta": delta}

    def _close(self) -> list[Event]:
        if not self._open:
            return []
        events: list[Event] = []
        if self._open == "thinking":  # clients wait for it; there is nothing to be signed
            events.append(self._delta({"type": "signature_delta", "signature": ""}))
        self._open = ""
        return [*events, {"type": "content_block_stop", "index": self._num_blocks - 1}]

    def _body(self, content: list[AnyObject], usage: Usage) -> AnyObject:
        answer, of_format = self.answer, self.answer.whole.format.warnings
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._usage(usage),
            **warnings_json(self._fields.warnings, self.compaction.warnings, of_format, answer.warnings),
        }

    def _end(self, answer: ChatAnswer) -> AnyObject:
        if self.chat is None:
            return {"stop_reason": "compaction", "stop_sequence": None}
        word = answer.whole.stopping_word
        if answer.finish_reason == "stop" and word in (self._fields.stop_sequences or ()):
            return {"stop_reason": "stop_sequence", "stop_sequence": word}
        return {"stop_reason": STOP_REASONS[answer.finish_reason or "stop"], "stop_sequence": None}


def _tool_use(call: ToolCall) -> AnyObject:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": begun_object(call.arguments)}


def _usage_json(usage: Usage) -> AnyObject:
    return {
        "input_tokens": usage.num_prompt_tokens - usage.num_cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.num_cached_tokens,
        "output_tokens": usage.num_generated_tokens,
    }
