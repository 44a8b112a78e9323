"""How much a round of Qt's loop has computed: what can wait begins in one with room for it. GUI thread.

Between two rounds the window takes keys and clicks.
"""

from functools import cache
from time import thread_time

from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QObject, QTimer, Signal, Slot

FULL_S = 0.008  # of computing: with the 12 ms of a slice it is about a frame
OVERFULL_S = 0.016  # with what may begin after that, somebody would see it
MAX_FULL_ROUNDS = 2  # in a row that anything waits for: a busy window is drawn, too
MAX_OVERFULL_ROUNDS = 3  # after those


class Rounds(QObject):
    """In a round Qt paints, runs the timers that are due, and hears of keys and sockets."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = 1
        self._began_s = thread_time()
        self._may_block = False
        self._reserved = 0  # the number of one
        # On Linux a round that may block says so, and then that it is awake; any other only that.
        dispatcher = QAbstractEventDispatcher.instance()
        dispatcher.aboutToBlock.connect(self._on_about_to_block)
        dispatcher.awake.connect(self._on_awake)

    @property
    def computed_s(self) -> float:
        """In this one so far."""
        return thread_time() - self._began_s

    @property
    def is_reserved(self) -> bool:
        """For asyncio, which could not wait for it much longer."""
        return self._reserved == self.number

    @property
    def is_full(self) -> bool:
        return self.is_reserved or self.computed_s > FULL_S

    @property
    def is_overfull(self) -> bool:
        return self.is_reserved or self.computed_s > OVERFULL_S

    def reserve_next(self) -> None:
        self._reserved = self.number + 1

    def take_reserved(self) -> bool:
        """Whether it was. Once."""
        was_reserved = self.is_reserved
        self._reserved = 0
        return was_reserved

    @Slot()
    def _on_about_to_block(self) -> None:
        self._may_block = True
        self._begin()

    @Slot()
    def _on_awake(self) -> None:
        if not self._may_block:
            self._begin()
        self._may_block = False

    def _begin(self) -> None:
        self.number += 1
        self._began_s = thread_time()


@cache
def rounds() -> Rounds:
    return Rounds(QCoreApplication.instance())


class PatientTimer(QTimer):
    """Once its time has come, it is `due` in the next round with room for it.

    All rounds of a busy window may be full: after some it is due in one that is not overfull, then in any.
    """

    due = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, singleShot=True, interval=0)
        self._since: int | None = None  # the round in which the waiting began
        self.timeout.connect(self._on_timeout)

    @Slot()
    def _on_timeout(self) -> None:
        if rounds().is_full:
            self._since = self._since or rounds().number
            max_rounds = MAX_FULL_ROUNDS + (MAX_OVERFULL_ROUNDS if rounds().is_overfull else 0)
            if rounds().number - self._since < max_rounds:
                self.start(0)
                return
        self._since = None
        self.due.emit()
