"""Collects reference cycles on the GUI thread only, and gives back the memory of what was freed.

Python's own collector runs on whichever thread happens to allocate, and would destroy a Qt object that is
part of a cycle on the engine's thread; Qt then crashes somewhere else, later.

What is left of a collection of the oldest is set aside: each looks only through what was made since the one
before. If all looked through everything they would hold the window longer and longer, since each message and
each line of the log counts: 75 ms after 10,000 answers. What becomes garbage later is found once nobody has
been there for a while.
"""

import gc
from time import thread_time

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.rounds import rounds
from app.engine.freed_memory import give_back

PERIOD_MS = 1_000
MOMENT_MS = 20  # in which the window has to do nearly nothing: what it does is not to wait for a collection
BUSY_S = 0.004  # of computing in a moment
MAX_MOMENTS = 25  # then it is collected in the next round of the loop that has room,
MAX_FULL_ROUNDS = 5  # or after so many that have none
QUIET_PERIODS = 5  # without a collection that was due; in the last two of them everything is tidied up
REST_PERIODS = 60  # quiet ones, after which all is looked through that has been set aside: 0.2 s


class GarbageCollector(QObject):
    """Replaces the automatic collector as long as it exists."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        # By generation: what is left of so many first collections is set aside, since it is mostly modules.
        self._num_to_set_aside = [11, 1, 1]  # after 11 of the youngest the next one is due
        self._has_old = False  # there is more that has been set aside
        self._is_untidy = True  # much was freed, or made and freed, since all was given back
        self._num_quiet = 0  # periods without a collection
        self._num_moments = 0  # that have been waited for since the period ended
        self._computed_s = 0.0  # until the moment began
        self._moment = QTimer(self, singleShot=True, interval=MOMENT_MS)
        self._moment.timeout.connect(self.collect_if_idle)
        timer = QTimer(self)
        timer.timeout.connect(self.wait_for_moment)
        timer.start(PERIOD_MS)

    @Slot()
    def note_closed(self) -> None:
        """A chat is about to be freed. That takes no collection; its memory is given back in a quiet time."""
        self._is_untidy = True
        self._num_quiet = 0

    @Slot()
    def wait_for_moment(self) -> None:
        if not self._moment.isActive():
            self._num_moments = 0
            self._begin_moment()

    def _begin_moment(self) -> None:
        self._computed_s = thread_time()
        self._moment.start()

    @Slot()
    def collect_if_idle(self) -> None:
        """A moment has passed: it goes on to the next if the window was at work in it."""
        self._num_moments += 1
        was_busy = thread_time() - self._computed_s > BUSY_S and self._num_moments < MAX_MOMENTS
        is_full = rounds().is_full and self._num_moments < MAX_MOMENTS + MAX_FULL_ROUNDS
        if was_busy or is_full:
            self._begin_moment()
        else:
            self.collect_if_due()

    @Slot()
    def collect_if_due(self) -> None:
        """The oldest generation whose threshold has been passed, as the automatic collector would.

        In the first quiet moments after much was freed: everything, and the system gets the memory back.
        """
        is_due = [count > most for count, most in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        if any(is_due):
            self._num_quiet = 0
            self._is_untidy |= is_due[2]
            self._collect(2 if is_due[2] else int(is_due[1]))
            return
        self._num_quiet += 1
        if self._is_untidy and self._num_quiet == QUIET_PERIODS - 1:
            self._collect(2)  # a moment before the rest: together they would take 50 ms
        elif self._is_untidy and self._num_quiet == QUIET_PERIODS:
            self._is_untidy = False
            give_back()
        elif self._has_old and self._num_quiet == REST_PERIODS:
            self._has_old = False
            gc.unfreeze()
            gc.collect()
            gc.freeze()

    def _collect(self, generation: int) -> None:
        gc.collect(generation)
        if self._num_to_set_aside[generation]:
            self._num_to_set_aside[generation] -= 1
            gc.freeze()
        elif generation == 2:
            self._has_old = True
            gc.freeze()
