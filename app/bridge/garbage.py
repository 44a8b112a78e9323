"""Collects reference cycles on the GUI thread only.

Python's own collector runs on whichever thread happens to allocate, and would destroy a Qt object that is
part of a cycle on the engine's thread; Qt then crashes somewhere else, later.
"""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

PERIOD_MS = 1_000


class GarbageCollector(QObject):
    """Replaces the automatic collector as long as it exists."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._has_set_aside = False
        timer = QTimer(self)
        timer.timeout.connect(self.collect_if_due)
        timer.start(PERIOD_MS)

    @Slot()
    def collect_if_due(self) -> None:
        """The oldest generation whose threshold has been passed, as the automatic collector would."""
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation]:
                if generation == 2 and not self._has_set_aside:
                    self._set_aside()
                else:
                    gc.collect(generation)
                return

    def _set_aside(self) -> None:
        """Freezes the objects that exist by now, mostly modules: to traverse them takes 60 ms each time."""
        self._has_set_aside = True
        gc.collect(1)
        gc.freeze()
