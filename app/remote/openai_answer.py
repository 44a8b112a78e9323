"""One answer of a server with OpenAI's API, from its chunks to outputs.

The text is written as a model would have written it, thinking between marks, so that it can be kept and sent
to any model. What it means was read by the server, and stands beside it.
"""

import math
import time
from dataclasses import replace
from typing import Any

from app.chats.thinking import split_thinking
from app.protocol.model import ModelInfo
from app.protocol.model_names import title_of
from app.protocol.output import (
    NO_USAGE,
    FinishReason,
    MessageDelta,
    Output,
    SampledToken,
    TokenLogprob,
    ToolCallDelta,
    new_call_id,
)
from app.protocol.report import SlotSnapshot, SlotState, WaitingRequest, WaitReason
from app.protocol.request import Request

OPENS, CLOSES = "<think>\n", "\n</think>\n\n"
MAX_CALLS = 32


class OpenAiAnswer:
    def __init__(self, request: Request, model: ModelInfo) -> None:
        self.request, self.usage = request, NO_USAGE
        self._model, self._written_by = model, ""
        self.finish_reason: FinishReason | None = None
        self._asked_at, self._first_at = time.perf_counter(), 0.0
        start = request.answer_start
        self._is_thinking = isinstance(start, str) and split_thinking(start).is_thinking
        self._calls: list[Any] = []  # the server's number of each, in the order they came

    def take(self, chunk: dict[str, Any]) -> Output:
        """Raises KeyError, TypeError and the like for what is no chunk of an answer."""
        if told_name := chunk.get("model"):
            self._note_model(title_of(told_name))
        choice: dict[str, Any] = next(iter(chunk.get("choices") or ()), {})
        told = choice.get("delta") or {}
        content = told.get("content") or choice.get("text") or ""
        reasoning = told.get("reasoning_content") or told.get("reasoning") or ""
        calls = tuple(filter(None, map(self._call, told.get("tool_calls") or ())))
        delta = MessageDelta(content, reasoning, calls)
        if delta != MessageDelta() and not self._first_at:
            self._first_at = time.perf_counter()
        if reason := choice.get("finish_reason"):  # all but one mean that the answer has said all
            self.finish_reason = FinishReason.LENGTH if reason == "length" else FinishReason.STOP
        self._count(chunk.get("usage") or {}, chunk.get("timings") or {})
        sampled = (choice.get("logprobs") or {}).get("content") or ()
        return self._output(self._written(delta), delta, logprobs=tuple(map(_sampled, sampled)))

    @property
    def has_begun(self) -> bool:
        return self._first_at > 0

    def slot(self, number: int) -> SlotSnapshot:
        """That it is being written, as an engine of ours says it."""
        ids, usage = (self.request.chat_id, self.request.request_id), self.usage
        num_tokens = usage.num_prompt_tokens + usage.num_generated_tokens
        return SlotSnapshot(number, SlotState.DECODE, *ids, num_cells=num_tokens, usage=usage)

    def waiting(self) -> WaitingRequest:
        """That its first word has not come: whether it waits or its prompt is computed, nobody tells."""
        ids, waited_s = (self.request.request_id, self.request.chat_id), time.perf_counter() - self._asked_at
        return WaitingRequest(*ids, WaitReason.QUEUED, 0, 0, waited_s)

    def end(self, reason: FinishReason, notice: str = "", *, is_refused: bool = False) -> Output:
        last = self._output("", MessageDelta())
        return replace(last, finish_reason=reason, notice=notice, is_refused=is_refused)

    def _output(self, text: str, delta: MessageDelta, logprobs: tuple[SampledToken, ...] = ()) -> Output:
        ids = self.request.request_id, self.request.chat_id
        return Output(*ids, text, usage=self.usage, logprobs=logprobs, delta=delta, model=self._written_by)

    def _note_model(self, name: str) -> None:
        """Its server may have another one by now."""
        if name != self._model.name:
            self._written_by = replace(self._model, name=name).title

    def _written(self, delta: MessageDelta) -> str:
        text = delta.reasoning
        if text and not self._is_thinking:
            text, self._is_thinking = OPENS + text, True
        if self._is_thinking and (delta.content or delta.tool_calls):
            text, self._is_thinking = text + CLOSES, False
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
        call_id = told.get("id") or new_call_id()
        return ToolCallDelta(len(self._calls) - 1, call_id, function["name"], arguments)

    def _count(self, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        """Numbers of tokens are the server's own, times are measured here."""
        if usage:
            num_prompt, num_answer = usage["prompt_tokens"], usage.get("completion_tokens") or 0
            num_cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        elif timings:
            num_cached, num_answer = timings.get("cache_n", 0), timings["predicted_n"]
            num_prompt = timings["prompt_n"] + num_cached
        else:
            return
        now, first_at = time.perf_counter(), self._first_at
        is_new = num_answer != self.usage.num_generated_tokens and first_at
        self.usage = replace(
            self.usage,
            num_prompt_tokens=num_prompt,
            num_reused_tokens=num_cached,
            num_computed_tokens=num_prompt - num_cached + num_answer,
            num_generated_tokens=num_answer,
            num_drafted_tokens=timings.get("draft_n", self.usage.num_drafted_tokens),
            num_kept_tokens=timings.get("draft_n_accepted", self.usage.num_kept_tokens),
            prompt_s=first_at - self._asked_at if first_at else 0.0,
            time_to_first_token_s=first_at - self._asked_at if first_at else 0.0,
            decode_s=now - first_at if is_new else self.usage.decode_s,
        )


def _sampled(told: dict[str, Any]) -> SampledToken:
    return SampledToken(_logprob(told), tuple(map(_logprob, told.get("top_logprobs") or ())))


def _logprob(told: dict[str, Any]) -> TokenLogprob:
    """The token's number is -1 where the server does not tell it."""
    data, logprob = told.get("bytes"), float(told["logprob"])
    text = bytes(data) if data else str(told["token"]).encode()
    return TokenLogprob(told.get("id", -1), text, logprob, math.exp(min(logprob, 0.0)))
