"""Derives from reports why a step failed, waited, or took long. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from app.inspector.event_words import words
from app.look.figures import milliseconds, rows, seconds
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.protocol.events import EventKind
from app.protocol.report import SlotState, StepReport, WaitReason

MIN_GAP_MS = 10.0  # between two steps: less is the loop's own work
SLOW = 2.0  # times as long as usual
MIN_SLOW_MS = 10.0  # more than usual: less is not noticeable
WAIT_REASONS = {
    WaitReason.QUEUED: mark("waiting"),
    WaitReason.SHARES_PREFIX: mark("waiting for a shared prefix"),
    WaitReason.PAUSED: mark("paused"),
    WaitReason.REFITTING: mark("shortening the prompt"),
    WaitReason.ENCODING: mark("encoding pictures or sounds"),
}
_SAVING = (EventKind.HIBERNATE, EventKind.RESTORE, EventKind.EVICT, EventKind.SHIFT)
ABORTED = 2
_CODES = {
    1: mark("llama_decode returned {code}: no KV slot for the batch."),
    ABORTED: mark("llama_decode returned {code}: aborted, as the answers were stopped."),
    -1: mark("llama_decode returned {code}: invalid batch."),
}
_ANY_CODE = mark("llama_decode returned {code}: fatal error.")


class Stall(IntEnum):
    """Severity: where several steps share a column, the worst is shown."""

    NONE = 0
    NO_WORK = 1  # nothing ran before it: there were no requests
    PAUSED = 2  # nothing ran before it: the user had paused; or the user stopped it
    HELD_UP = 3  # it or what came before it took long
    FAILED = 4


@dataclass(frozen=True, slots=True)
class Cause:
    kind: Stall
    text: str  # a sentence


@dataclass(frozen=True, slots=True)
class Before:
    """The reference for a step: how the previous one ended, and the reports since."""

    ended_at: float = 0.0  # as `StepReport.started_at`; 0: unknown
    pause_reason: str | None = None  # None: it was not paused
    had_work: bool = False
    decoding: frozenset[int] = frozenset()  # sequences whose answers were running
    usual_ms: float = 0.0  # recent time of a decode without prompts and draft tokens; 0: none yet

    def after(self, report: StepReport) -> Before:
        """The reference for the next step."""
        ran = has_run(report)
        reason = report.pause.reason if report.pause else None if ran else self.pause_reason
        running = [slot for slot in report.slots if slot.is_running]
        return Before(
            ended_at=ended_at(report) if ran else self.ended_at,
            pause_reason=reason,
            had_work=bool(running or report.waiting),
            decoding=frozenset(slot.seq_id for slot in running if slot.state is SlotState.DECODE),
            usual_ms=self._usual_ms(report),
        )

    def gap_ms(self, report: StepReport) -> float:
        if not self.ended_at or not report.started_at:
            return 0.0
        return max(0.0, (report.started_at - self.ended_at) * 1000)

    def _usual_ms(self, report: StepReport) -> float:
        if not report.spans or any(span.is_prefill or span.num_drafted for span in report.spans):
            return self.usual_ms
        # Adapts slowly, so that a few slow steps do not become the norm.
        return self.usual_ms + 0.1 * (report.decode_ms - self.usual_ms) if self.usual_ms else report.decode_ms


def has_run(report: StepReport) -> bool:
    """Other reports only carry events between two steps."""
    return bool(report.spans or report.return_code or report.decode_ms or report.schedule_ms)


def ended_at(report: StepReport) -> float:
    duration_ms = report.schedule_ms + report.decode_ms + report.update_ms
    return report.started_at + duration_ms / 1000 if report.started_at else 0.0


def deliver_ms(report: StepReport) -> float:
    """Detokenizing, ending answers, and reporting the outputs."""
    return max(0.0, report.update_ms - report.sample_ms)


def causes_of(report: StepReport, before: Before) -> list[Cause]:
    """Everything that held up this step or those in it, the worst first."""
    found = [
        *_failure(report),
        *_gap(report, before),
        *_slow_schedule(report, before),
        *_slow_decode(report, before),
        *_left_out(report, before),
        *_no_batch(report),
    ]
    return sorted(found, key=lambda cause: -cause.kind)


def worst_of(report: StepReport, before: Before) -> Stall:
    return max((cause.kind for cause in causes_of(report, before)), default=Stall.NONE)


def _failure(report: StepReport) -> list[Cause]:
    if not report.return_code:
        return []
    what = _CODES.get(report.return_code, _ANY_CODE)
    kind = Stall.PAUSED if report.return_code == ABORTED else Stall.FAILED
    return [Cause(kind, tr(what, code=report.return_code))]


def _gap(report: StepReport, before: Before) -> list[Cause]:
    gap_ms = before.gap_ms(report)
    if gap_ms < MIN_GAP_MS:
        return []
    time = seconds(gap_ms / 1000)
    if before.pause_reason:
        paused = tr("Nothing ran for {time} before this step: the batcher was paused.", time=time)
        return [Cause(Stall.PAUSED, sentences(paused, tr_said(before.pause_reason)))]
    if before.pause_reason is not None:
        text = tr("Nothing ran for {time} before this step: the batcher was paused by a user.", time=time)
        return [Cause(Stall.PAUSED, text)]
    if not before.had_work:
        text = tr("Nothing ran for {time} before this step: no chat had work for it.", time=time)
        return [Cause(Stall.NO_WORK, text)]
    if saved := _saving_texts(report):
        text = tr("Nothing ran for {time} before this step: {reason}.", time=time, reason=saved)
    else:
        text = tr(
            "Nothing ran for {time} before this step although there was work, for an unknown reason.",
            time=time,
        )
    return [Cause(Stall.HELD_UP, text)]


def _slow_schedule(report: StepReport, before: Before) -> list[Cause]:
    schedule_ms = report.schedule_ms - report.draft_ms
    if schedule_ms < max(MIN_SLOW_MS, before.usual_ms):
        return []
    why = _saving_texts(report) or tr("cause unknown")
    time = milliseconds(schedule_ms)
    return [Cause(Stall.HELD_UP, tr("Scheduling took {time}: {reason}.", time=time, reason=why))]


def _slow_decode(report: StepReport, before: Before) -> list[Cause]:
    """Only where running answers waited for it: a prompt alone delays none."""
    usual_ms = before.usual_ms * _rows_per_answer(report)
    is_slow = report.decode_ms > max(SLOW * usual_ms, usual_ms + MIN_SLOW_MS)
    waiting = [span.seq_id for span in report.spans if not span.is_prefill]
    if not (usual_ms and is_slow and waiting):
        return []
    prompts = [span for span in report.spans if span.is_prefill]
    times = {"time": milliseconds(report.decode_ms), "usual": milliseconds(usual_ms)}
    if not prompts:
        text = tr(
            "The decode took {time} instead of about {usual} without any prompt: the machine was slow.",
            **times,
        )
        return [Cause(Stall.HELD_UP, text)]
    parts = [tr("seq {seq_id} ({rows})", seq_id=span.seq_id, rows=rows(span.num_rows)) for span in prompts]
    text = tr_n(
        "Prefill of {sequences} lengthened the step: {time} instead of about {usual}.",
        "Prefill of {sequences} lengthened the step: {time} instead of about {usual}.",
        len(prompts),
        sequences=tr(" and ").join(parts),
        **times,
    )
    return [Cause(Stall.HELD_UP, text)]


def _rows_per_answer(report: StepReport) -> float:
    """A draft token takes at most as long as an answer's own row."""
    answers = [span for span in report.spans if not span.is_prefill]
    num_drafted = sum(span.num_drafted for span in answers)
    return 1 + num_drafted / len(answers) if answers else 1.0


def _left_out(report: StepReport, before: Before) -> list[Cause]:
    """Answers that were running, still are, and got no row."""
    if report.return_code or not report.spans:
        return []
    in_batch = {span.seq_id for span in report.spans}
    running = {slot.seq_id for slot in report.slots if slot.state is SlotState.DECODE}
    left_out = sorted((before.decoding & running) - in_batch)
    if not left_out:
        return []
    prompts = sorted({span.seq_id for span in report.spans if span.is_prefill})
    if prompts:
        text = tr(
            "{sequences} got no row: prefill of {others} took the step.",
            sequences=_names(left_out),
            others=_names(prompts),
        )
    else:
        text = tr("{sequences} got no row: others went first.", sequences=_names(left_out))
    return [Cause(Stall.HELD_UP, text)]


def _no_batch(report: StepReport) -> list[Cause]:
    if report.spans or report.return_code or not report.waiting or not has_run(report):
        return []
    reasons = ", ".join(sorted({tr(WAIT_REASONS[one.reason]) for one in report.waiting}))
    text = tr("Nothing could be computed; all work is on hold: {reasons}.", reasons=reasons)
    return [Cause(Stall.HELD_UP, text)]


def _saving_texts(report: StepReport) -> str:
    return "; ".join(tr_said(words(event)) for event in report.events if event.kind in _SAVING)


def _names(seq_ids: list[int]) -> str:
    return tr("seq {seq_id}", seq_id=", ".join(map(str, seq_ids)))
