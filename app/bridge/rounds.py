"""How much a round of Qt's loop has computed: what can wait begins in one with room for it. GUI thread.

Between two rounds the window takes keys and clicks.
"""

from __future__ import annotations

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
        self._may_block = False
        self._owed_to: Patience | None = None
        self._owed_since = 0  # the round in which that was promised
        # On Linux a round that may block says so, and then that it is awake; any other only that.
        dispatcher = QAbstractEventDispatcher.instance()
        dispatcher.aboutToBlock.connect(self._on_about_to_block)
        dispatcher.awake.connect(self._on_awake)

    @property
    def is_full(self) -> bool:
        return self.computed_s > FULL_S or self.owed_to is not None

    @property
    def computed_s(self) -> float:
        """In this one so far."""
        return thread_time() - self._began_s

    @property
    def owed_to(self) -> Patience | None:
        """Who has this round for itself. It may have lost interest: it has two rounds to take it."""
        is_now = self._owed_since < self.number <= self._owed_since + 2
        return self._owed_to if is_now else None

    def owe(self, one: Patience | None) -> None:
        """The next round, unless somebody has it already; None: it has been taken."""
        if one is None or self.number > self._owed_since + 2 or self._owed_to is None:
            self._owed_to, self._owed_since = one, self.number

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


class Patience:
    """That of one who can wait for a round with room, but not for ever: all of a busy window may be full.

    Once it has ended, one of the next rounds is its own. So not all whose patience ends meet in one round.
    """

    def __init__(self, most_s: float = FULL_S, max_rounds: int = MAX_FULL_ROUNDS) -> None:
        self._most_s = most_s  # of computing, in a round with room
        self._max_rounds = max_rounds
        self._since: int | None = None  # the round in which the waiting began

    @property
    def waits(self) -> bool:
        """Whether it is still to wait for another round. If not, its waiting has ended."""
        owed_to = rounds().owed_to
        if owed_to is self:
            rounds().owe(None)
        elif owed_to or rounds().computed_s > self._most_s:
            if self._since is None:
                self._since = rounds().number
            if rounds().number >= self._since + self._max_rounds - 1:
                rounds().owe(self)
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
