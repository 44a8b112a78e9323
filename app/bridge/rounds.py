"""How much a round of Qt's loop has computed: what can wait begins in one with room for it. GUI thread."""

from functools import cache
from time import thread_time

from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QObject, Slot

FULL_S = 0.008  # of computing: with the 12 ms of a slice it is about a frame


class Rounds(QObject):
    """In a round Qt paints, runs the timers that are due, and hears of keys and sockets."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._began_s = thread_time()
        # On Linux each round says so, whether it blocks or not; elsewhere those that block.
        QAbstractEventDispatcher.instance().aboutToBlock.connect(self._begin)

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
