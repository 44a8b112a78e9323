"""The pulse: schedule, decode, update.

Has no thread and no mailbox of its own; `EngineLoop` gives it both. Engine thread only.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.cells import CellWatch
from app.engine.detokenizer import Detokenizer
from app.engine.draft_planner import DraftPlanner
from app.engine.hibernation import HibernatedChats
from app.engine.idle import MIN_CELLS, IdleChats
from app.engine.inspection import Inspection
from app.engine.kept_cells import KEEPING_S, KeptCells
from app.engine.lane import Lane
from app.engine.overflow import context_limit, longer_chats_need
from app.engine.prompt import Prompt
from app.engine.prompt_builder import PromptBuilder
from app.engine.repeatable import CHUNK_ROWS, RepeatableScheduler, RepeatableSlots
from app.engine.scheduler import Scheduler
from app.engine.sequence import Sequence
from app.engine.slots import SlotPool
from app.engine.step_budget import StepBudget
from app.engine.stepping import SampledId, Stepping
from app.protocol.commands import (
    Abort,
    AbortAll,
    ClearCells,
    Command,
    Forget,
    Fork,
    Hibernate,
    KeepCells,
    Pause,
    Pin,
    ReadAhead,
    Restore,
    Resume,
    RunUntil,
    SetFront,
    SetSpeed,
    StepOnce,
    Submit,
    TokensOf,
    WatchCells,
)
from app.protocol.errors import (
    BadLogitsError,
    DecodeError,
    DecodeInterruptedError,
    EngineError,
    GrammarError,
    NoKvCellsError,
    PositionMismatchError,
    PromptTooLongError,
    RequestError,
)
from app.protocol.output import FinishReason, Output, Usage
from app.protocol.report import EventKind, Span, StepReport
from app.protocol.request import Overflow, Request
from app.system.said import said, together

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.backend import Backend
    from app.engine.batch import Batch, BatchSpan
    from app.protocol.output import SampledToken
    from app.protocol.report import CellMap, SlotSnapshot

    Sampled = tuple[int, tuple[SampledToken, ...]]  # a token, with its log probabilities if requested

log = logging.getLogger(__name__)


class Engine:
    """Advances all sequences together, one `llama_decode` a step.

    But for repeatable answers: while there are any, every second step is theirs.
    """

    def __init__(
        self, backend: Backend, hibernated: HibernatedChats | None = None, *, verify: bool = False
    ) -> None:
        """With `verify`, every cell is compared with the library after every step, else only when idle."""
        self._backend = backend
        self._verify = verify
        self.model = backend.model
        self.prompts = PromptBuilder(backend)
        self.slots = SlotPool(backend, hibernated or HibernatedChats())
        self._budget = StepBudget(backend.model.n_batch)
        self._draft_planner = DraftPlanner(backend, self._log_draft)
        self._scheduler = Scheduler(self.slots, self._budget, self._draft_planner)
        self._idle = IdleChats()
        self._cell_watch = CellWatch(self.slots.cells)
        self._inspection = Inspection(
            backend, self.prompts, self.slots, self._scheduler, checks_each_step=verify
        )
        self._shared = Lane(backend, self.slots, self._scheduler, self._inspection)
        self._private: Lane | None = None  # of repeatable answers, once there was one
        self._lane = self._last_lane = self._shared  # of this step, and of the last one that was computed
        self.stepping = Stepping()
        self._outputs: list[Output] = []  # since the last report
        self._sampled: list[tuple[Sequence, int]] = []  # in this step, including end tokens
        self._num_accepted: Counter[int] = Counter()  # draft tokens accepted in this step, by seq_id
        self._sample_s = 0.0  # time spent sampling in this step
        self._return_code = 0  # of this step
        self._is_planned = False  # the batch waits for its step
        # Builds the prompt for so many generated tokens and calls `refit`. An `EngineLoop` does it on another
        # thread.
        self.build_shorter_prompt: Callable[[Request, int], None] = self._build_shorter_prompt
        self._step = 0

    @property
    def has_work(self) -> bool:
        return bool(self._outputs) or any(lane.scheduler.has_work for lane in self._lanes)

    @property
    def has_open_answers(self) -> bool:
        """Also those that wait for a shorter prompt, so that there is nothing to compute now."""
        return bool(self._sequences)

    @property
    def _lanes(self) -> list[Lane]:
        return [self._shared, self._private] if self._private else [self._shared]

    @property
    def _sequences(self) -> list[Sequence]:
        return [seq for lane in self._lanes for seq in lane.scheduler.sequences]

    @property
    def _batch(self) -> Batch:
        return self._lane.batch

    def add_request(self, request: Request, prompt: Prompt | None = None) -> None:
        """Queue a request. Without `prompt`, it is built here, on the calling thread."""
        self._end_ahead()
        self.slots.hibernated.take_found()
        try:
            prompt = prompt or self.prompts.build(request)
            lane = self._lane_for(request)
            seq = self._new_sequence(request, prompt, lane)
        except RequestError as error:
            self.refuse_for(request, error)
            return
        for other in self._lanes:
            if other is not lane:
                other.leave(request.chat_id)
        lane.scheduler.add(seq)

    def read_ahead(self, request: Request, prompt: Prompt) -> None:
        """Compute a prompt that was not sent yet, unless there is other work, or others would lose cells."""
        self._end_ahead()
        self.slots.hibernated.take_found()
        if self._sequences or self.stepping.pause or request.is_repeatable:
            return
        seq = self._new_sequence(request, prompt, self._shared)
        seq.is_ahead = True
        if self.slots.has_room_beside_all(seq):
            self._scheduler.add(seq)
        else:
            seq.sampler.close()

    def _end_ahead(self) -> None:
        """It stays in its cells: a prompt that begins with it goes on from there."""
        for seq in self._sequences:
            if seq.is_ahead:
                self._finish(seq, FinishReason.ABORT)

    def refit(self, request_id: str, prompt: Prompt | RequestError) -> None:
        """Continue an answer that reached its context limit with a shorter prompt, or end it."""
        refitting = (seq for lane in self._lanes for seq in lane.scheduler.refitting)
        seq = next((seq for seq in refitting if seq.request.request_id == request_id), None)
        if seq is None:
            return  # aborted meanwhile
        if isinstance(prompt, RequestError):
            self._finish(seq, FinishReason.LENGTH, self._context_full(seq.request))
            return
        seq.refit(prompt, context_limit(seq.request, self.model))
        self._lane_of(seq).scheduler.put_back(seq)
        self._note_overflow(seq)

    def refuse(self, request: Request, reason: FinishReason, notice: str = "") -> None:
        """End a request that never became a sequence."""
        self._outputs.append(Output(request.request_id, request.chat_id, "", reason, notice))

    def refuse_for(self, request: Request, error: RequestError) -> None:
        """End a request whose prompt cannot be built."""
        num_prompt_tokens = error.num_prompt_tokens if isinstance(error, PromptTooLongError) else 0
        self._outputs.append(
            Output(
                request.request_id,
                request.chat_id,
                finish_reason=FinishReason.ERROR,
                notice=str(error),
                usage=Usage(num_prompt_tokens=num_prompt_tokens),
                found_no_room=isinstance(error, PromptTooLongError),
                is_refused=True,
            )
        )

    def abort(self, request_id: str) -> None:
        """End an answer now: it is in no later batch. No effect if it has ended already."""
        for seq in self._sequences:
            if seq.request.request_id == request_id:
                self._break_off(seq, FinishReason.ABORT)

    def abort_all(self, reason: FinishReason, notice: str) -> None:
        for seq in self._sequences:
            self._break_off(seq, reason, notice)

    def forget(self, chat_id: str) -> None:
        """The chat was closed: abort its answer, free its cells."""
        for seq in self._sequences:
            if seq.request.chat_id == chat_id:
                self._break_off(seq, FinishReason.ABORT)
        for lane in self._lanes:
            lane.slots.forget(chat_id)

    def fork(self, chat_id: str, new_chat_id: str) -> bool:
        """Let a new chat hold the cells of an idle one, without a copy. False: no slot is free for it."""
        return self.slots.fork(chat_id, new_chat_id)

    def hibernate(self, chat_id: str) -> bool:
        """Save the cells of an idle chat and free them. False: it holds none, or is answering."""
        return self._lane_with(chat_id).slots.hibernate_chat(chat_id)

    def obey(self, command: Command) -> None:
        """The result is in the next report. Raises PositionMismatchError if the library holds other cells."""
        self._end_ahead()
        match command:
            case Pause() | Resume() | StepOnce() | RunUntil():
                self.stepping.obey(command)
            case Submit(request):
                self.add_request(request)
            case ReadAhead(request):
                with suppress(RequestError):  # told when it is sent
                    self.read_ahead(request, self.prompts.build_ahead(request))
            case Abort(request_id):
                self.abort(request_id)
            case AbortAll():
                self.abort_all(FinishReason.ABORT, "")
            case Forget(chat_id):
                self.forget(chat_id)
            case Fork(chat_id, new_chat_id):
                self.fork(chat_id, new_chat_id)
            case SetFront(chat_id):
                for lane in self._lanes:
                    lane.slots.front_chat_id = chat_id
            case SetSpeed(speed):
                self._budget.speed = speed
            case KeepCells(store):
                self.slots.hibernated.kept = KeptCells(store, self._backend.fingerprint) if store else None
            case WatchCells(is_watching):
                self._cell_watch.watch(is_watching)
            case (
                Hibernate(chat_id) | Restore(chat_id) | ClearCells(chat_id) | Pin(chat_id) | TokensOf(chat_id)
            ):
                self._lane_with(chat_id).inspection.obey(command, self._step)
            case _:
                self._inspection.obey(command, self._step)

    def step(self) -> StepReport:
        """At most one decode, and its report. Raises EngineError when the engine cannot go on."""
        self._step += 1
        started = time.perf_counter()
        if not (self._is_planned and self._can_compute_plan):
            self._schedule()
        self._is_planned = False
        scheduled = time.perf_counter()
        if not self._decode():
            self._batch.clear()
        self._last_lane = self._lane
        decoded = time.perf_counter()
        self._update(decode_ms=(decoded - scheduled) * 1000)
        updated = time.perf_counter()
        if self._verify:
            self.verify()
        report = self._report(
            started,
            self._snapshots(),
            schedule_ms=(scheduled - started) * 1000,
            decode_ms=(decoded - scheduled) * 1000,
            update_ms=(updated - decoded) * 1000,
            draft_ms=self._draft_planner.take_model_ms(),
        )
        sampled = (SampledId(seq.request.chat_id, token_id) for seq, token_id in self._sampled)
        self.stepping.note_step(report, sampled)
        self._end_step()
        log_step(report)
        return report

    def plan(self) -> StepReport:
        """While paused: choose the batch of the next step. Slots are leased for it; it is not decoded."""
        self._schedule()
        self._is_planned = True
        self.stepping.note_plan(self._spans())
        return self.report()

    def verify(self) -> None:
        """Compare positions and holders of every cell with the library. Raises PositionMismatchError."""
        for lane in self._lanes:
            lane.inspection.verify(self._step)

    def verify_when_idle(self) -> bool:
        """The same, if anything has changed since the last time. False: nothing has."""
        if not any(lane.slots.memory.has_unchecked_changes for lane in self._lanes):
            return False
        self.verify()
        return True

    def report(self) -> StepReport:
        """A report without a step, such as of aborted answers."""
        return self._report(time.perf_counter(), self._snapshots())

    def post_mortem(self, error: Exception) -> StepReport:
        """The last report of an engine that failed with `error`: the failed batch and the findings."""
        if isinstance(error, PositionMismatchError):
            self._inspection.note_disagreement(error, self._step)
        evidence = (slot for lane in self._lanes for slot in lane.slots.evidence())
        return self._report(time.perf_counter(), tuple(evidence))

    def interrupt(self) -> None:
        """Make a running step return soon, and every later one at once. Any thread."""
        self._backend.interrupt()

    def resume(self) -> None:
        """Undo `interrupt`: continue what was not aborted."""
        self._backend.resume()

    def close(self) -> None:
        """Free what the sequences hold in the library. The backend itself belongs to its opener.

        Chats to be kept for the next start are written first, as far as time allows.
        """
        self.abort_all(FinishReason.ABORT, "")
        self.prompts.close()
        self.slots.keep_all(time.monotonic() + KEEPING_S)
        self.slots.hibernated.close()

    def _lane_for(self, request: Request) -> Lane:
        """Raises RequestError when there is no room for it."""
        if not request.is_repeatable:
            return self._shared
        if self._private is None:
            try:
                backend = self._backend.open_private(CHUNK_ROWS)
            except EngineError as error:
                what = said("No repeatable answer can be made: it needs a context of its own.")
                raise RequestError(together(what, str(error))) from error
            slots = RepeatableSlots(backend, self.slots.hibernated)
            slots.front_chat_id, slots.pinned_chat_ids = self.slots.front_chat_id, self.slots.pinned_chat_ids
            scheduler = RepeatableScheduler(slots, StepBudget(backend.model.n_batch), DraftPlanner(backend))
            inspection = Inspection(backend, self.prompts, slots, scheduler, checks_each_step=self._verify)
            self._private = Lane(backend, slots, scheduler, inspection)
        return self._private

    def _lane_of(self, seq: Sequence) -> Lane:
        return self._private if self._private and seq.request.is_repeatable else self._shared

    def _lane_with(self, chat_id: str) -> Lane:
        return self._private if self._private and self._private.has(chat_id) else self._shared

    def _new_sequence(self, request: Request, prompt: Prompt, lane: Lane) -> Sequence:
        sampling = request.sampling or self.model.sampling
        seq = Sequence(
            request=request,
            token_ids=[],
            max_tokens=0,
            sampler=lane.backend.new_sampler(sampling, prompt.token_ids, prompt.num_start_tokens),
            detokenizer=Detokenizer(self._backend.token_piece, request.stop),
        )
        for token_id in prompt.token_ids[len(prompt.token_ids) - prompt.num_start_tokens :]:
            seq.detokenizer.skip(token_id)
        seq.refit(prompt, context_limit(request, self.model))
        self._note_overflow(seq)
        return seq

    def _note_overflow(self, seq: Sequence) -> None:
        if seq.notice:
            text = said("shortened a prompt: {notice}", notice=seq.notice)
            self.slots.event_log.add(EventKind.OVERFLOW, text, seq.slot, seq.request.chat_id)

    def _log_draft(self, text: str) -> None:
        log.warning("%s", text)
        self.slots.event_log.add(EventKind.DRAFT, text)

    def _build_shorter_prompt(self, request: Request, num_generated_tokens: int) -> None:
        """On the calling thread."""
        try:
            self.refit(request.request_id, self.prompts.build(request, num_generated_tokens))
        except RequestError as error:
            self.refit(request.request_id, error)

    def _hibernate_for_speed(self) -> None:
        """One chat at a time, idle for so long that its cells only slow down the steps of others."""
        if not self._idle.can_try or not self.model.is_unified:
            return
        now = time.perf_counter()
        slot = self.slots.oldest_idle(MIN_CELLS)
        if slot and now - slot.last_used_at >= self._idle.min_idle_s:
            self.slots.hibernate(slot)
            self._idle.note_hibernated((time.perf_counter() - now) * 1000)
        else:
            self._idle.note_none_found()

    def _schedule(self) -> None:
        self._batch.clear()
        self._lane = self._next_lane()
        if self._lane is self._shared:
            self._hibernate_for_speed()
        self._lane.scheduler.schedule(self._batch)
        if self._lane.scheduler.has_work and not self._batch.num_rows:
            self._end_stuck()

    def _next_lane(self) -> Lane:
        """Each in turn, where both have work."""
        private = self._private
        if private is None or not private.scheduler.has_work:
            return self._shared
        is_its_turn = self._last_lane is self._shared or not self._scheduler.has_work
        return private if is_its_turn else self._shared

    def _end_stuck(self) -> None:
        """Our mistake: without a row no later step would be another. It costs one answer, not all."""
        stuck = self._lane.scheduler.sequences
        seq = next((seq for seq in stuck if seq.slot and not seq.num_pending_tokens), stuck[0])
        log.error("request %s has nothing that can be computed", seq.request.request_id)
        self._finish(seq, FinishReason.ERROR, said("Skein had nothing to compute for this answer."))

    @property
    def _can_compute_plan(self) -> bool:
        """A chat restored since then may have taken the free cells it counted on."""
        return self._batch.is_current and self._batch.num_rows <= self._lane.slots.cells.num_free

    def _end_step(self) -> None:
        self._batch.clear()
        self._sampled.clear()
        self._num_accepted.clear()
        self._sample_s, self._return_code = 0.0, 0

    def _decode(self) -> bool:
        """Compute the batch. False: nothing was computed, and the next step will try something smaller."""
        if not self._batch.num_rows:
            return False
        self._lane.slots.checkpoints.save_due(self._batch)
        try:
            self._lane.backend.decode(self._batch)
        except NoKvCellsError as error:
            self._return_code = error.return_code
            self._make_room()
            return False
        except DecodeInterruptedError as error:
            self._return_code = error.return_code
            if error.has_begun:
                self._lane.slots.resync(self._batch)
            return False
        except DecodeError as error:
            self._return_code = error.return_code
            self._lane.slots.resync(self._batch)
            raise
        return True

    def _make_room(self) -> None:
        """The library found no cells although some are free in our books: a sliding window pins more."""
        if not self._lane.scheduler.make_room_for_good():
            seq = self._batch.spans[0].seq
            self._finish(seq, FinishReason.LENGTH, self._context_full(seq.request))

    def _update(self, decode_ms: float) -> None:
        """Record what was computed, then sample for every sequence whose last token was in the batch."""
        if self._batch.num_rows and self._lane is self._shared:
            self._learn(decode_ms)
        self._lane.slots.memory.note_decoded(self._batch)
        for span in self._batch.spans:
            span.seq.num_rows_computed += span.num_rows
        # First for all: a sampler works through so much memory that the next lines leave the caches.
        began = time.perf_counter()
        drawn = [(span, self._sample_first(span)) for span in self._batch.spans if span.wants_logits]
        self._sample_s = time.perf_counter() - began
        for span, sampled in drawn:
            self._advance(span, sampled)

    def _learn(self, decode_ms: float) -> None:
        """Record the times of this step."""
        num_prompt_rows = num_drafted = 0
        for span in self._batch.spans:
            num_prompt_rows += span.num_rows if span.is_prefill else 0
            num_drafted += span.num_drafted
        num_decoding = self._batch.num_rows - num_prompt_rows - num_drafted
        if not num_prompt_rows:
            self._draft_planner.learn(num_decoding, num_drafted, decode_ms)
        if not num_drafted:
            self._budget.learn(num_decoding, num_prompt_rows, decode_ms)
            self._idle.learn(num_decoding, num_prompt_rows, decode_ms)

    def _sample_first(self, span: BatchSpan) -> Sampled | None:
        """The token after a sequence's newest one. None: it was ended."""
        seq = span.seq
        if seq.max_tokens == 0:  # only its prompt was wanted
            self._finish(seq, FinishReason.LENGTH)
            return None
        if seq.drafter:
            seq.drafter.note_checked(span.num_drafted)
        return self._sample(seq, span.last_row - span.num_drafted)

    def _advance(self, span: BatchSpan, sampled: Sampled | None) -> None:
        """Take the next token of one sequence and, as long as it equals the draft token, the one after it."""
        seq, row = span.seq, span.last_row - span.num_drafted
        while sampled is not None:
            was_drafted = row < span.last_row and self._check_draft_token(span, row + 1, sampled[0])
            self._take(seq, *sampled)
            has_ended = seq.slot is None  # or waits for a shorter prompt
            if has_ended or not was_drafted:
                return
            row += 1
            began = time.perf_counter()
            sampled = self._sample(seq, row)
            self._sample_s += time.perf_counter() - began

    def _check_draft_token(self, span: BatchSpan, row: int, token: int) -> bool:
        """Accept the draft token in `row` if it is the sampled one, else drop it and all after it."""
        drafter, slot = span.seq.drafter, span.seq.slot
        assert drafter is not None
        assert slot is not None
        is_right = self._batch.token_ids[row] == token
        drafter.learn(is_right)
        self._num_accepted[span.seq_id] += is_right
        if not is_right:
            self.slots.cut_back(slot, self._batch.positions[row])
        return is_right

    def _sample(self, seq: Sequence, row: int) -> Sampled | None:
        """The next token of one sequence, with its log probabilities if requested.

        None: no valid token, so the sequence was ended.
        """
        sampled: Sampled
        try:
            if seq.request.num_logprobs:
                one = seq.sampler.sample_with_logprobs(row, seq.request.num_logprobs)
                sampled = one.chosen.token_id, (one,)
            else:
                sampled = seq.sampler.sample(row), ()
        except (BadLogitsError, GrammarError) as error:
            self._finish(seq, FinishReason.ERROR, str(error))
            return None
        self._sampled.append((seq, sampled[0]))
        return sampled

    def _take(self, seq: Sequence, token: int, logprobs: tuple[SampledToken, ...]) -> None:
        """Add a token to its answer, and end the answer at an end token, stop string or limit."""
        if self._backend.is_end_of_generation(token):
            self._finish(seq, FinishReason.STOP, ended_by=next(iter(logprobs), None))
            return
        seq.append(token)
        text = seq.detokenizer.add(token)
        if seq.detokenizer.stopped:
            self._finish(seq, FinishReason.STOP, text=text, logprobs=logprobs)
        elif seq.num_generated_tokens < seq.max_tokens:
            self._append_output(seq, text, logprobs)
        elif seq.request.overflow is Overflow.STOP or seq.has_all_that_was_asked:
            self._finish(seq, FinishReason.LENGTH, self._length_notice(seq), text, logprobs)
        else:
            self._append_output(seq, text, logprobs)
            self._lane.scheduler.set_aside(seq)
            self.build_shorter_prompt(seq.request, seq.num_generated_tokens)

    def _append_output(self, seq: Sequence, text: str, logprobs: tuple[SampledToken, ...]) -> None:
        if text or logprobs:
            self._outputs.append(self._output(seq, text, logprobs))

    def _break_off(self, seq: Sequence, reason: FinishReason, notice: str = "") -> None:
        made = seq.num_generated_tokens
        if seq.slot:
            text = said(
                "broke off the answer in sequence {seq_id}: {tokens} tokens were made",
                seq_id=seq.slot.seq_id,
                tokens=made,
            )
        else:
            text = said("broke off the answer that had no slot: {tokens} tokens were made", tokens=made)
        self.slots.event_log.add(EventKind.ABORT, text, seq.slot, seq.request.chat_id)
        self._finish(seq, reason, notice)

    def _finish(
        self,
        seq: Sequence,
        reason: FinishReason,
        notice: str = "",
        text: str = "",
        logprobs: tuple[SampledToken, ...] = (),
        ended_by: SampledToken | None = None,
    ) -> None:
        seq.finish(reason, notice)
        text += seq.detokenizer.flush()
        self._lane_of(seq).scheduler.remove(seq)
        seq.sampler.close()
        if seq.is_ahead:
            return
        last = replace(
            self._output(seq, text, logprobs),
            finish_reason=reason,
            notice=seq.notice,
            found_no_room=reason is FinishReason.LENGTH and not seq.has_all_that_was_asked,
            stopping_word=seq.detokenizer.stopping_word,
            ended_by=ended_by,
        )
        self._outputs.append(last)

    def _output(self, seq: Sequence, text: str, logprobs: tuple[SampledToken, ...]) -> Output:
        """The output so far, with all tokens since the last one."""
        token_ids = seq.unreported_token_ids
        seq.num_reported_tokens += len(token_ids)
        request = seq.request
        return Output(
            request.request_id,
            request.chat_id,
            text,
            usage=seq.usage,
            logprobs=logprobs,
            token_ids=token_ids,
        )

    def _length_notice(self, seq: Sequence) -> str:
        """Empty for a limit that the caller set."""
        return "" if seq.has_all_that_was_asked else self._context_full(seq.request)

    def _context_full(self, request: Request) -> str:
        limit = context_limit(request, self.model)
        cut = said("The answer was cut: this chat fills its context of {limit:,} tokens.", limit=limit)
        return together(cut, longer_chats_need(request, self.model))

    # Reports.

    def _report(
        self,
        started_at: float,
        slots: tuple[SlotSnapshot, ...],
        schedule_ms: float = 0.0,
        decode_ms: float = 0.0,
        update_ms: float = 0.0,
        draft_ms: float = 0.0,
    ) -> StepReport:
        for line in self._backend.take_log_lines():
            self.slots.event_log.add(EventKind.NATIVE, line)
        outputs, self._outputs = tuple(self._outputs), []
        event_log = [lane.slots.event_log.take() for lane in self._lanes]
        return StepReport(
            step=self._step,
            outputs=outputs,
            spans=() if self._is_planned else self._spans(),
            slots=slots,
            cells=self.slots.cells.usage,
            schedule_ms=schedule_ms,
            decode_ms=decode_ms,
            update_ms=update_ms,
            events=tuple(event for events, _ in event_log for event in events),
            leases=tuple(lease for _, leases in event_log for lease in leases),
            hibernated=self.slots.hibernated.chats(),
            started_at=started_at,
            return_code=self._return_code,
            sample_ms=self._sample_s * 1000,
            waiting=tuple(one for lane in self._lanes for one in lane.scheduler.waiting_requests()),
            last_check=self._inspection.last_check,
            cell_map=self._cell_map() if self._cell_watch.is_watching else None,
            pause=self.stepping.pause,
            answers=tuple(one for lane in self._lanes for one in lane.inspection.take_answers()),
            draft_ms=draft_ms,
        )

    def _snapshots(self) -> tuple[SlotSnapshot, ...]:
        if self._private is None:
            return self.slots.snapshots()
        return self.slots.snapshots() + self._private.slots.snapshots()

    def _cell_map(self) -> CellMap | None:
        is_resting = not self.has_work or self.stepping.pause is not None
        return self._cell_watch.take(time.perf_counter(), is_last=is_resting)

    def _spans(self) -> tuple[Span, ...]:
        batch, num_accepted = self._batch, self._num_accepted
        return tuple([_span(span, batch, num_accepted.get(span.seq_id, 0)) for span in batch.spans])


def _span(span: BatchSpan, batch: Batch, num_accepted: int) -> Span:
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
        token_bytes=batch.token_ids[span.first_row : span.first_row + span.num_rows].tobytes(),
        num_drafted=span.num_drafted,
        num_kept=num_accepted,
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
        " | ".join([*parts, *ends, *(event.text for event in report.events)]) or "nothing to compute",
        report.num_rows,
        report.cells.num_used,
        report.cells.num_total,
        report.num_waiting,
        report.decode_ms,
    )
