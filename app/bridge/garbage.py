"""Collects reference cycles on the GUI thread only.

Python's own collector runs on whichever thread happens to allocate, and would destroy a Qt object that is
part of a cycle on the engine's thread; Qt then crashes somewhere else, later.
"""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

from app.system.freed_memory import give_back

PERIOD_MS = 1_000
TIDY_AFTER_MS = 5_000  # since a chat was closed


class GarbageCollector(QObject):
    """Replaces the automatic collector as long as it exists."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        timer = QTimer(self, interval=PERIOD_MS)
        timer.timeout.connect(self.collect_if_due)
        timer.start()
        self._tidying = QTimer(self, singleShot=True, interval=TIDY_AFTER_MS)
        self._tidying.timeout.connect(self.tidy_up)

    @Slot()
    def collect_if_due(self) -> None:
        """The oldest generation whose threshold has been passed, as the automatic collector would."""
        is_due = [count > most for count, most in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        if any(is_due):
            gc.collect(max(generation for generation in range(3) if is_due[generation]))

    @Slot()
    def note_closed(self) -> None:
        """A chat is about to be freed: soon the system gets its memory back."""
        self._tidying.start()

    @Slot()
    def tidy_up(self) -> None:
        gc.collect()
        give_back()
