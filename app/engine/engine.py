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
    NoKvCellsError,
    PromptTooLongError,
    RequestError,
)
from app.engine.prompt import PromptBuilder
from app.engine.scheduler import Scheduler
from app.engine.sequence import Sequence
from app.engine.slots import SlotPool
from app.engine.step_budget import StepBudget
from app.engine.types import FinishReason, Output, Request, Span, StepReport

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.batch import BatchSpan

log = logging.getLogger(__name__)


class Engine:
    """Advances all sequences together, one `llama_decode` a step."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.model = backend.model
        self.prompts = PromptBuilder(backend)
        self.slots = SlotPool(backend)
        self._budget = StepBudget(backend.model.n_batch)
        self._scheduler = Scheduler(self.slots, self._budget)
        self._batch = Batch(backend.model.n_batch)
        self._outputs: list[Output] = []  # since the last report
        self._step = 0

    @property
    def has_work(self) -> bool:
        return bool(self._scheduler.sequences or self._outputs)

    def add_request(self, request: Request, prompt_token_ids: list[int] | None = None) -> None:
        """Queue a request. Without token ids its prompt is built here, on the calling thread."""
        try:
            tokens = self.prompts.build(request) if prompt_token_ids is None else prompt_token_ids
            self._scheduler.add(self._new_sequence(request, tokens))
        except RequestError as error:
            self.refuse(request, FinishReason.ERROR, str(error))

    def refuse(self, request: Request, reason: FinishReason, notice: str = "") -> None:
        """End a request that never became a sequence."""
        self._outputs.append(Output(request.request_id, request.chat_id, "", reason, notice))

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

    def step(self) -> StepReport:
        """One decode, or none when there is only news to report. Raises EngineError when that is the end."""
        self._step += 1
        started = time.perf_counter()
        self._batch.clear()
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
        return report

    def report(self) -> StepReport:
        """What there is to tell without a step, such as the ends of aborted answers."""
        self._batch.clear()
        return self._report(0.0, 0.0, 0.0)

    def interrupt(self) -> None:
        """Make a running step return soon, and every later one at once. Any thread."""
        self._backend.interrupt()

    def close(self) -> None:
        """Free what the sequences hold in the library. The backend itself belongs to its opener."""
        self.abort_all(FinishReason.ABORT, "")
        self.prompts.close()

    def _new_sequence(self, request: Request, tokens: list[int]) -> Sequence:
        room = self.model.max_sequence_tokens - len(tokens)
        if room < 1:
            raise PromptTooLongError(len(tokens), self.model)
        return Sequence(
            request=request,
            token_ids=list(tokens),
            max_tokens=min(request.max_tokens or room, room),
            sampler=self._backend.new_sampler(request.sampling or self.model.sampling, tokens),
            detokenizer=Detokenizer(self._backend.token_piece, request.stop),
        )

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
            self._finish(seq, FinishReason.LENGTH, self._context_full())

    def _resync(self) -> None:
        for span in self._batch.spans:
            assert span.seq.slot is not None
            self.slots.resync(span.seq.slot)

    def _update(self, decode_ms: float) -> None:
        """Book what was computed, then sample for every sequence whose last token was in the batch."""
        num_prompt_rows = sum(span.num_rows for span in self._batch.spans if span.is_prefill)
        if self._batch.num_rows:
            self._budget.learn(num_prompt_rows, decode_ms)
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
            token = seq.sampler.sample(row)
        except BadLogitsError as error:
            self._finish(seq, FinishReason.ERROR, str(error))
            return
        if self._backend.is_end_of_generation(token):
            self._finish(seq, FinishReason.STOP)
            return
        seq.append(token)
        text = seq.detokenizer.add(token)
        if seq.detokenizer.stopped:
            self._finish(seq, FinishReason.STOP, text=text)
        elif seq.num_generated_tokens >= seq.max_tokens:
            self._finish(seq, FinishReason.LENGTH, self._length_notice(seq), text)
        elif text:
            self._outputs.append(Output(seq.request.request_id, seq.request.chat_id, text, usage=seq.usage))

    def _finish(self, seq: Sequence, reason: FinishReason, notice: str = "", text: str = "") -> None:
        seq.finish(reason, notice)
        text += seq.detokenizer.flush()
        self._scheduler.remove(seq)
        seq.sampler.close()
        request = seq.request
        self._outputs.append(
            Output(request.request_id, request.chat_id, text, reason, notice, usage=seq.usage)
        )

    def _length_notice(self, seq: Sequence) -> str:
        """No notice for a limit that the caller set."""
        return "" if seq.num_generated_tokens == seq.request.max_tokens else self._context_full()

    def _context_full(self) -> str:
        return (
            f"The answer was cut: this chat fills its context of {self.model.max_sequence_tokens:,} tokens. "
            f"{self.model.longer_chats_need}"
        )

    def _report(self, schedule_ms: float, decode_ms: float, update_ms: float) -> StepReport:
        outputs, self._outputs = tuple(self._outputs), []
        events, self._scheduler.events = tuple(self._scheduler.events), []
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
        )


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
