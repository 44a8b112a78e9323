"""Rare entries of the reports that are kept longer than steps: events, leases, a failed check.

Kept apart from the steps, so that a panel that was hidden need not read thousands of them. Knows no widget.
GUI thread.
"""

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from app.protocol.events import Event
from app.protocol.report import CellCheck, Lease, StepReport

MAX_EVENTS = 20_000
MAX_LEASES = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """`what` happened in `step`, which began at `started_at` (`time.perf_counter()` seconds)."""

    step: int
    started_at: float
    what: T


class Journal(Generic[T]):
    """The newest entries. `num_seen` counts all ever added: a reader asks for those after its own count."""

    def __init__(self, max_entries: int) -> None:
        self.entries: deque[Entry[T]] = deque(maxlen=max_entries)
        self.num_seen = 0

    def append(self, entry: Entry[T]) -> None:
        self.entries.append(entry)
        self.num_seen += 1

    def new_since(self, num_seen: int) -> list[Entry[T]]:
        """The entries after the first `num_seen`, as far as they are still kept, oldest first."""
        num_new = max(0, min(self.num_seen - num_seen, len(self.entries)))
        return list(islice(self.entries, len(self.entries) - num_new, None))


class Logbook:
    """Empty for each new model."""

    def __init__(self) -> None:
        self.events: Journal[Event] = Journal(MAX_EVENTS)
        self.leases: Journal[Lease] = Journal(MAX_LEASES)
        self.disagreement: CellCheck | None = None  # the first one is the evidence

    def note(self, report: StepReport) -> None:
        for event in report.events:
            self.events.append(Entry(report.step, report.started_at, event))
        for lease in report.leases:
            self.leases.append(Entry(report.step, report.started_at, lease))
        check = report.last_check
        if check and not check.agrees and self.disagreement is None:
            self.disagreement = check
