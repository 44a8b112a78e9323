"""Collects reference cycles on the GUI thread only, and gives back the memory of what was freed.

Python's own collector runs on whichever thread happens to allocate, and would destroy a Qt object that is
part of a cycle on the engine's thread; Qt then crashes somewhere else, later.
"""

import gc
import linecache

from PySide6.QtCore import QObject, QTimer, Slot

from app.engine.freed_memory import give_back

PERIOD_MS = 1_000
QUIET_PERIODS = 5  # without a collection: then a pause of 0.1 s disturbs nobody


class GarbageCollector(QObject):
    """Replaces the automatic collector as long as it exists."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._has_set_aside = False
        self._is_untidy = True  # a chat was closed, or much was made and freed, since all was given back
        self._num_quiet = 0  # periods without a collection
        timer = QTimer(self)
        timer.timeout.connect(self.collect_if_due)
        timer.start(PERIOD_MS)

    @Slot()
    def note_closed(self) -> None:
        """Something large is about to be freed."""
        self._is_untidy, self._num_quiet = True, 0

    @Slot()
    def collect_if_due(self) -> None:
        """The oldest generation whose threshold has been passed, as the automatic collector would.

        In the first quiet moment after much was freed: everything, and the system gets the memory back.
        """
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation]:
                if generation == 2 and not self._has_set_aside:
                    self._set_aside()
                else:
                    gc.collect(generation)
                self._is_untidy |= generation == 2
                self._num_quiet = 0
                return
        self._num_quiet += 1
        if self._is_untidy and self._num_quiet >= QUIET_PERIODS:
            self._is_untidy = False
            linecache.clearcache()  # PySide reads all modules that are imported: 12 MB of source
            gc.collect()
            give_back()

    def _set_aside(self) -> None:
        """Freezes the objects that exist by now, mostly modules: to traverse them takes 60 ms each time."""
        self._has_set_aside = True
        gc.collect(1)
        gc.freeze()
