import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.engine.engine import Engine
from app.inspector import recording_file, trace
from app.inspector.event_words import words
from app.inspector.recording import Recording
from app.inspector.recording_file import Snapshot
from app.inspector.stalls import has_run
from app.protocol.events import EventKind, Told
from app.protocol.report import CellUsage, PauseState, StepReport
from tests.driver import next_turn, request, run
from tests.fakes import model_info
from tests.inspector.steps import busy_step, idle_step, span, step, waiting
from tests.inspector.test_packed_steps import RARE
from tests.inspector.trace_format import check_trace


def traced(tmp_path: Path, *reports: Any, titles: dict[str, str] | None = None) -> list[Any]:
    """The events of a written trace that keeps to the format."""
    recording = Recording()
    recording.start(model_info(name="starter"))
    recording.note_titles(titles or {})
    recording.append(reports)
    path = tmp_path / "steps.trace.json"
    trace.save(Snapshot.of(recording), path)
    written = json.loads(path.read_text("utf-8"))
    check_trace(written)
    events: list[Any] = written["traceEvents"]
    return events


def of(events: list[Any], phase: str, name: str = "") -> list[Any]:
    return [event for event in events if event["ph"] == phase and name in ("", event["name"])]


def test_no_step_is_lost(tmp_path: Path) -> None:
    reports = [busy_step(number) for number in range(700)]
    events = traced(tmp_path, *reports)
    steps = [event for event in of(events, "X") if event["cat"] == "step"]
    assert [event["args"]["step"] for event in steps] == list(range(700))
    assert [event["args"]["rows"] for event in steps] == [report.num_rows for report in reports]
    assert len(of(events, "X", "prefill")) + len(of(events, "X", "decode")) == sum(
        len(report.spans) + 1 for report in reports
    )


def test_a_sequences_part_stands_on_its_own_track(tmp_path: Path) -> None:
    titles = {"chat 0": "Sums “a”", "chat 2": "Notes"}
    first = step(1, span(0, 50), span(2, 0, 30, is_prefill=True))
    events = traced(tmp_path, first, titles=titles)
    names = {event["tid"]: event["args"]["name"] for event in of(events, "M", "thread_name")}
    assert names == {1: "batcher", 10: "seq 0 · Sums “a”", 12: "seq 2 · Notes"}
    [part] = of(events, "X", "prefill")
    assert (part["tid"], part["ts"], part["dur"]) == (12, 100.0, 10_000.0)
    assert part["args"] == {
        "step": 1,
        "tab": "Notes",
        "rows": 30,
        "first position": 0,
        "last position": 29,
        "logits wanted": True,
        "tokens generated": 0,
        "request": "request 2",
    }


def test_the_phases_of_a_step_follow_one_another_within_it(tmp_path: Path) -> None:
    events = traced(tmp_path, step(1, span(0, 50)), step(2, span(0, 51)))
    batcher = [event for event in of(events, "X") if event["tid"] == 1]
    whole, *phases = batcher[:5]
    assert (whole["name"], whole["ts"], whole["dur"]) == ("step 1", 0.0, 10_600.0)
    assert [(phase["name"], phase["ts"], phase["dur"]) for phase in phases] == [
        ("schedule", 0.0, 100.0),
        ("decode", 100.0, 10_000.0),
        ("sample", 10_100.0, 200.0),
        ("deliver", 10_300.0, 300.0),
    ]
    assert batcher[5]["ts"] == 20_000.0


def test_what_a_draft_model_took_is_a_phase_of_its_own(tmp_path: Path) -> None:
    drafted = replace(step(1, span(0, 50)), draft_ms=0.04)
    whole, *phases = [event for event in of(traced(tmp_path, drafted), "X") if event["tid"] == 1]
    assert [(phase["name"], phase["dur"]) for phase in phases[:2]] == [
        ("schedule", 60.0),
        ("draft model", 40.0),
    ]
    assert whole["dur"] == 10_600.0


def test_cells_and_waiting_chats_are_counted_at_every_step(tmp_path: Path) -> None:
    full = step(1, cells=CellUsage(100, 60, 20), waiting=(waiting(), waiting()))
    events = traced(tmp_path, full, idle_step(1))
    cells, _ = of(events, "C", "KV cells")
    assert cells["args"] == {"used": 40, "shared": 20, "free": 40}
    assert [event["args"]["waiting"] for event in of(events, "C", "waiting chats")] == [2, 0]


def test_events_are_marks_on_the_track_of_their_sequence(tmp_path: Path) -> None:
    forked = Told(EventKind.FORK, "forked sequence 0 to 1", 0)
    native = Told(EventKind.NATIVE, "a warning")
    paused = replace(idle_step(2), pause=PauseState("An answer ended."))
    events = traced(tmp_path, step(1, span(0, 50), events=(forked, native)), paused)
    assert [(mark["name"], mark["tid"], mark["args"]["what"]) for mark in of(events, "i")] == [
        ("fork", 10, "forked sequence 0 to 1"),
        ("native log", 1, "a warning"),
        ("batcher paused", 1, "An answer ended."),
    ]


def test_an_event_of_a_sequence_that_had_no_row_has_a_named_track_too(tmp_path: Path) -> None:
    released = Told(EventKind.RELEASE, "released", 5, "chat 5")
    events = traced(tmp_path, step(1, span(0, 50), events=(released,)), titles={"chat 5": "Poem"})
    names = {event["tid"]: event["args"]["name"] for event in of(events, "M", "thread_name")}
    assert names[15] == "seq 5"


def test_times_never_run_backwards_whatever_the_clock_says(tmp_path: Path) -> None:
    steps = [step(1, started_at=0.0), step(2, started_at=5.0), step(3, started_at=4.0), step(4)]
    events = traced(tmp_path, *steps, RARE)
    began = [event["ts"] for event in of(events, "X") if event["cat"] == "step"]
    assert began == sorted(began)


@pytest.mark.parametrize("reports", [(), (idle_step(1),)])
def test_a_recording_without_steps_is_a_trace_too(tmp_path: Path, reports: tuple[Any, ...]) -> None:
    events = traced(tmp_path, *reports)
    [process] = of(events, "M", "process_name")
    assert process["args"]["name"] == "Skein – starter"


def test_what_a_real_engine_did_is_exported_whole(backend: Any, tmp_path: Path) -> None:
    """Prompts, answers, a fork, an aborted answer: as a trace, and as lines that are read back."""
    engine = Engine(backend)
    first = request("a cat", "a")
    reports = run(engine, first, request("the sea", "b")).reports
    assert engine.fork("a", "c")
    for one in (next_turn(first, "sat", "and then?"), request("the moon", "c", max_tokens=50)):
        engine.add_request(one)
    reports += [engine.step() for _ in range(3)]
    engine.abort(one.request_id)
    reports += run(engine).reports
    engine.close()
    titles = {"a": "A cat", "b": "The sea"}
    events = traced(tmp_path, *reports, titles=titles)
    ran = [report.step for report in reports if has_run(report)]
    assert [event["args"]["step"] for event in of(events, "X") if event["cat"] == "step"] == ran
    recording = Recording()
    recording.append(reports)
    recording_file.save(Snapshot.of(recording), tmp_path / "steps.jsonl")
    again = list(recording_file.load(tmp_path / "steps.jsonl").steps)
    assert again == [replace(report, cell_map=None, events=in_words(report)) for report in reports]


def test_the_checker_finds_what_does_not_fit(tmp_path: Path) -> None:
    events = traced(tmp_path, busy_step(1))
    for change in ({"ts": -1}, {"ts": float("nan")}, {"dur": "1"}, {"ph": "Z"}, {"tid": 1.5}, {"more": 1}):
        spoiled = [events[0] | change, *events[1:]]
        with pytest.raises(AssertionError):
            check_trace({"displayTimeUnit": "ms", "traceEvents": spoiled})
    overlapping = [*events, events[0] | {"ts": events[0]["ts"] + 1}]
    with pytest.raises(AssertionError):
        check_trace({"displayTimeUnit": "ms", "traceEvents": overlapping})


def in_words(report: StepReport) -> tuple[Told, ...]:
    return tuple(Told(event.kind, words(event), event.seq_id, event.chat_id) for event in report.events)
