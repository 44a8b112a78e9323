import json
import re

import pytest
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.inspector.event_list import KIND, STEP, TAB, TEXT, TRIM, Clock, EventFilter, EventList
from app.inspector.logbook import MAX_EVENTS, Entry, Journal
from app.protocol.events import Event, EventKind, Told

FORK = Told(EventKind.FORK, "forked sequence 0 into 1", 1, "sums")
EVICT = Told(EventKind.EVICT, "evicted 412 tokens", 0, "notes")
NATIVE = Told(EventKind.NATIVE, "cudaMalloc failed: out of memory")


def journal_of(*events: Event) -> Journal[Event]:
    journal: Journal[Event] = Journal(MAX_EVENTS)
    for step, event in enumerate(events, start=1):
        journal.append(Entry(step, float(step), event))
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
    journal.append(Entry(2, 2.0, FORK))
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
    journal.append(Entry(4, 4.0, EVICT))
    assert events.read_on() == (EVICT in shown)


def test_the_lines_are_bounded(events: EventList) -> None:
    journal = journal_of()
    events.follow(journal)
    for step in range(MAX_EVENTS + TRIM + 1):
        journal.append(Entry(step, 0.0, FORK))
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
