from dataclasses import replace

from app.inspector.logbook import Entry, Journal, Logbook
from app.protocol.events import EventKind, Told
from app.protocol.report import CellCheck
from tests.inspector.reports import report


def test_a_reader_gets_what_is_new_to_it() -> None:
    journal: Journal[str] = Journal(3)
    for number, word in enumerate("abcde"):
        journal.append(Entry(number, 0.0, word))
    assert [entry.what for entry in journal.new_since(3)] == ["d", "e"]
    assert [entry.what for entry in journal.new_since(0)] == ["c", "d", "e"]  # the first two are forgotten
    assert journal.new_since(5) == []


def test_events_keep_the_step_they_happened_in() -> None:
    log = Logbook()
    log.note(report(7, events=(Told(EventKind.FORK, "forked", 1, "sums"),)))
    (entry,) = log.events.entries
    assert (entry.step, entry.what.text) == (7, "forked")


def test_the_first_disagreement_is_kept() -> None:
    log = Logbook()
    first = CellCheck(3, 100, "one more")
    for check in (CellCheck(1, 100), first, CellCheck(5, 100, "two more"), CellCheck(9, 100)):
        log.note(replace(report(check.step), last_check=check))
    assert log.disagreement == first
