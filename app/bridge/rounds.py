"""How much a round of Qt's loop has computed: what can wait begins in one with room for it. GUI thread.

Between two rounds the window takes keys and clicks.
"""

from functools import cache
from time import thread_time

from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QObject, QTimer, Signal, Slot

FULL_S = 0.008  # of computing: with the 12 ms of a slice it is about a frame
OVERFULL_S = 0.016  # so that with what has begun before it could be seen
MAX_FULL_ROUNDS = 2  # in a row that anything waits for: a busy window is drawn, too


class Rounds(QObject):
    """In a round Qt paints, runs the timers that are due, and hears of keys and sockets."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = 0
        self._began_s = thread_time()
        # On Linux each round says one of the two as it begins; elsewhere those that block.
        dispatcher = QAbstractEventDispatcher.instance()
        dispatcher.aboutToBlock.connect(self._begin)
        dispatcher.awake.connect(self._begin)

    @property
    def is_full(self) -> bool:
        return self.computed_s > FULL_S

    @property
    def computed_s(self) -> float:
        """In this one so far."""
        return thread_time() - self._began_s

    @Slot()
    def _begin(self) -> None:
        self.number += 1
        self._began_s = thread_time()


@cache
def rounds() -> Rounds:
    return Rounds(QCoreApplication.instance())


class Patience:
    """That of one who can wait for a round with room, but not for ever: all of a busy window may be full."""

    def __init__(self, most_s: float = FULL_S, max_rounds: int = MAX_FULL_ROUNDS) -> None:
        self._most_s = most_s  # of computing, in a round with room
        self._max_rounds = max_rounds
        self._since: int | None = None  # the round in which the waiting began

    @property
    def waits(self) -> bool:
        """Whether it is still to wait for another round. If not, its waiting has ended."""
        if rounds().computed_s > self._most_s:
            if self._since is None:
                self._since = rounds().number
            if rounds().number < self._since + self._max_rounds:
                return True
        self._since = None
        return False


class PatientTimer(QTimer):
    """Once its time has come, it is `due` in the next round with room for it, or after some that had none."""

    due = Signal()

    def __init__(self, parent: QObject | None = None, patience: Patience | None = None) -> None:
        super().__init__(parent, singleShot=True, interval=0)
        self._patience = patience or Patience()
        self.timeout.connect(self._on_timeout)

    @property
    def waits(self) -> bool:
        """Whether what is due is still to wait for another round."""
        return self._patience.waits

    @Slot()
    def _on_timeout(self) -> None:
        if self.waits:
            self.start(0)
        else:
            self.due.emit()
