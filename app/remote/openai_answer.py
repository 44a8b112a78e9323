"""One answer of a server with OpenAI's API, from its chunks to outputs.

The text is written as a model would have written it, thinking between marks, so that it can be kept and sent
to any model. What it means was read by the server, and stands beside it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

from app.chats.thinking import split_thinking
from app.protocol.output import (
    NO_USAGE,
    FinishReason,
    MessageDelta,
    Output,
    SampledToken,
    TokenLogprob,
    ToolCallDelta,
    Usage,
    new_call_id,
)
from app.protocol.request import Request

OPENS, CLOSES = "<think>\n", "\n</think>\n\n"
MAX_CALLS = 32
_REASONS = {"length": FinishReason.LENGTH}  # all others end an answer as it was meant to end


@dataclass(slots=True)
class OpenAiAnswer:
    request: Request
    usage: Usage = NO_USAGE
    finish_reason: FinishReason | None = None
    _asked_at: float = field(default_factory=time.perf_counter)
    _first_at: float = 0.0
    _is_thinking: bool = False
    _calls: list[Any] = field(default_factory=list)  # the server's number of each, in the order they came

    def __post_init__(self) -> None:
        start = self.request.answer_start
        self._is_thinking = isinstance(start, str) and split_thinking(start).is_thinking

    def take(self, chunk: dict[str, Any]) -> Output:
        """Raises KeyError, TypeError and the like for what is no chunk of an answer."""
        text, delta = "", MessageDelta()
        logprobs: tuple[SampledToken, ...] = ()
        if choice := next(iter(chunk.get("choices") or ()), None):
            told = choice.get("delta") or {}
            content = told.get("content") or choice.get("text") or ""
            reasoning = told.get("reasoning_content") or told.get("reasoning") or ""
            calls = tuple(filter(None, map(self._call, told.get("tool_calls") or ())))
            delta = MessageDelta(content, reasoning, calls)
            text = self._written(delta)
            logprobs = tuple(map(_sampled, (choice.get("logprobs") or {}).get("content") or ()))
            if reason := choice.get("finish_reason"):
                self.finish_reason = _REASONS.get(reason, FinishReason.STOP)
        if delta != MessageDelta() and not self._first_at:
            self._first_at = time.perf_counter()
        self._note_usage(chunk)
        return self._output(text, delta, logprobs=logprobs)

    def end(self, reason: FinishReason, notice: str = "", *, is_refused: bool = False) -> Output:
        return self._output("", MessageDelta(), finish_reason=reason, notice=notice, is_refused=is_refused)

    def _output(self, text: str, delta: MessageDelta, **more: Any) -> Output:
        request = self.request
        return Output(request.request_id, request.chat_id, text, usage=self.usage, delta=delta, **more)

    def _written(self, delta: MessageDelta) -> str:
        text = ""
        if delta.reasoning:
            text += delta.reasoning if self._is_thinking else OPENS + delta.reasoning
            self._is_thinking = True
        if self._is_thinking and (delta.content or delta.tool_calls):
            text += CLOSES
            self._is_thinking = False
        return text + delta.content

    def _call(self, told: dict[str, Any]) -> ToolCallDelta | None:
        """Numbered as they come, whatever their server calls them."""
        number, function = told.get("index", 0), told.get("function") or {}
        arguments = function.get("arguments") or ""
        if number in self._calls:
            return ToolCallDelta(self._calls.index(number), arguments=arguments)
        if len(self._calls) == MAX_CALLS:
            return None
        self._calls.append(number)
        index = len(self._calls) - 1
        return ToolCallDelta(index, told.get("id") or new_call_id(), function["name"], arguments)

    def _note_usage(self, chunk: dict[str, Any]) -> None:
        """Times are measured here, numbers of tokens are the server's own."""
        usage, timings = chunk.get("usage") or {}, chunk.get("timings") or {}
        if self._first_at:
            wait_s = self._first_at - self._asked_at
            self.usage = replace(self.usage, prompt_s=wait_s, time_to_first_token_s=wait_s)
        if usage:
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
            self._count(usage["prompt_tokens"], cached, usage.get("completion_tokens") or 0)
        elif timings:
            cached = timings.get("cache_n", 0)
            self._count(timings["prompt_n"] + cached, cached, timings["predicted_n"])
        if timings:
            drafted, kept = timings.get("draft_n", 0), timings.get("draft_n_accepted", 0)
            self.usage = replace(self.usage, num_drafted_tokens=drafted, num_kept_tokens=kept)

    def _count(self, num_prompt: int, num_cached: int, num_generated: int) -> None:
        if num_generated != self.usage.num_generated_tokens:  # the last one has come now
            decode_s = time.perf_counter() - self._first_at if self._first_at else 0.0
            self.usage = replace(self.usage, decode_s=decode_s)
        self.usage = replace(
            self.usage,
            num_prompt_tokens=num_prompt,
            num_reused_tokens=num_cached,
            num_computed_tokens=num_prompt - num_cached + num_generated,
            num_generated_tokens=num_generated,
        )


def _sampled(told: dict[str, Any]) -> SampledToken:
    return SampledToken(_logprob(told), tuple(map(_logprob, told.get("top_logprobs") or ())))


def _logprob(told: dict[str, Any]) -> TokenLogprob:
    """The token's number is -1 where the server does not tell it."""
    data, logprob = told.get("bytes"), float(told["logprob"])
    text = bytes(data) if data else str(told["token"]).encode()
    return TokenLogprob(told.get("id", -1), text, logprob, math.exp(min(logprob, 0.0)))
