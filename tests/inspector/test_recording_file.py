import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.engine.engine import Engine
from app.inspector import recording_file, trace
from app.inspector.event_words import words
from app.inspector.recording import Recording
from app.inspector.recording_file import lines, load, save, write_lines
from app.inspector.stalls import has_run
from app.protocol import recording as file_format
from app.protocol.events import EventKind, Leased, Told
from app.protocol.recording import Folding, RecordingFileError
from app.protocol.report import CellMap, CellUsage, PauseState, StepReport
from tests.driver import next_turn, request, run
from tests.fakes import model_info
from tests.inspector.steps import busy_step, idle_step, span, step, waiting
from tests.inspector.test_recording import RARE
from tests.inspector.trace_format import check_trace


@pytest.fixture
def recording() -> Recording:
    recording = Recording()
    recording.start(model_info(path=Path("/home/ann/models/fake.gguf")))
    recording.note_titles({"chat 0": "Sums – 34 + 21", "chat 1": "Notes\u2028“x”"})
    recording.token_texts = {4: b" cat", 9: b"\xe2\x80"}
    holders = np.array([[1], [3], [0]], np.uint64)
    recording.cell_map = CellMap(
        np.array([0, 1, -1], np.int32), np.array([4, 9, -1], np.int32), holders, high_water=2
    )
    recording.append([busy_step(1), busy_step(2), RARE, *(busy_step(number) for number in range(4, 10))])
    return recording


@pytest.fixture
def saved(recording: Recording, tmp_path: Path) -> Path:
    """Its lines, as they were before there was a page."""
    path = tmp_path / "steps.jsonl"
    write_lines(path, map(Folding().unfolded, lines(recording)))
    return path


def test_a_recording_is_read_back_as_it_was(recording: Recording, saved: Path) -> None:
    again = load(saved)
    assert list(again.steps) == list(recording.steps)
    assert again.num_seen == 9
    assert (again.titles, again.token_texts) == (recording.titles, recording.token_texts)
    assert (again.columns.figures == recording.columns.figures).all()
    for name in ("pos", "token_ids", "holders"):
        assert np.array_equal(getattr(again.cell_map, name), getattr(recording.cell_map, name))
    assert (again.name, again.is_live, recording.is_live) == ("steps.jsonl", False, True)


def test_packed_steps_are_written_as_the_newest_are(tmp_path: Path) -> None:
    recording = Recording(max_steps=300)
    recording.append(busy_step(number, num_seqs=1) for number in range(350))
    save(recording, tmp_path / "steps.jsonl")
    assert list(load(tmp_path / "steps.jsonl").steps) == list(recording.steps)


def test_events_are_written_in_words(tmp_path: Path) -> None:
    recording, native = Recording(), Told(EventKind.NATIVE, "a line")
    recording.append([replace(step(1), events=(Leased(1, "chat 1", 20, 3), native))])
    leased = {"kind": "lease", "text": "began in sequence 1: 20 tokens cached, 3 to compute"}
    written = json.loads(list(lines(recording))[1])["report"]
    assert written["events"] == [
        leased | {"seq_id": 1, "chat_id": "chat 1"},
        {"kind": "native log", "text": "a line"},
    ]
    save(recording, tmp_path / "events.html")
    [again] = load(tmp_path / "events.html").steps
    assert again.events == (Told(EventKind.LEASE, leased["text"], 1, "chat 1"), native)


def test_of_the_models_place_only_its_name_is_told(recording: Recording, saved: Path) -> None:
    assert b"/home/ann" not in saved.read_bytes()
    assert load(saved).model == replace(recording.model, path=Path("fake.gguf"))


def test_a_cell_map_too_large_for_a_line_is_left_out(recording: Recording, tmp_path: Path) -> None:
    cells = np.zeros(1 << 21, np.int32)
    recording.cell_map = CellMap(cells, cells, np.zeros((1 << 21, 1), np.uint64))
    save(recording, tmp_path / "steps.jsonl")
    assert load(tmp_path / "steps.jsonl").cell_map is None


def test_each_line_is_json_and_each_step_has_one(saved: Path) -> None:
    head, *steps = [json.loads(line) for line in saved.read_text("utf-8").split("\n")[:-1]]
    assert (head["format"], head["version"], head["num_steps"]) == ("skein recording", 1, 9)
    assert [line["report"]["step"] for line in steps] == list(range(1, 10))


def test_tabs_without_a_step_are_not_told_of(recording: Recording, tmp_path: Path) -> None:
    recording.note_titles({"chat 77": "A secret", "chat 9": "Hibernated", "chat w": "Waiting"})
    save(recording, tmp_path / "steps.jsonl")
    assert load(tmp_path / "steps.jsonl").titles.keys() == {"chat 0", "chat 1", "chat 9", "chat w"}


def test_a_recording_without_a_model_can_be_kept_too(tmp_path: Path) -> None:
    save(Recording(), tmp_path / "empty.jsonl")
    again = load(tmp_path / "empty.jsonl")
    assert (again.model, len(again.steps)) == (None, 0)


def test_a_file_is_replaced_only_by_a_complete_one(
    recording: Recording, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()
    monkeypatch.setattr(os, "fsync", _full_disk)
    with pytest.raises(OSError, match="No space left"):
        save(recording, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def _full_disk(_handle: int) -> None:
    raise OSError(28, "No space left on device")


FIRST = "its first line does not fit"
HUGE = "9" * 400


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'{"format":"skein recording"', b'{"format":"other"', FIRST),
        (b'"version":1', b'"version":2', "it has format 2, and this Skein reads format 1"),
        (b'"num_steps":9', b'"num_steps":8', "there is data after the last of its 8 steps"),
        (b'"num_steps":9', b'"num_steps":10', "line 11 of 11 is damaged or missing (it is truncated)"),
        (b'"num_steps":9', b'"num_steps":10001', FIRST),
        (b'"num_steps":9', b'"num_steps":-1', FIRST),
        (b'"n_seq_max":4', b'"n_seq_max":5000', "its model has too many sequences"),
        (b'"n_ctx":512', b'"n_ctx":' + HUGE.encode(), "a number is out of range"),
        (b'"9":"', b'"nine":"', FIRST),
        (b'"pos":"AAAAAAEA', b'"pos":"AAAA', FIRST),
        (b'"step":1,', b'"step":"1",', "line 2 of 10 is damaged"),
        (b'"step":2,', b'"step":0,', "its steps are not in order"),
        (b'"seq_id":3', b'"seq_id":-3', "it has an invalid sequence id"),
        (b'"seq_id":3', b'"seq_id":30000', "it has an invalid sequence id"),
        (b'"num_rows":1,', b'"num_rows":2,', "the rows of a sequence do not match its tokens"),
        (b'"num_rows":1,', b'"num_rows":-1,', "the rows of a sequence do not match its tokens"),
        (b'"num_rows":1,', b'"num_rows":1,"num_drafted":1,', "a step has more draft tokens than rows"),
        (b'"num_rows":1,', b'"num_rows":1,"num_kept":1,', "a step has more draft tokens than rows"),
        (b'"num_rows":1,', b'"num_rows":1,"logits_hashes":"AAAA",', "the hashes of a sequence do not match"),
        (b'"decode_ms":11.0', b'"decode_ms":-1.0', "a time is negative"),
        (b'"decode_ms":11.0', b'"decode_ms":NaN', "a number is out of range"),
        (b'"decode_ms":11.0', b'"decode_ms":1e999', "a number is out of range"),
        (b'"decode_ms":11.0', b'"decode_ms": \t1.5e+16', "a number is out of range"),
        (b'"num_cells":102', b'"num_cells":' + HUGE.encode(), "a number is out of range"),
        (b'"num_cells":102', b'"num_cells":%d' % (2**53 + 1), "a number is out of range"),
        (b'"state":"decode"', b'"state":"asleep"', "line 2 of 10 is damaged"),
        (b'"report":', b'"report":' + b"[" * 5000, "line 2 of 10 is damaged"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_the_reason(
    saved: Path, old: bytes, new: bytes, why: str
) -> None:
    before = saved.read_bytes()
    assert old in before
    saved.write_bytes(before.replace(old, new, 1))
    assert why in refusal(saved)


@pytest.mark.parametrize("content", [b"", b"\n", b"\x00\xff\n", b"[]\n", b"{}\n", b'{"a": 1}\n{"b": 2}\n'])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign.jsonl"
    path.write_bytes(content)
    text = refusal(path)
    assert text.startswith("foreign.jsonl cannot be opened as a recording: its first line does not fit")
    assert text.endswith("Choose a file made with “Export recording”.")


@pytest.mark.parametrize("part", [0.001, 0.5, 0.999])
def test_a_file_that_was_cut_is_refused(saved: Path, part: float) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(part * len(whole))])
    assert "it is truncated" in refusal(saved)


def test_what_stands_in_a_foreign_file_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "secrets.jsonl"
    path.write_text('{"format": "hunter2"}\n')
    assert "hunter2" not in refusal(path)


def test_sizes_are_not_believed(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_format, "MAX_FILE_BYTES", 1000)
    assert "it is larger than" in refusal(saved)
    monkeypatch.setattr(file_format, "MAX_TEXT_BYTES", 1000)
    assert "it is truncated" in refusal(saved)


@pytest.mark.parametrize(
    ("num_values", "why"),
    [(1_000, "it is not a Skein recording"), (500_000, "it has too many values")],
)
def test_a_line_made_to_take_all_memory_is_refused(saved: Path, num_values: int, why: str) -> None:
    many = b'"spans":[' + b"0," * num_values
    saved.write_bytes(saved.read_bytes().replace(b'"spans":[', many, 1))
    assert why in refusal(saved)


def test_a_file_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    assert refusal(tmp_path / "away.jsonl") == "away.jsonl could not be read: No such file or directory."
    assert refusal(tmp_path) == f"{tmp_path.name} could not be read: Is a directory."


def test_what_an_earlier_version_told_of_a_slot_is_ignored(saved: Path) -> None:
    steps = list(load(saved).steps)
    saved.write_bytes(saved.read_bytes().replace(b'"seq_id":', b'"is_repeatable":false,"seq_id":'))
    assert list(load(saved).steps) == steps


def test_steps_of_a_span_without_tokens_are_taken(tmp_path: Path) -> None:
    recording = Recording()
    recording.append([step(1, *(replace(span, token_bytes=b"") for span in busy_step(1).spans))])
    save(recording, tmp_path / "a.jsonl")
    assert list(load(tmp_path / "a.jsonl").steps) == list(recording.steps)


def refusal(path: Path) -> Any:
    with pytest.raises(RecordingFileError) as caught:
        load(path)
    return str(caught.value)


def traced(tmp_path: Path, *reports: Any, titles: dict[str, str] | None = None) -> list[Any]:
    """The events of a written trace that keeps to the format."""
    recording = Recording()
    recording.start(model_info(name="starter"))
    recording.note_titles(titles or {})
    recording.append(reports)
    path = tmp_path / "steps.trace.json"
    trace.save(recording, path)
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
    assert engine.slots.fork("a", "c")
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
    recording_file.save(recording, tmp_path / "steps.jsonl")
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
