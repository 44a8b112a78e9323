"""The pulse: schedule, decode, update.

Has no thread and no mailbox of its own; `EngineLoop` gives it both. Engine thread only.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from app.engine.batch import Batch
from app.engine.batching.answers import Answers
from app.engine.batching.awaited_media import AwaitedMedia
from app.engine.batching.draft_planner import DraftPlanner
from app.engine.batching.sampling import Sampling
from app.engine.batching.scheduler import Scheduler
from app.engine.batching.step_budget import StepBudget, Stopwatch
from app.engine.batching.stepping import SampledId, Stepping, SteppingCommand
from app.engine.cells.hibernation import HibernatedChats
from app.engine.cells.idle import IdleChats
from app.engine.cells.kept_cells import KEEPING_S, KeptCells
from app.engine.cells.ledger import CellWatch
from app.engine.cells.slots import SlotPool
from app.engine.detokenizer import Detokenizer
from app.engine.inspection import Inspection
from app.engine.prompt import Prompt
from app.engine.prompts.overflow import context_limit
from app.engine.prompts.prompt_builder import PromptBuilder
from app.engine.sequence import Sequence
from app.protocol.commands import (
    Abort,
    AbortAll,
    Command,
    Forget,
    Fork,
    KeepCells,
    ReadAhead,
    SetFront,
    SetSpeed,
    Submit,
    WatchCells,
)
from app.protocol.errors import (
    DecodeError,
    DecodeInterruptedError,
    NoKvCellsError,
    PositionMismatchError,
    RequestError,
    SamplingInterruptedError,
)
from app.protocol.events import EventKind, Shortened, Told
from app.protocol.lens import LensQuestion, StopLens
from app.protocol.output import FinishReason
from app.protocol.report import StepReport
from app.protocol.request import Request
from app.system.said import said

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.backend import Backend, Lens
    from app.protocol.report import Answer, CellMap, SlotSnapshot

log = logging.getLogger(__name__)


class Engine:
    """Advances all sequences together, one `llama_decode` a step."""

    def __init__(
        self,
        backend: Backend,
        hibernated: HibernatedChats | None = None,
        *,
        verify: bool = False,
        is_recorded: bool = True,
    ) -> None:
        """With `verify`, every cell is compared with the library after every step, else only when idle."""
        self._backend = backend
        self._verify = verify
        self.model = backend.model
        self.prompts = PromptBuilder(backend)
        self.slots = SlotPool(backend, hibernated or HibernatedChats())
        self._budget = StepBudget(backend.model.n_batch, min(backend.model.n_batch, backend.model.n_ubatch))
        self._awaited_media = AwaitedMedia(backend.media_encoder, self.slots.event_log)
        self._draft_planner = DraftPlanner(backend, self._log_draft)
        self._scheduler = Scheduler(self.slots, self._budget, self._draft_planner, self._awaited_media)
        self._idle = IdleChats()
        self._cell_watch = CellWatch(self.slots.cells)
        self._inspection = Inspection(
            backend, self.prompts, self.slots, self._scheduler, checks_each_step=verify
        )
        self.answers = Answers(
            backend,
            self._scheduler,
            self.slots.event_log,
            self._build_shorter_prompt,
            self.prompts.written_tokens.note,
        )
        self._sampling = Sampling(
            self.answers, self._scheduler, self.slots, backend.logits_hash if is_recorded else None
        )
        self.stepping = Stepping()
        self._batch = Batch(backend.model.n_batch)  # of the next step, or of the one that runs
        self._return_code = 0  # of this step
        self._is_planned = False  # the batch waits for its step
        self._step = 0

    def when_encoded(self, call: Callable[[], None]) -> None:
        """It is called on another thread when an encoding has ended, and every second until then."""
        if self._backend.media_encoder:
            self._backend.media_encoder.on_progress = call

    @property
    def has_work(self) -> bool:
        return self.answers.has_outputs or self._scheduler.has_work

    @property
    def has_open_answers(self) -> bool:
        """Also those that wait for a shorter prompt, so that there is nothing to compute now."""
        return bool(self._scheduler.sequences)

    def add_request(self, request: Request, prompt: Prompt | None = None) -> None:
        """Queue a request. Without `prompt`, it is built here, on the calling thread."""
        self._end_ahead()
        self.slots.hibernated.take_found()
        try:
            prompt = prompt or self.prompts.build(request)
            seq = self._new_sequence(request, prompt)
        except SamplingInterruptedError:
            self.answers.refuse(request, FinishReason.ABORT)
            return
        except RequestError as error:
            self.answers.refuse_for(request, error)
            return
        self._scheduler.add(seq)

    def read_ahead(self, request: Request, prompt: Prompt) -> None:
        """Compute a prompt that was not sent yet, unless there is other work, or others would lose cells."""
        self._end_ahead()
        self.slots.hibernated.take_found()
        if self._scheduler.sequences or self.stepping.pause:
            return
        try:
            seq = self._new_sequence(request, prompt)
        except RequestError:  # told when it is sent
            return
        seq.is_ahead = True
        make_room = self.slots.make_room_for_beginning
        if make_room(seq) if request.is_beginning else self.slots.has_room_beside_all(seq):
            self._scheduler.add(seq)
        else:
            seq.sampler.close()

    def _end_ahead(self) -> None:
        """It stays in its cells: a prompt that begins with it goes on from there."""
        for seq in self._scheduler.sequences:
            if seq.is_ahead:
                self.answers.finish(seq, FinishReason.ABORT)

    def refit(self, request_id: str, prompt: Prompt | RequestError) -> None:
        """Continue an answer that reached its context limit with a shorter prompt, or end it."""
        refitting = self._scheduler.refitting
        seq = next((seq for seq in refitting if seq.request.request_id == request_id), None)
        if seq is None:
            return  # aborted meanwhile
        if isinstance(prompt, RequestError):
            self.answers.finish(seq, FinishReason.LENGTH, self.answers.context_full(seq.request))
            return
        seq.refit(prompt, context_limit(seq.request, self.model))
        self._scheduler.put_back(seq)
        self._note_overflow(seq)

    def abort(self, request_id: str) -> None:
        """End an answer now: it is in no later batch. No effect if it has ended already."""
        for seq in self._scheduler.sequences:
            if seq.request.request_id == request_id:
                self.answers.break_off(seq, FinishReason.ABORT)

    def abort_all(self, reason: FinishReason, notice: str) -> None:
        for seq in self._scheduler.sequences:
            self.answers.break_off(seq, reason, notice)

    def forget(self, chat_id: str) -> None:
        """The chat was closed: abort its answer, free its cells."""
        for seq in self._scheduler.sequences:
            if seq.request.chat_id == chat_id:
                self.answers.break_off(seq, FinishReason.ABORT)
        self.slots.forget(chat_id)

    def obey(self, command: Command) -> None:
        """The result is in the next report. Raises PositionMismatchError if the library holds other cells."""
        self._end_ahead()
        match command:
            case Submit(request):
                self.add_request(request)
            case ReadAhead(request):
                with suppress(RequestError):
                    self.read_ahead(request, self.prompts.build_ahead(request))
            case Abort(request_id):
                self.abort(request_id)
            case AbortAll():
                self.abort_all(FinishReason.ABORT, "")
            case Forget(chat_id):
                self.forget(chat_id)
            case Fork(chat_id, new_chat_id):
                self.slots.fork(chat_id, new_chat_id)
            case SetFront(chat_id):
                self.slots.front_chat_id = chat_id
            case SetSpeed(speed):
                self._budget.speed = speed
            case KeepCells(store):
                self.slots.hibernated.kept = KeptCells(store, self._backend.fingerprint) if store else None
            case WatchCells(is_watching):
                self._cell_watch.watch(is_watching)
            case _ if isinstance(command, LensQuestion | StopLens):
                pass  # `EngineLoop` has them answered on another thread
            case _ if isinstance(command, SteppingCommand):
                paused_s = self.stepping.obey(command)
                for seq in self._scheduler.sequences:
                    seq.leave_out(paused_s)
            case _:
                self._inspection.obey(command, self._step)

    def step(self, *, is_waited_for: bool = False) -> StepReport:
        """At most one decode, and its report. `is_waited_for`: another engine cannot compute meanwhile.

        Raises EngineError when the engine cannot go on.
        """
        self._budget.is_waited_for = is_waited_for
        self._step += 1
        watch = Stopwatch()
        self._schedule()
        watch.schedule_ms = watch.lap_ms()
        self._decode()
        watch.decode_ms = watch.lap_ms()
        self._update(watch.decode_ms)
        watch.update_ms = watch.lap_ms()
        if self._verify:
            self.verify()
        return self._end_step(watch)

    def plan(self) -> StepReport:
        """While paused: choose the batch of the next step. Slots are leased for it; it is not decoded."""
        self._choose_batch()
        self._is_planned = True
        self.stepping.note_plan(self._batch.reported({}, {}))
        return self.report()

    @property
    def lens(self) -> Lens | None:
        return self._backend.lens

    def take_answer(self, answer: Answer) -> None:
        """To a question that was answered elsewhere: it goes with the next report."""
        self._inspection.take_answer(answer)

    def verify(self) -> None:
        """Compare positions and holders of every cell with the library. Raises PositionMismatchError."""
        self._inspection.verify(self._step)

    def verify_when_idle(self) -> bool:
        """The same, if anything has changed since the last time. False: nothing has."""
        if not self.slots.memory.has_unchecked_changes:
            return False
        self.verify()
        return True

    def report(self) -> StepReport:
        """A report without a step, such as of aborted answers."""
        return self._report(self.slots.snapshots())

    def post_mortem(self, error: Exception) -> StepReport:
        """The last report of an engine that failed with `error`: the failed batch and the findings."""
        if isinstance(error, PositionMismatchError):
            self._inspection.note_disagreement(error, self._step)
        return self._report(self.slots.evidence())

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

    def _new_sequence(self, request: Request, prompt: Prompt) -> Sequence:
        sampling = request.sampling or self.model.sampling
        seq = Sequence(
            request=request,
            token_ids=[],
            max_tokens=0,
            sampler=self._backend.new_sampler(
                sampling, prompt.text_tokens, prompt.num_start_tokens, prompt.guide
            ),
            detokenizer=Detokenizer(self._pieces(prompt.shown_tokens), (*request.stop, *prompt.format.stops)),
            format=prompt.format,
        )
        for token_id in prompt.token_ids[len(prompt.token_ids) - prompt.num_start_tokens :]:
            seq.detokenizer.skip(token_id)
        seq.refit(prompt, context_limit(request, self.model))
        self._note_overflow(seq)
        return seq

    def _pieces(self, shown_tokens: frozenset[int]) -> Callable[[int], bytes]:
        """What a token stands for in an answer: control tokens for nothing, but for `shown_tokens`."""
        backend = self._backend
        if not shown_tokens:
            return backend.token_piece
        return lambda token: (backend.written_piece if token in shown_tokens else backend.token_piece)(token)

    def _note_overflow(self, seq: Sequence) -> None:
        if seq.notice:
            seq_id = seq.slot.seq_id if seq.slot else None
            self.slots.event_log.add(Shortened(seq_id, seq.request.chat_id, seq.notice))

    def _log_draft(self, text: str) -> None:
        log.warning("%s", text)
        self.slots.event_log.add(Told(EventKind.DRAFT, text))

    def _build_shorter_prompt(self, request: Request, num_generated_tokens: int) -> None:
        """On the calling thread."""
        try:
            self.refit(request.request_id, self.prompts.build(request, num_generated_tokens))
        except RequestError as error:
            self.refit(request.request_id, error)

    def _schedule(self) -> None:
        # A chat restored since it was planned may have taken the free cells it counted on.
        num_free = self.slots.cells.num_free
        if not (self._is_planned and self._batch.is_current and self._batch.num_rows <= num_free):
            self._choose_batch()
        self._is_planned = False

    def _choose_batch(self) -> None:
        self._batch.clear()
        if self.model.is_unified:
            self._idle.hibernate_one(self.slots)
        self._scheduler.schedule(self._batch)
        for seq, failure in self._awaited_media.take_failures().items():
            self.answers.finish(seq, FinishReason.ERROR, failure)
        # One whose picture has been encoded since it was asked for goes on with the next step.
        stuck = [seq for seq in self._scheduler.sequences if not self._awaited_media.has_asked(seq)]
        if stuck and self._scheduler.has_work and not self._batch.num_rows:
            self._end_stuck(stuck)

    def _end_stuck(self, stuck: list[Sequence]) -> None:
        """Our mistake: without a row no later step would be another. It costs one answer, not all."""
        seq = next((seq for seq in stuck if seq.slot and not seq.num_pending_tokens), stuck[0])
        log.error("request %s has nothing that can be computed", seq.request.request_id)
        self.answers.finish(seq, FinishReason.ERROR, said("There was nothing to compute for this answer."))

    def _decode(self) -> None:
        """Compute the batch; if nothing was computed, the next step will try something smaller."""
        if not self._is_computed():
            self._batch.clear()

    def _is_computed(self) -> bool:
        batch = self._batch
        if not batch.num_rows:
            return False
        self.slots.checkpoints.save_due(batch)
        try:
            self._backend.decode(batch)
        except NoKvCellsError as error:
            self._return_code = error.return_code
            self._make_room()
            return False
        except DecodeInterruptedError as error:
            self._return_code = error.return_code
            if error.has_begun:
                self.slots.resync(batch)
            return False
        except DecodeError as error:
            self._return_code = error.return_code
            self.slots.resync(batch)
            raise
        return True

    def _make_room(self) -> None:
        """The library found no cells although some are free in our books: a sliding window pins more."""
        if not self._scheduler.make_room_for_good():
            seq = self._batch.spans[0].seq
            self.answers.finish(seq, FinishReason.LENGTH, self.answers.context_full(seq.request))

    def _update(self, decode_ms: float) -> None:
        """Record what was computed, then sample for every sequence whose last token was in the batch."""
        batch = self._batch
        if batch.num_rows:
            self._learn(decode_ms)
        self.slots.memory.note_decoded(batch)
        for span in batch.spans:
            span.seq.num_rows_computed += span.num_rows
            if batch.media:
                span.seq.drop_computed_rows()
        self._sampling.sample(batch)

    def _end_step(self, watch: Stopwatch) -> StepReport:
        watch.draft_ms = self._draft_planner.take_model_ms()
        report = self._report(self.slots.snapshots(), watch)
        sampled = (SampledId(seq.request.chat_id, token_id) for seq, token_id in self._sampling.sampled)
        self.stepping.note_step(report, sampled)
        self._batch.clear()
        self._sampling.clear()
        self._return_code = 0
        log_step(report)
        return report

    def _learn(self, decode_ms: float) -> None:
        """Record the times of this step."""
        num_prompt_rows = num_drafted = 0
        if media := self._batch.media:
            if not media.is_whole:
                self._budget.learn_media(self._scheduler.num_decoding, self._batch.num_rows, decode_ms)
            return
        for span in self._batch.spans:
            num_prompt_rows += span.num_rows if span.is_prefill else 0
            num_drafted += span.num_drafted
        num_decoding = self._batch.num_rows - num_prompt_rows - num_drafted
        if not num_prompt_rows:
            self._draft_planner.learn(num_decoding, num_drafted, decode_ms)
        if not num_drafted:
            self._budget.learn(num_decoding, num_prompt_rows, decode_ms)
            self._idle.learn(num_decoding, num_prompt_rows, decode_ms)

    # Reports.

    def _report(self, slots: tuple[SlotSnapshot, ...], watch: Stopwatch | None = None) -> StepReport:
        """Without `watch`, no step was taken."""
        watch, sampling = watch or Stopwatch(), self._sampling
        for line in self._backend.take_log_lines():
            self.slots.event_log.add(Told(EventKind.NATIVE, line))
        events, leases = self.slots.event_log.take()
        self._inspection.describe(leases)
        return StepReport(
            step=self._step,
            outputs=self.answers.take_outputs(),
            spans=() if self._is_planned else self._batch.reported(sampling.num_accepted, sampling.hashes),
            slots=slots,
            cells=self.slots.cells.usage,
            schedule_ms=watch.schedule_ms,
            decode_ms=watch.decode_ms,
            update_ms=watch.update_ms,
            events=events,
            leases=leases,
            hibernated=self.slots.hibernated.chats(),
            started_at=watch.started_at,
            return_code=self._return_code,
            sample_ms=round(sampling.sample_s * 1000, 3),
            waiting=self._scheduler.waiting_requests(),
            last_check=self._inspection.last_check,
            cell_map=self._cell_map() if self._cell_watch.is_watching else None,
            pause=self.stepping.pause,
            answers=self._inspection.take_answers(),
            draft_ms=round(watch.draft_ms, 3),
            encodings=self._awaited_media.encodings(),
        )

    def _cell_map(self) -> CellMap | None:
        is_resting = not self.has_work or self.stepping.pause is not None
        return self._cell_watch.take(time.perf_counter(), is_last=is_resting)


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
        " | ".join([*parts, *ends, *map(str, report.events)]) or "nothing to compute",
        report.num_rows,
        report.cells.num_used,
        report.cells.num_total,
        report.num_waiting,
        report.decode_ms,
    )
