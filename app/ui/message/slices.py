"""Whose turn it is, of those that have more to draw than a frame has time for. GUI thread."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from time import thread_time

from PySide6.QtCore import QCoreApplication, QObject, Slot
from shiboken6 import delete, isValid

from app.bridge.rounds import PatientTimer

# In weights: so much is done at once, and a step that has begun is ended. Less on a slow machine.
SLICE, MIN_SLICE = 5_000, 1_500
SLICE_S = 0.012
PACE_WEIGHT = 1_000  # less work says little of how long a weight takes
PACE_SHARE = 0.2  # of the newest measurement in what is expected


class Slices(QObject):
    """One of all that wait has each round of the loop, so that together they cannot hold it either."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.work = 0  # that all of them have done, in weights
        self._end: float | None = None  # of the slice that has begun
        self._pace_s = SLICE_S / SLICE  # of computing that a weight takes here
        self._waiting: dict[QObject, Callable[[], None]] = {}
        self._doomed: deque[QObject] = deque()
        self._timer = PatientTimer(self)
        self._timer.due.connect(self._begin_next)

    def wait(self, one: QObject, on_turn: Callable[[], None]) -> None:
        self._waiting[one] = on_turn
        self._timer.start()

    @property
    def end(self) -> float:
        """How much work there may be before one has to wait for its next turn."""
        return self.work + self.size if self._end is None else self._end

    @property
    def size(self) -> float:
        """Of a slice, in weights."""
        return max(MIN_SLICE, min(SLICE, SLICE_S / self._pace_s))

    def has_room(self, weight: float) -> bool:
        """Whether the slice that is shared has. A whole one has it for anything."""
        return self.work + min(self.size, weight) <= self.end

    @contextmanager
    def shared(self) -> Iterator[None]:
        """All that is drawn in the block shares one slice: of a page, the rows and the parts of each."""
        before, self._end = self._end, self.end
        began_s, work_before = thread_time(), self.work
        try:
            yield
        finally:
            self._end = before
            if before is None:
                self._note_pace(thread_time() - began_s, self.work - work_before)

    def _note_pace(self, computed_s: float, work: float) -> None:
        if work >= PACE_WEIGHT:
            self._pace_s += PACE_SHARE * (computed_s / work - self._pace_s)

    def delete(self, one: QObject) -> None:
        """After all that were to be deleted before it, such as what it holds."""
        self._doomed.append(one)
        self.wait(self, self._delete_next)

    def _delete_next(self) -> None:
        """With what its parts know of each other: cycles that only a collection would find otherwise."""
        one = self._doomed.popleft()
        if isValid(one):
            parts = (one, *one.findChildren(QObject))
            delete(one)
            for part in parts:
                vars(part).clear()
        if self._doomed:
            self.wait(self, self._delete_next)

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    @Slot()
    def _begin_next(self) -> None:
        one = next(iter(self._waiting))
        on_turn = self._waiting.pop(one)
        if self._waiting:
            self._timer.start()
        if isValid(one):
            with self.shared():
                on_turn()


@cache
def slices() -> Slices:
    """The same turns for all chats."""
    return Slices(QCoreApplication.instance())
