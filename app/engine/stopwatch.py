"""Times the parts of one step."""

from __future__ import annotations

import time


class Stopwatch:
    """Of a step that was not taken, all times are 0."""

    def __init__(self) -> None:
        self.started_at = self._lap_at = time.perf_counter()
        self.schedule_ms = self.decode_ms = self.update_ms = self.draft_ms = 0.0

    def lap_ms(self) -> float:
        """Since the last call, or since it was made."""
        before, self._lap_at = self._lap_at, time.perf_counter()
        return (self._lap_at - before) * 1000
