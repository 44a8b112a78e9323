import itertools
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog, QMainWindow, QTextEdit
from pytestqt.qtbot import QtBot
from qasync import QEventLoop

from app.bridge import tasks
from app.inspector import recording_file
from app.inspector.batch_timeline import TimelinePanel
from app.inspector.docks import ROWS, InspectorDocks
from app.inspector.events import EventsPanel
from app.inspector.recording import Recording
from app.inspector.recording_file import load, save
from app.inspector.recording_files import PAGE, RECORDINGS, TRACE, ExportDialog
from app.protocol.commands import CheckCells, DescribeTokens
from app.protocol.report import TokenTexts
from tests.fakes import model_info
from tests.inspector.steps import busy_step, idle_step
from tests.inspector.test_recording import RARE
from tests.inspector.trace_format import check_trace

LIVE_TITLES = {"chat 0": "Live tab"}


@pytest.fixture
def docks(qtbot: QtBot) -> Iterator[InspectorDocks]:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.setCentralWidget(QTextEdit())
    window.resize(1000, 700)
    docks = InspectorDocks(window, ((5, (TimelinePanel,)), (5, (EventsPanel,))))
    window.show()
    docks.begin("", model_info())
    docks.set_titles(LIVE_TITLES)
    docks.append("", [busy_step(number) for number in range(1, 31)])
    yield docks


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    recording = Recording()
    recording.note_titles({"chat 0": "Recorded tab"})
    recording.append([busy_step(7), busy_step(8)])
    save(recording, tmp_path / "steps.html")
    return tmp_path / "steps.html"


@pytest.fixture
def told(docks: InspectorDocks) -> list[str]:
    """What the window was told, errors among it."""
    texts: list[str] = []
    docks.files.saved.connect(texts.append)
    docks.files.failed.connect(texts.append)
    return texts


def timeline(docks: InspectorDocks) -> TimelinePanel:
    panel = docks.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    return panel


def tabs_of_rows(docks: InspectorDocks) -> str:
    return str(timeline(docks).rows.index(0, 5).data())


async def test_what_is_shown_is_exported_as_lines_or_as_a_trace(
    qloop: QEventLoop, docks: InspectorDocks, told: list[str], tmp_path: Path
) -> None:
    docks.note_engine_gone()
    docks.files.export(tmp_path / "a.html")
    assert not docks.files.export_action.isEnabled()
    await tasks.finish_all()
    docks.files.export(tmp_path / "a.trace.json")
    await tasks.finish_all()
    assert list(load(tmp_path / "a.html").steps) == list(docks.recording.steps)
    check_trace(json.loads((tmp_path / "a.trace.json").read_text("utf-8")))
    assert told == ["Saved 30 steps in a.html.", "Saved 30 steps in a.trace.json."]
    assert docks.files.export_action.isEnabled()


async def test_where_nothing_can_be_written_it_says_what_to_do(
    qloop: QEventLoop, docks: InspectorDocks, told: list[str], tmp_path: Path
) -> None:
    docks.note_engine_gone()
    docks.files.export(tmp_path / "away" / "a.html")
    await tasks.finish_all()
    [text] = told
    assert text.startswith("a.html could not be written: No such file or directory. Choose another folder")


async def test_a_recorded_file_takes_the_place_of_the_live_steps(
    qloop: QEventLoop, docks: InspectorDocks, recorded: Path
) -> None:
    docks.files.open(recorded)
    await tasks.finish_all()
    assert timeline(docks)._head.text().startswith("Step 8 ")
    assert tabs_of_rows(docks) == "Recorded tab"
    for panel in docks.panels:
        assert panel.recording is docks.shown
        banner = docks.dock(panel.NAME).seat.banner
        assert (banner.isVisible(), banner.text) == (True, "Recording steps.html")
        assert panel.geometry().top() == banner.height()


async def test_live_steps_go_on_behind_a_recorded_file(
    qloop: QEventLoop, docks: InspectorDocks, recorded: Path
) -> None:
    docks.files.open(recorded)
    await tasks.finish_all()
    docks.append("", [busy_step(31)])
    docks.set_titles({"chat 0": "Renamed"})
    assert timeline(docks)._head.text().startswith("Step 8 ")
    assert tabs_of_rows(docks) == "Recorded tab"
    docks.dock("timeline").seat.banner.buttons[0].click()
    assert docks.shown is docks.recording
    assert timeline(docks)._head.text().startswith("Step 31 ")
    assert tabs_of_rows(docks) == "Renamed"
    assert docks.dock("timeline").seat.banner.isHidden()
    assert timeline(docks).geometry().top() == 0


async def test_another_model_does_not_touch_what_is_looked_at(
    qloop: QEventLoop, docks: InspectorDocks, recorded: Path
) -> None:
    docks.files.open(recorded)
    await tasks.finish_all()
    docks.begin("", None)
    assert timeline(docks)._head.text().startswith("Step 8 ")
    docks.show_live()
    assert timeline(docks).message.isVisible()


async def test_nothing_is_asked_of_the_engine_about_what_was_recorded(
    qloop: QEventLoop, docks: InspectorDocks, recorded: Path, qtbot: QtBot
) -> None:
    docks.files.open(recorded)
    await tasks.finish_all()
    with qtbot.assertNotEmitted(docks.commanded):
        timeline(docks).commanded.emit(CheckCells())
    docks.show_live()
    with qtbot.waitSignal(docks.commanded):
        timeline(docks).commanded.emit(CheckCells())


async def test_a_file_that_cannot_be_read_changes_nothing(
    qloop: QEventLoop, docks: InspectorDocks, told: list[str], recorded: Path
) -> None:
    lines = list(recording_file.lines(load(recorded)))
    recorded.write_text("\n".join(lines)[:-9])
    docks.files.open(recorded)
    await tasks.finish_all()
    assert docks.shown is docks.recording
    assert len(told) == 1
    assert "line 3 of 3 is damaged or missing" in told[0]


async def test_no_panel_fails_at_what_a_foreign_file_may_tell(
    qloop: QEventLoop, qtbot: QtBot, tmp_path: Path
) -> None:
    """Numbers and texts at their limits, everywhere where the file format allows them."""
    window = QMainWindow()
    qtbot.addWidget(window)
    window.setCentralWidget(QTextEdit())
    window.resize(1200, 800)
    docks = InspectorDocks(window, ROWS)
    window.show()
    recording = Recording()
    recording.start(model_info(n_ctx=2**53, n_seq_max=1_000, n_ctx_train=-1, cell_bytes=2**53))
    limits = itertools.cycle([2**53, -(2**53), 2**31, -1, 0, 1])
    recording.append([_at_limits(replace(RARE, step=number), limits) for number in range(5)])
    save(recording, tmp_path / "odd.html")
    docks.show_recording(load(tmp_path / "odd.html"))
    for panel in docks.panels:
        docks.show_panel(panel.NAME)
        panel.select_step(3)
        panel.select_sequence(1)
        assert not panel.grab().isNull()
    docks.show_live()


def _at_limits(value: Any, limits: Iterator[int], name: str = "") -> Any:
    """The same value with other numbers and longer texts in it, but for what is checked when it is read."""
    is_checked = name in ("seq_id", "num_rows", "num_drafted", "num_kept", "step", "token_bytes")
    if is_checked or isinstance(value, bool | StrEnum):
        return value
    if isinstance(value, int | float):
        limit = type(value)(next(limits))
        return abs(limit) if name.endswith("_ms") or name == "started_at" else limit
    if isinstance(value, str):
        return f"<b>\u202e&amp;\n{value}" * 50
    if isinstance(value, tuple):
        return tuple(_at_limits(one, limits) for one in value)
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
        return replace(value, **{one: _at_limits(getattr(value, one), limits, one) for one in names})  # type: ignore[type-var]
    return value


def test_the_dialogs_offer_what_can_be_read_and_written(docks: InspectorDocks) -> None:
    window = docks.parent()
    docks.files.open_action.trigger()
    docks.files.export_action.trigger()
    opening, saving = window.findChildren(QFileDialog)
    assert opening.nameFilters()[0] == RECORDINGS
    assert saving.nameFilters() == [PAGE, TRACE]
    assert saving.selectedFiles()[0].endswith("skein-fake.html")
    saving.filterSelected.emit(TRACE)
    assert saving.selectedFiles()[0].endswith("skein-fake.trace.json")
    for dialog in (opening, saving):
        dialog.reject()


@pytest.mark.parametrize("is_told", [True, False])
async def test_prompts_and_answers_go_along_only_where_the_box_stays_ticked(
    qloop: QEventLoop, docks: InspectorDocks, tmp_path: Path, is_told: bool
) -> None:
    docks.note_engine_gone()  # nobody is asked for the texts of tokens
    docks.files._ask_what(tmp_path / "a.html")
    window = docks.parent()
    assert isinstance(window, QMainWindow)
    [dialog] = window.findChildren(ExportDialog)
    assert dialog.box.isChecked()
    dialog.box.setChecked(is_told)
    dialog._on_export()
    await tasks.finish_all()
    again = load(tmp_path / "a.html")
    assert bool(again.titles) == is_told
    assert any(output.text for report in again.steps for output in report.outputs) == is_told


async def test_texts_that_nobody_looked_at_are_asked_for(
    qloop: QEventLoop, docks: InspectorDocks, tmp_path: Path
) -> None:
    def answer(command: object) -> None:
        assert isinstance(command, DescribeTokens)
        asked.append(command.token_ids)
        texts = tuple(f"<{one}>".encode() for one in command.token_ids)
        docks.append("", [replace(idle_step(30), answers=(TokenTexts(command.token_ids, texts),))])

    asked: list[tuple[int, ...]] = []
    docks.commanded.connect(answer)
    docks.recording.token_texts[101] = b"known"
    docks.files.export(tmp_path / "a.html")
    await tasks.finish_all()
    assert asked == [tuple(range(102, 131))]
    texts = load(tmp_path / "a.html").token_texts
    assert texts == {101: b"known"} | {one: f"<{one}>".encode() for one in range(102, 131)}


async def test_the_steps_that_are_told_are_those_in_the_file(
    qloop: QEventLoop, docks: InspectorDocks, told: list[str], tmp_path: Path
) -> None:
    docks.note_engine_gone()
    docks.append("", [idle_step(30), idle_step(30)])
    docks.files.export(tmp_path / "a.html")
    await tasks.finish_all()
    assert told == [
        "Saved 30 steps in a.html. It has 2 more reports, from between two steps.",
    ]
    assert len(load(tmp_path / "a.html").steps) == 32


def test_the_menu_has_both(docks: InspectorDocks) -> None:
    window = docks.parent()
    assert isinstance(window, QMainWindow)
    texts = [action.text() for action in docks.menu(window).actions()]
    assert texts[-2:] == ["&Open recording…", "&Export recording…"]
