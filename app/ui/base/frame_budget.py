"""How long work in pieces may hold the window's thread: then keys and clicks have their turn. GUI thread."""

import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from time import monotonic

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Slot
from shiboken6 import delete, isValid

FRAME_S = 0.012


class FrameBudget(QObject):
    """Who has more to draw waits, and is called once in each turn of the loop, one after the other."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._deadline = math.inf
        self._waiting: dict[QObject, Callable[[], object]] = {}
        self._doomed: deque[QObject] = deque()
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._begin_next)

    @property
    def is_spent(self) -> bool:
        """Whether the rest has to wait. A piece that has begun is drawn to its end."""
        return monotonic() >= self._deadline

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    def wait(self, one: QObject, on_turn: Callable[[], object]) -> None:
        """`on_turn` is called once, in a frame of its own."""
        self._waiting[one] = on_turn
        self._timer.start()

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Everything in the block shares one frame, also with the block around it."""
        before = self._deadline
        self._deadline = min(before, monotonic() + FRAME_S)
        try:
            yield
        finally:
            self._deadline = before

    def delete(self, one: QObject) -> None:
        """In a turn of its own, after what it holds, if that was to be deleted before."""
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
def frame_budget() -> FrameBudget:
    """The one of the window: what all chats draw shares it."""
    return FrameBudget(QCoreApplication.instance())
