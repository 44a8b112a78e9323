"""The pulse: schedule, decode, update.

Has no thread and no mailbox of its own; `EngineLoop` gives it both. Engine thread only.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from app.engine.batch import Batch
from app.engine.detokenizer import Detokenizer
from app.engine.errors import (
    BadLogitsError,
    DecodeError,
    DecodeInterruptedError,
    GrammarError,
    NoKvCellsError,
    PromptTooLongError,
    RequestError,
)
from app.engine.hibernation import HibernatedChats
from app.engine.idle import MIN_CELLS, IdleChats
from app.engine.overflow import context_limit, longer_chats_need
from app.engine.prompt import Prompt, PromptBuilder
from app.engine.scheduler import Scheduler
from app.engine.sequence import Sequence
from app.engine.slots import SlotPool
from app.engine.step_budget import StepBudget
from app.engine.types import FinishReason, Output, Overflow, Request, Span, Speed, StepReport
from app.engine.verify import verify_cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.backend import Backend
    from app.engine.batch import BatchSpan
    from app.engine.types import SampledToken

log = logging.getLogger(__name__)


class Engine:
    """Advances all sequences together, one `llama_decode` a step."""

    def __init__(
        self, backend: Backend, hibernated: HibernatedChats | None = None, *, verify: bool = False
    ) -> None:
        """With `verify` every cell is compared with the library after every step, else only when idle."""
        self._backend = backend
        self._verify = verify
        self.model = backend.model
        self.prompts = PromptBuilder(backend)
        self.slots = SlotPool(backend, hibernated or HibernatedChats())
        self._budget = StepBudget(backend.model.n_batch)
        self._scheduler = Scheduler(self.slots, self._budget)
        self._idle = IdleChats()
        self._batch = Batch(backend.model.n_batch)
        self._outputs: list[Output] = []  # since the last report
        # Builds the prompt under so many generated tokens and calls `refit`: elsewhere, once a loop is there.
        self.build_shorter_prompt: Callable[[Request, int], None] = self._build_shorter_prompt
        self._step = 0

    @property
    def has_work(self) -> bool:
        return bool(self._scheduler.has_work or self._outputs)

    def add_request(self, request: Request, prompt: Prompt | None = None) -> None:
        """Queue a request. Without its prompt that is built here, on the calling thread."""
        try:
            self._scheduler.add(self._new_sequence(request, prompt or self.prompts.build(request)))
        except RequestError as error:
            self.refuse_for(request, error)

    def refit(self, request_id: str, prompt: Prompt | RequestError) -> None:
        """Go on with an answer that reached the limit of its context, under a shorter prompt, or end it."""
        seq = next((seq for seq in self._scheduler.refitting if seq.request.request_id == request_id), None)
        if seq is None:
            return  # aborted meanwhile
        if isinstance(prompt, RequestError):
            self._finish(seq, FinishReason.LENGTH, self._context_full(seq.request))
            return
        seq.refit(prompt, context_limit(seq.request, self.model))
        self._scheduler.put_back(seq)
        self._note_overflow(seq)

    def refuse(self, request: Request, reason: FinishReason, notice: str = "") -> None:
        """End a request that never became a sequence."""
        self._outputs.append(Output(request.request_id, request.chat_id, "", reason, notice))

    def refuse_for(self, request: Request, error: RequestError) -> None:
        found_no_room = isinstance(error, PromptTooLongError)
        self._outputs.append(
            Output(
                request.request_id,
                request.chat_id,
                finish_reason=FinishReason.ERROR,
                notice=str(error),
                found_no_room=found_no_room,
            )
        )

    def abort(self, request_id: str) -> None:
        """End an answer now: it is in no later batch. Nothing happens if it has ended already."""
        for seq in self._scheduler.sequences:
            if seq.request.request_id == request_id:
                self._finish(seq, FinishReason.ABORT)

    def abort_all(self, reason: FinishReason, notice: str) -> None:
        for seq in self._scheduler.sequences:
            self._finish(seq, reason, notice)

    def forget(self, chat_id: str) -> None:
        """The chat was closed: abort its answer, free its cells."""
        for seq in self._scheduler.sequences:
            if seq.request.chat_id == chat_id:
                self._finish(seq, FinishReason.ABORT)
        self.slots.forget(chat_id)

    def fork(self, chat_id: str, new_chat_id: str) -> bool:
        """Let a new chat hold the cells of an idle one, without a copy. False: no slot is free for it."""
        return self.slots.fork(chat_id, new_chat_id)

    def set_front(self, chat_id: str | None) -> None:
        """Its prompt goes first, and it is never paused for another."""
        self.slots.front_chat_id = chat_id

    def hibernate(self, chat_id: str) -> bool:
        """Save the cells of an idle chat and free them. False: it holds none, or is answering."""
        return self.slots.hibernate_chat(chat_id)

    def set_speed(self, speed: Speed) -> None:
        self._budget.speed = speed

    def step(self) -> StepReport:
        """One decode, or none when there is only news to report. Raises EngineError when that is the end."""
        self._step += 1
        started = time.perf_counter()
        self._batch.clear()
        self._hibernate_for_speed(started)
        self._scheduler.schedule(self._batch)
        scheduled = time.perf_counter()
        if not self._decode():
            self._batch.clear()
        decoded = time.perf_counter()
        self._update(decode_ms=(decoded - scheduled) * 1000)
        report = self._report(
            schedule_ms=(scheduled - started) * 1000,
            decode_ms=(decoded - scheduled) * 1000,
            update_ms=(time.perf_counter() - decoded) * 1000,
        )
        log_step(report)
        if self._verify:
            self.verify()
        return report

    def verify(self) -> None:
        """Compare positions and holders of every cell with the library. Raises PositionMismatchError."""
        self.slots.verify()
        verify_cells(self._backend, self.slots.cells)

    def report(self) -> StepReport:
        """What there is to tell without a step, such as the ends of aborted answers."""
        self._batch.clear()
        return self._report(0.0, 0.0, 0.0)

    def interrupt(self) -> None:
        """Make a running step return soon, and every later one at once. Any thread."""
        self._backend.interrupt()

    def resume(self) -> None:
        """After `interrupt`: go on with what was not aborted."""
        self._backend.resume()

    def close(self) -> None:
        """Free what the sequences hold in the library. The backend itself belongs to its opener."""
        self.abort_all(FinishReason.ABORT, "")
        self.prompts.close()
        self.slots.hibernated.close()

    def _new_sequence(self, request: Request, prompt: Prompt) -> Sequence:
        seq = Sequence(
            request=request,
            token_ids=[],
            max_tokens=0,
            sampler=self._backend.new_sampler(request.sampling or self.model.sampling, prompt.token_ids),
            detokenizer=Detokenizer(self._backend.token_piece, request.stop),
        )
        seq.refit(prompt, context_limit(request, self.model))
        self._note_overflow(seq)
        return seq

    def _note_overflow(self, seq: Sequence) -> None:
        if seq.notice:
            self.slots.events.append(f"shortened a prompt: {seq.notice}")

    def _build_shorter_prompt(self, request: Request, num_generated_tokens: int) -> None:
        """On the calling thread."""
        try:
            self.refit(request.request_id, self.prompts.build(request, num_generated_tokens))
        except RequestError as error:
            self.refit(request.request_id, error)

    def _hibernate_for_speed(self, now: float) -> None:
        """One chat at a time that was idle for so long that its cells only make the others' steps longer."""
        if not self._idle.can_try or not self.model.is_unified:
            return
        slot = self.slots.oldest_idle(MIN_CELLS)
        if slot and now - slot.last_used_at >= self._idle.min_idle_s:
            self.slots.hibernate(slot)
            self._idle.note_hibernated((time.perf_counter() - now) * 1000)

    def _decode(self) -> bool:
        """Compute the batch. False: nothing was computed, and the next step will try something smaller."""
        if not self._batch.num_rows:
            return False
        try:
            self._backend.decode(self._batch)
        except NoKvCellsError:
            self._make_room()
            return False
        except DecodeInterruptedError:
            self._resync()
            return False
        except DecodeError:
            self._resync()
            raise
        return True

    def _make_room(self) -> None:
        """The library found no cells where our books have some: a sliding window pins more than it shows."""
        if not self._scheduler.make_room():
            seq = self._batch.spans[0].seq
            self._finish(seq, FinishReason.LENGTH, self._context_full(seq.request))

    def _resync(self) -> None:
        for span in self._batch.spans:
            assert span.seq.slot is not None
            self.slots.resync(span.seq.slot)

    def _update(self, decode_ms: float) -> None:
        """Book what was computed, then sample for every sequence whose last token was in the batch."""
        num_prompt_rows = sum(span.num_rows for span in self._batch.spans if span.is_prefill)
        if self._batch.num_rows:
            num_decoding = self._batch.num_rows - num_prompt_rows
            self._budget.learn(num_decoding, num_prompt_rows, decode_ms)
            self._idle.learn(num_decoding, num_prompt_rows, decode_ms)
        for span in self._batch.spans:
            self._note_decoded(span)
        for span in self._batch.spans:
            if span.wants_logits:
                self._advance(span.seq, span.last_row)

    def _note_decoded(self, span: BatchSpan) -> None:
        seq = span.seq
        assert seq.slot is not None
        end_pos = span.first_pos + span.num_rows
        self.slots.note_decoded(seq.slot, seq.token_ids[span.first_pos : end_pos])
        seq.num_rows_computed += span.num_rows

    def _advance(self, seq: Sequence, row: int) -> None:
        """Sample the next token of one sequence and end it where it has to end."""
        try:
            token, logprobs = _sample(seq, row)
        except (BadLogitsError, GrammarError) as error:
            self._finish(seq, FinishReason.ERROR, str(error))
            return
        if self._backend.is_end_of_generation(token):
            self._finish(seq, FinishReason.STOP)
            return
        seq.append(token)
        text = seq.detokenizer.add(token)
        if seq.detokenizer.stopped:
            self._finish(seq, FinishReason.STOP, text=text, logprobs=logprobs)
        elif seq.num_generated_tokens < seq.max_tokens:
            self._tell(seq, text, logprobs)
        elif seq.request.overflow is Overflow.STOP or seq.has_all_that_was_asked:
            self._finish(seq, FinishReason.LENGTH, self._length_notice(seq), text, logprobs)
        else:
            self._tell(seq, text, logprobs)
            self._scheduler.set_aside(seq)
            self.build_shorter_prompt(seq.request, seq.num_generated_tokens)

    def _tell(self, seq: Sequence, text: str, logprobs: tuple[SampledToken, ...]) -> None:
        if text or logprobs:
            request = seq.request
            self._outputs.append(
                Output(request.request_id, request.chat_id, text, usage=seq.usage, logprobs=logprobs)
            )

    def _finish(
        self,
        seq: Sequence,
        reason: FinishReason,
        notice: str = "",
        text: str = "",
        logprobs: tuple[SampledToken, ...] = (),
    ) -> None:
        seq.finish(reason, notice)
        text += seq.detokenizer.flush()
        self._scheduler.remove(seq)
        seq.sampler.close()
        request = seq.request
        found_no_room = reason is FinishReason.LENGTH and not seq.has_all_that_was_asked
        self._outputs.append(
            Output(
                request.request_id,
                request.chat_id,
                text,
                reason,
                seq.notice,
                seq.usage,
                logprobs,
                found_no_room,
            )
        )

    def _length_notice(self, seq: Sequence) -> str:
        """No notice for a limit that the caller set."""
        return "" if seq.has_all_that_was_asked else self._context_full(seq.request)

    def _context_full(self, request: Request) -> str:
        limit = context_limit(request, self.model)
        return (
            f"The answer was cut: this chat fills its context of {limit:,} tokens. "
            f"{longer_chats_need(request, self.model)}"
        )

    def _report(self, schedule_ms: float, decode_ms: float, update_ms: float) -> StepReport:
        outputs, self._outputs = tuple(self._outputs), []
        events, self.slots.events = tuple(self.slots.events), []
        leases, self.slots.leases = tuple(self.slots.leases), []
        return StepReport(
            step=self._step,
            outputs=outputs,
            spans=tuple(_span(span) for span in self._batch.spans),
            slots=self.slots.snapshots(),
            cells=self.slots.cells.usage,
            num_waiting=len(self._scheduler.waiting),
            schedule_ms=schedule_ms,
            decode_ms=decode_ms,
            update_ms=update_ms,
            events=events,
            leases=leases,
            hibernated=self.slots.hibernated.chats(),
        )


def _sample(seq: Sequence, row: int) -> tuple[int, tuple[SampledToken, ...]]:
    """The next token, and if the request wants to know, how likely it was."""
    if not seq.request.num_logprobs:
        return seq.sampler.sample(row), ()
    sampled = seq.sampler.sample_with_logprobs(row, seq.request.num_logprobs)
    return sampled.chosen.token_id, (sampled,)


def _span(span: BatchSpan) -> Span:
    request = span.seq.request
    return Span(
        seq_id=span.seq_id,
        chat_id=request.chat_id,
        request_id=request.request_id,
        first_pos=span.first_pos,
        num_rows=span.num_rows,
        wants_logits=span.wants_logits,
        num_generated_tokens=span.seq.num_generated_tokens,
        max_tokens=request.max_tokens,
        is_prefill=span.is_prefill,
    )


def log_step(report: StepReport) -> None:
    """One debug line: every sequence in the step, its rows and positions, tokens made of `max_tokens`."""
    if not log.isEnabledFor(logging.DEBUG):
        return
    parts = [
        f"seq {span.seq_id} {'prefill' if span.is_prefill else 'decode'} rows={span.num_rows} "
        f"pos={span.first_pos}..{span.first_pos + span.num_rows - 1} "
        f"tokens={span.num_generated_tokens}/{span.max_tokens or 'open'} request={span.request_id}"
        for span in report.spans
    ]
    ends = [f"end {out.request_id} {out.finish_reason}" for out in report.outputs if out.finish_reason]
    log.debug(
        "step %d | %s | %d rows, %d/%d cells, %d waiting, %.1f ms",
        report.step,
        " | ".join([*parts, *ends, *report.events]) or "nothing to compute",
        report.num_rows,
        report.cells.num_used,
        report.cells.num_total,
        report.num_waiting,
        report.decode_ms,
    )
