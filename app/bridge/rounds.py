"""How much a round of Qt's loop has computed: what can wait begins in one with room for it. GUI thread.

Between two rounds the window takes keys and clicks.
"""

from functools import cache
from time import thread_time

from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QObject, QTimer, Signal, Slot

FULL_S = 0.008  # of computing: with the 12 ms of a slice it is about a frame
MAX_FULL_ROUNDS = 2  # in a row that anything waits for: a busy window is drawn, too


class Rounds(QObject):
    """In a round Qt paints, runs the timers that are due, and hears of keys and sockets."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._began_s = thread_time()
        # On Linux each round says one of the two as it begins; elsewhere those that block.
        dispatcher = QAbstractEventDispatcher.instance()
        dispatcher.aboutToBlock.connect(self._begin)
        dispatcher.awake.connect(self._begin)

    @property
    def is_full(self) -> bool:
        """Who waits because of that must not wait for ever: all rounds of a busy window may be full."""
        return thread_time() - self._began_s > FULL_S

    @Slot()
    def _begin(self) -> None:
        self._began_s = thread_time()


@cache
def rounds() -> Rounds:
    return Rounds(QCoreApplication.instance())


class PatientTimer(QTimer):
    """Once its time has come, it is `due` in the next round with room for it, or after some that had none."""

    due = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, singleShot=True, interval=0)
        self._num_full_rounds = 0
        self.timeout.connect(self._on_timeout)

    @Slot()
    def _on_timeout(self) -> None:
        if rounds().is_full and self._num_full_rounds < MAX_FULL_ROUNDS:
            self._num_full_rounds += 1
            self.start(0)
        else:
            self._num_full_rounds = 0
            self.due.emit()
