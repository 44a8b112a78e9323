import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from app.inspector.events import KIND, STEP, TAB, TEXT, TRIM, Clock, EventFilter, EventList, EventsPanel
from app.inspector.recording import MAX_EVENTS, Journal, JournalEntry, Recording
from app.protocol.events import Event, EventKind, Told
from tests.inspector.reports import report

FORK = Told(EventKind.FORK, "forked sequence 0 into 1", 1, "sums")
EVICT = Told(EventKind.EVICT, "evicted 412 tokens", 0, "notes")
NATIVE = Told(EventKind.NATIVE, "cudaMalloc failed: out of memory")


def event(number: int, kind: EventKind = EventKind.LEASE) -> Event:
    return Told(kind, f"event {number}", number % 2, "sums")


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[EventsPanel]:
    panel = EventsPanel(Recording())
    qtbot.addWidget(panel)
    panel.resize(700, 200)
    panel.set_titles({"sums": "Sums"})
    panel.show()
    qtbot.waitExposed(panel)
    yield panel


def happen(panel: EventsPanel, *numbers: int) -> None:
    panel.recording.append(report(number, events=(event(number),)) for number in numbers)
    panel.draw()


def lines(panel: EventsPanel) -> list[str]:
    return [panel.events.index(row, TEXT).data() for row in range(panel.events.rowCount())]


def test_events_that_came_while_it_was_hidden_are_there(panel: EventsPanel) -> None:
    panel.hide()
    panel.recording.append(report(number, events=(event(number),)) for number in range(3))
    panel.show()
    assert lines(panel) == ["event 0", "event 1", "event 2"]


def test_the_last_events_of_all_are_in_view_though_no_drawing_follows(
    panel: EventsPanel, qapp: QApplication
) -> None:
    for number in range(50):
        happen(panel, number)
        for _ in range(3):
            qapp.processEvents()
        assert panel.table.is_at_end


def test_the_newest_stays_in_view_until_the_user_scrolls_up(panel: EventsPanel, qtbot: QtBot) -> None:
    happen(panel, *range(50))
    assert panel.table.is_at_end
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    panel.table.verticalScrollBar().triggerAction(
        panel.table.verticalScrollBar().SliderAction.SliderToMinimum
    )
    assert not panel.follow.isChecked()
    happen(panel, *range(50, 60))
    assert panel.table.verticalScrollBar().value() == 0


def test_at_the_end_it_follows_again(panel: EventsPanel) -> None:
    happen(panel, *range(50))
    bar = panel.table.verticalScrollBar()
    bar.triggerAction(bar.SliderAction.SliderToMinimum)
    bar.triggerAction(bar.SliderAction.SliderToMaximum)
    assert panel.follow.isChecked()
    bar.triggerAction(bar.SliderAction.SliderToMinimum)
    panel.follow.click()
    assert panel.table.is_at_end


def test_a_smaller_panel_still_shows_the_newest(panel: EventsPanel) -> None:
    happen(panel, *range(50))
    panel.resize(700, 120)
    assert panel.table.is_at_end


def test_kinds_are_chosen_from_a_menu(panel: EventsPanel) -> None:
    panel.recording.append([report(1, events=(event(1), event(2, EventKind.EVICT)))])
    panel.draw()
    for action in panel.kinds.choices():
        action.setChecked(action.data() == EventKind.EVICT)
    assert lines(panel) == ["event 2"]
    assert panel._kinds_button.text() == f"Kinds 1/{len(EventKind)}"


def test_the_menu_of_kinds_stays_open_for_the_next_one(panel: EventsPanel, qtbot: QtBot) -> None:
    happen(panel, 1)
    panel.kinds.popup(panel.mapToGlobal(panel.rect().topLeft()))
    lease = panel.kinds.choices()[0]
    qtbot.mouseClick(panel.kinds, Qt.MouseButton.LeftButton, pos=panel.kinds.actionGeometry(lease).center())
    assert panel.kinds.isVisible()
    assert lines(panel) == []
    panel.kinds.close()
    next(action for action in panel.kinds.actions() if action.text() == "All kinds").trigger()
    assert lines(panel) == ["event 1"]


def test_the_search_field_narrows_the_lines(panel: EventsPanel) -> None:
    happen(panel, 1, 2, 3)
    panel.search.setText("EVENT 2")
    assert lines(panel) == ["event 2"]


def test_only_the_chosen_sequence_can_be_shown(panel: EventsPanel) -> None:
    happen(panel, 1, 2, 3)
    assert not panel.only_selected.isEnabled()
    panel.select_sequence(1)
    assert len(lines(panel)) == 3
    panel.only_selected.click()
    assert lines(panel) == ["event 1", "event 3"]
    panel.select_sequence(0)
    assert lines(panel) == ["event 2"]


def test_chosen_lines_are_copied_whole(panel: EventsPanel, qtbot: QtBot) -> None:
    happen(panel, 1, 2, 3)
    panel.table.selectRow(1)
    qtbot.keyClick(panel.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().endswith("slot taken\t0\tSums\tevent 2\n")


@pytest.mark.parametrize(("name", "start"), [("events.txt", "1\t"), ("events.jsonl", '{"step": 1')])
def test_what_is_shown_is_exported(panel: EventsPanel, tmp_path: Path, name: str, start: str) -> None:
    happen(panel, 1, 2)
    panel.search.setText("event 1")
    panel.export(tmp_path / name)
    text = (tmp_path / name).read_text()
    assert text.startswith(start)
    assert text.count("\n") == 1


def test_an_export_that_fails_says_why(panel: EventsPanel, tmp_path: Path) -> None:
    panel.export(tmp_path / "missing" / "events.txt")
    assert panel._notice.isVisible()
    assert "No such file or directory" in panel._notice.text()


def test_a_line_chosen_by_the_user_shows_its_step_everywhere(panel: EventsPanel, qtbot: QtBot) -> None:
    happen(panel, 7, 8)
    panel.activateWindow()
    place = panel.table.visualRect(panel.events.index(0, TEXT)).center()
    with qtbot.waitSignal(panel.step_selected) as selected:
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert selected.args == [7]


def test_another_model_starts_afresh(panel: EventsPanel) -> None:
    happen(panel, 1, 2)
    panel.recording.start(None)
    panel.reset()
    assert lines(panel) == []


def test_buttons_without_words_have_a_name(panel: EventsPanel) -> None:
    buttons = panel.findChildren(QToolButton)
    assert all(button.text() or button.accessibleName() for button in buttons)


def journal_of(*events: Event) -> Journal[Event]:
    journal: Journal[Event] = Journal(MAX_EVENTS)
    for step, event in enumerate(events, start=1):
        journal.append(JournalEntry(step, float(step), event))
    return journal


@pytest.fixture
def events(qtbot: QtBot) -> EventList:
    events = EventList()
    events.set_titles({"sums": "Sums", "notes": "Notes"})
    return events


def texts(events: EventList) -> list[str]:
    return [events.index(row, TEXT).data() for row in range(events.rowCount())]


def test_each_event_is_a_line_with_its_step_kind_and_tab(events: EventList) -> None:
    events.follow(journal_of(EVICT, FORK))
    line = [events.index(1, column).data() for column in (STEP, KIND, TAB, TEXT)]
    assert line == ["2", "fork", "Sums", "forked sequence 0 into 1"]


def test_it_is_a_proper_model_and_only_new_lines_are_added(events: EventList) -> None:
    QAbstractItemModelTester(events, QAbstractItemModelTester.FailureReportingMode.Fatal, events)
    journal = journal_of(EVICT)
    events.follow(journal)
    journal.append(JournalEntry(2, 2.0, FORK))
    assert events.read_on()
    assert not events.read_on()
    assert texts(events) == [EVICT.text, FORK.text]


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (EventFilter(), [EVICT, FORK, NATIVE]),
        (EventFilter(kinds=frozenset({EventKind.FORK, EventKind.NATIVE})), [FORK, NATIVE]),
        (EventFilter(seq_id=0), [EVICT]),
        (EventFilter(needle="CUDA"), [NATIVE]),
        (EventFilter(needle="notes"), [EVICT]),  # also by the tab
        (EventFilter(kinds=frozenset()), []),
    ],
)
def test_lines_are_filtered_by_kind_sequence_and_words(
    events: EventList, wanted: EventFilter, shown: list[Event]
) -> None:
    journal = journal_of(EVICT, FORK, NATIVE)
    events.follow(journal)
    events.set_filter(wanted)
    assert texts(events) == [event.text for event in shown]
    journal.append(JournalEntry(4, 4.0, EVICT))
    assert events.read_on() == (EVICT in shown)


def test_the_lines_are_bounded(events: EventList) -> None:
    journal = journal_of()
    events.follow(journal)
    for step in range(MAX_EVENTS + TRIM + 1):
        journal.append(JournalEntry(step, 0.0, FORK))
        if step % 1000 == 0:
            events.read_on()
    events.read_on()
    assert events.rowCount() == MAX_EVENTS
    assert events.index(MAX_EVENTS - 1, STEP).data() == f"{MAX_EVENTS + TRIM:,}"


def test_lines_are_taken_along_as_text_and_as_json(events: EventList) -> None:
    events.clock = Clock(start=0.5)
    events.follow(journal_of(FORK, NATIVE))
    assert events.as_text([0]) == "1\t0.500 s\tfork\t1\tSums\tforked sequence 0 into 1\n"
    first, second = map(json.loads, events.as_json_lines([0, 1]).splitlines())
    assert first == {
        "step": 1,
        "time": "0.500 s",
        "kind": "fork",
        "seq_id": 1,
        "chat_id": "sums",
        "tab": "Sums",
        "text": "forked sequence 0 into 1",
    }
    assert (second["seq_id"], second["tab"]) == (None, None)


def test_live_events_carry_the_time_of_day() -> None:
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}", Clock().text(12.5))
