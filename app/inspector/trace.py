"""A recording in the Trace Event Format, which Perfetto and chrome://tracing open.

One process: a track for the batcher with the phases of each step, and one for each sequence with its part of
it; counters for cells and waiting requests; marks for events. Knows no widget and no thread of its own.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.inspector.chat_names import chat_name
from app.inspector.event_words import words
from app.inspector.recording import Recording
from app.inspector.recording_file import write_lines
from app.inspector.stalls import deliver_ms, has_run
from app.protocol.events import Event
from app.protocol.report import PauseState, Span, StepReport

PROCESS = 1
BATCHER = 1  # its track
FIRST_SEQUENCE = 10  # the track of sequence 0

TraceEvent = dict[str, Any]


def save(recording: Recording, path: Path) -> None:
    """Replaces the file in one step. Raises OSError."""
    write_lines(path, _lines(recording))


def trace_events(recording: Recording) -> Iterator[TraceEvent]:
    """Every report has its counters, every step its phases. Times in microseconds from the first step on."""
    names: dict[int, str] = {}  # of the tracks of sequences, by the chat that was in each last
    clock = _Clock()
    for report in recording.steps:
        begin_us = clock.place(report)
        if has_run(report):
            yield from _phases(report, begin_us)
        for span in report.spans:
            title = chat_name(span.chat_id, recording.titles)
            names[span.seq_id] = f"seq {span.seq_id} · {title}"
            yield _part(span, report, begin_us, title)
        for event in report.events:
            if event.seq_id is not None:
                names.setdefault(event.seq_id, f"seq {event.seq_id}")
            yield _mark(event, report, begin_us)
        if report.pause:
            yield _pause_mark(report.pause, report, begin_us)
        yield from _counters(report, begin_us)
    yield from _metadata(recording, names)


class _Clock:
    """Gives each report its time, never before the end of the previous one."""

    def __init__(self) -> None:
        self._first_s = 0.0
        self._end_us = 0.0

    def place(self, report: StepReport) -> float:
        self._first_s = self._first_s or report.started_at
        began_us = (report.started_at - self._first_s) * 1e6 if report.started_at else 0.0
        begin_us = max(self._end_us, began_us)
        self._end_us = begin_us + 1000 * (report.schedule_ms + report.decode_ms + report.update_ms)
        return begin_us


def _phases(report: StepReport, begin_us: float) -> Iterator[TraceEvent]:
    """The step and, within it, what it consists of."""
    lengths_ms = {
        "schedule": report.schedule_ms - report.draft_ms,
        **({"draft model": report.draft_ms} if report.draft_ms else {}),
        "decode": report.decode_ms,
        "sample": report.sample_ms,
        "deliver": deliver_ms(report),
    }
    values = {"step": report.step, "rows": report.num_rows, "return code": report.return_code}
    yield _complete(f"step {report.step}", "step", BATCHER, begin_us, sum(lengths_ms.values()), values)
    for name, length_ms in lengths_ms.items():
        yield _complete(name, "phase", BATCHER, begin_us, length_ms, {"step": report.step})
        begin_us += 1000 * length_ms


def _part(span: Span, report: StepReport, begin_us: float, title: str) -> TraceEvent:
    name = "read ahead" if span.is_ahead else "prefill" if span.is_prefill else "decode"
    values = {
        "step": report.step,
        "tab": title,
        "rows": span.num_rows,
        "first position": span.first_pos,
        "last position": span.first_pos + span.num_rows - 1,
        "logits wanted": span.wants_logits,
        "tokens generated": span.num_generated_tokens,
        "request": span.request_id,
    }
    if span.num_drafted:
        values |= {"drafted rows": span.num_drafted, "drafted rows kept": span.num_kept}
    decode_us = begin_us + 1000 * report.schedule_ms
    return _complete(name, name, FIRST_SEQUENCE + span.seq_id, decode_us, report.decode_ms, values)


def _complete(
    name: str, category: str, track: int, begin_us: float, length_ms: float, values: dict[str, Any]
) -> TraceEvent:
    """Rounds begin and end, not the length, so that consecutive spans never overlap."""
    begin, end = round(begin_us, 3), round(begin_us + 1000 * length_ms, 3)
    return _event("X", name, track, begin) | {"cat": category, "dur": round(end - begin, 3), "args": values}


def _mark(event: Event, report: StepReport, at_us: float) -> TraceEvent:
    track = BATCHER if event.seq_id is None else FIRST_SEQUENCE + event.seq_id
    values = {"step": report.step, "what": words(event)}
    return _event("i", event.kind.value, track, at_us) | {"cat": "event", "s": "t", "args": values}


def _pause_mark(pause: PauseState, report: StepReport, at_us: float) -> TraceEvent:
    values = {"step": report.step, "what": pause.reason or "by somebody"}
    return _event("i", "batcher paused", BATCHER, at_us) | {"cat": "event", "s": "p", "args": values}


def _counters(report: StepReport, at_us: float) -> Iterator[TraceEvent]:
    """The three kinds of cells add up to all of them."""
    cells = report.cells
    own = cells.num_used - cells.num_shared
    parts = {"used": own, "shared": cells.num_shared, "free": cells.num_free}
    yield _event("C", "KV cells", BATCHER, at_us) | {"args": parts}
    yield _event("C", "waiting chats", BATCHER, at_us) | {"args": {"waiting": report.num_waiting}}


def _metadata(recording: Recording, names: dict[int, str]) -> Iterator[TraceEvent]:
    process = f"Skein – {recording.model.name}" if recording.model else "Skein"
    yield _event("M", "process_name", BATCHER, 0) | {"args": {"name": process}}
    tracks = {BATCHER: "batcher"} | {FIRST_SEQUENCE + seq_id: names[seq_id] for seq_id in sorted(names)}
    for track, name in tracks.items():
        yield _event("M", "thread_name", track, 0) | {"args": {"name": name}}
        yield _event("M", "thread_sort_index", track, 0) | {"args": {"sort_index": track}}


def _event(phase: str, name: str, track: int, at_us: float) -> TraceEvent:
    return {"ph": phase, "name": name, "pid": PROCESS, "tid": track, "ts": round(at_us, 3)}


def _lines(recording: Recording) -> Iterator[str]:
    """One event a line, so that a large file can be read with a pager."""
    yield '{"displayTimeUnit": "ms", "traceEvents": ['
    former = ""
    for event in trace_events(recording):
        if former:
            yield f"{former},"
        former = json.dumps(event)
    yield former
    yield "]}"
