"""Answers as they grow and end, and the outputs that tell so. Engine thread only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.prompts.overflow import context_limit, longer_chats_need
from app.protocol.errors import PromptTooLongError, RequestError
from app.protocol.events import BrokenOff, Triggered
from app.protocol.output import FinishReason, Output, Usage
from app.protocol.request import Overflow, Request
from app.system.said import said, together

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.backend import Backend
    from app.engine.batching.scheduler import Scheduler
    from app.engine.cells.event_log import EventLog
    from app.engine.prompts.written_answers import NoteWritten
    from app.engine.sequence import Sequence
    from app.protocol.output import SampledToken


class Answers:
    """Outputs wait here for the next report."""

    def __init__(
        self,
        backend: Backend,
        scheduler: Scheduler,
        event_log: EventLog,
        build_shorter_prompt: Callable[[Request, int], None],
        note_written: NoteWritten,
    ) -> None:
        """`build_shorter_prompt` builds it for so many generated tokens and calls `Engine.refit`.

        An `EngineLoop` sets one that does it on another thread. `note_written` is told the tokens of answers
        that may have called tools.
        """
        self._backend, self._scheduler, self._event_log = backend, scheduler, event_log
        self._note_written = note_written
        self.build_shorter_prompt = build_shorter_prompt
        self._outputs: list[Output] = []

    @property
    def has_outputs(self) -> bool:
        return bool(self._outputs)

    def take_outputs(self) -> tuple[Output, ...]:
        outputs, self._outputs = tuple(self._outputs), []
        return outputs

    def refuse(self, request: Request, reason: FinishReason, notice: str = "") -> None:
        """End a request that never became a sequence."""
        self._outputs.append(Output(request.request_id, request.chat_id, "", reason, notice))

    def refuse_for(self, request: Request, error: RequestError) -> None:
        """End a request whose prompt cannot be built."""
        self.refuse(request, FinishReason.ERROR, str(error))
        refusal = replace(self._outputs.pop(), is_refused=True)
        if isinstance(error, PromptTooLongError):
            usage = Usage(num_prompt_tokens=error.num_prompt_tokens)
            refusal = replace(refusal, usage=usage, found_no_room=True)
        self._outputs.append(refusal)

    def take(self, seq: Sequence, token: int, logprobs: tuple[SampledToken, ...]) -> None:
        """Add a token to its answer, and end the answer at an end token, stop string or limit."""
        if self._backend.is_end_of_generation(token):
            self.finish(seq, FinishReason.STOP, ended_by=next(iter(logprobs), None))
            return
        seq.append(token)
        text = seq.detokenizer.add(token)
        if seq.detokenizer.stopped:
            self.finish(seq, FinishReason.STOP, text=text, logprobs=logprobs)
        elif seq.num_generated_tokens < seq.max_tokens:
            self._append_output(seq, text, logprobs)
        elif seq.request.overflow is Overflow.STOP or seq.has_all_that_was_asked:
            # A limit that the caller set needs no notice.
            notice = "" if seq.has_all_that_was_asked else self.context_full(seq.request)
            self.finish(seq, FinishReason.LENGTH, notice, text, logprobs)
        else:
            self._append_output(seq, text, logprobs)
            self._scheduler.set_aside(seq)
            self.build_shorter_prompt(seq.request, seq.num_generated_tokens)

    def note_triggered(self, seq: Sequence) -> None:
        """Its next token, which is not in it yet, ends what its grammar waited for."""
        seq_id = seq.slot.seq_id if seq.slot else None
        event = Triggered(seq_id, seq.request.chat_id, seq.num_generated_tokens + 1)
        self._event_log.add(event)

    def break_off(self, seq: Sequence, reason: FinishReason, notice: str = "") -> None:
        seq_id = seq.slot.seq_id if seq.slot else None
        event = BrokenOff(seq_id, seq.request.chat_id, seq.num_generated_tokens)
        self._event_log.add(event)
        self.finish(seq, reason, notice)

    def finish(
        self,
        seq: Sequence,
        reason: FinishReason,
        notice: str = "",
        text: str = "",
        logprobs: tuple[SampledToken, ...] = (),
        ended_by: SampledToken | None = None,
        *,
        is_refused: bool = False,
    ) -> None:
        seq.finish(reason, notice)
        text += seq.detokenizer.flush()
        self._scheduler.remove(seq)
        seq.sampler.close()
        if seq.is_ahead:
            return
        self._note_tokens(seq, text)
        last = replace(
            _output(seq, text, logprobs),
            finish_reason=reason,
            notice=seq.notice,
            found_no_room=reason is FinishReason.LENGTH and not seq.has_all_that_was_asked,
            stopping_word=seq.detokenizer.stopping_word,
            ended_by=ended_by,
            is_refused=is_refused,
        )
        self._outputs.append(last)

    def _note_tokens(self, seq: Sequence, last_text: str) -> None:
        """Not of those that a stop string ended: more tokens belong to them than their text has."""
        start = seq.request.answer_start
        if (
            seq.request.chat_params.offers_tools
            and not seq.detokenizer.stopped
            and isinstance(start or "", str)
        ):
            text = f"{start or ''}{''.join(seq.texts)}{last_text}"
            self._note_written(text, seq.token_ids[seq.num_prompt_tokens - seq.num_start_tokens :])

    def context_full(self, request: Request) -> str:
        limit = context_limit(request, self._backend.model)
        cut = said("The answer was cut off: this chat's context of {limit:,} tokens is full.", limit=limit)
        return together(cut, longer_chats_need(request, self._backend.model))

    def _append_output(self, seq: Sequence, text: str, logprobs: tuple[SampledToken, ...]) -> None:
        if text:
            seq.texts.append(text)
        if text or logprobs:
            self._outputs.append(_output(seq, text, logprobs))


def _output(seq: Sequence, text: str, logprobs: tuple[SampledToken, ...]) -> Output:
    """The output so far, with all tokens since the last one."""
    token_ids = seq.unreported_token_ids
    seq.num_reported_tokens += len(token_ids)
    format_, seq.format = seq.format, None
    return Output(
        seq.request.request_id,
        seq.request.chat_id,
        text,
        usage=seq.usage,
        logprobs=logprobs,
        token_ids=token_ids,
        format=format_,
    )
