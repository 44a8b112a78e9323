import json
import stat
from pathlib import Path
from unittest.mock import Mock

import pytest

from app.system.crashes import MAX_REPORTS, RunMarker, keep_report, was_bus_error


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "running.json"


def start(path: Path) -> RunMarker:
    marker = RunMarker(path)
    marker.begin()
    return marker


def test_after_two_crashes_in_a_row_the_third_start_is_safe(path: Path) -> None:
    assert [start(path).is_safe_mode for _ in range(4)] == [False, False, True, True]


def test_an_end_in_order_makes_the_next_start_a_usual_one(path: Path) -> None:
    for _ in range(3):
        marker = start(path)
    assert marker.is_safe_mode
    marker.end()
    assert start(path).num_crashes == 0


def test_a_run_that_lasted_a_while_breaks_the_row(path: Path) -> None:
    start(path)
    start(path).settle()
    assert [start(path).num_crashes for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"num_crashes": "x"}', "[" * 100_000, "\0" * 20])
def test_a_marker_that_cannot_be_read_is_one_crash(path: Path, content: str) -> None:
    path.write_text(content)
    assert start(path).num_crashes == 1


def test_a_crash_while_the_marker_is_written_counts_like_any(path: Path, monkeypatch) -> None:
    start(path)
    marker = start(path)
    with monkeypatch.context() as patched:
        patched.setattr(json, "dump", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):  # as far as it came
            marker.note_model(path)
    assert start(path).num_crashes == 2


def test_where_nothing_can_be_written_every_start_is_a_usual_one(tmp_path: Path, caplog) -> None:
    for _ in range(3):
        marker = start(tmp_path / "nowhere" / "running.json")
        assert not marker.is_safe_mode
    marker.settle()
    marker.end()
    assert "could not be written" in caplog.text


def test_what_a_crash_wrote_is_kept_apart(tmp_path: Path) -> None:
    file = tmp_path / "crash.log"
    assert keep_report(file) is None
    file.touch()
    assert keep_report(file) is None
    file.write_text("Fatal Python error: Aborted")
    kept = keep_report(file)
    assert kept
    assert kept.read_text() == "Fatal Python error: Aborted"
    assert not file.exists()


def test_only_the_newest_reports_stay(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"crash-2020010{number}-120000.log").touch()
    (tmp_path / "crash.log").write_text("x")
    kept = keep_report(tmp_path / "crash.log")
    left = sorted(tmp_path.iterdir())
    assert len(left) == MAX_REPORTS
    assert left[-1] == kept


def test_nobody_else_can_read_the_marker(path: Path) -> None:
    path.touch(mode=0o644)
    start(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_model_of_the_last_run_is_known(path: Path) -> None:
    marker = start(path)
    assert marker.last_model == ""
    marker.note_model(Path("/models/a.gguf"))
    marker.settle()
    again = start(path)
    assert (again.last_model, again.num_crashes) == ("/models/a.gguf", 0)
    assert start(path).last_model == ""  # the second run had none


@pytest.mark.parametrize(
    ("text", "is_bus_error"),
    [("Fatal Python error: Bus error\n\nThread", True), ("Fatal Python error: Aborted\n\nBus error", False)],
)
def test_a_file_that_could_not_be_read_any_more_is_told_from_other_crashes(
    tmp_path: Path, text: str, is_bus_error: bool
) -> None:
    report = tmp_path / "crash-1.log"
    assert not was_bus_error(report)
    report.write_text(text)
    assert was_bus_error(report) == is_bus_error
