"""Which of several engines computes: one at a time, for llama.cpp's threads wait for each other by spinning.

Any thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

FRONT_STEPS = 3  # in a row, of the engine in front, while others wait
GRACE_S = 0.02  # from one step of it to the next: its reports are taken out between them
RECENT_S = 1.0  # an engine that computed so short a time ago has more to do


class StepTurns:
    """Turns go round. The engine that `front` names has FRONT_STEPS of them before each of another one."""

    def __init__(self) -> None:
        self.front: object = None
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()  # first come, first served
        self._running: object = None
        self._num_in_row = 0  # steps of the engine in front, since another one had its turn
        self._kept_until = 0.0  # for the engine in front
        self._last: dict[object, float] = {}  # when each engine had its last turn, in `monotonic` seconds

    @contextmanager
    def turn(self, engine: object) -> Iterator[bool]:
        """Waits until no other one computes. Whether another one has work, too."""
        with self._changed:
            self._waiting.append(engine)
            while not self._may_run(engine):
                self._changed.wait(GRACE_S if self._running is None else None)
            self._waiting.remove(engine)
            self._running = engine
            is_recent = (monotonic() - at < RECENT_S for one, at in self._last.items() if one != engine)
            others_wait = bool(self._waiting) or any(is_recent)
        try:
            yield others_wait
        finally:
            with self._changed:
                is_front = engine == self.front
                self._num_in_row = self._num_in_row + 1 if is_front else 0
                self._kept_until = monotonic() + GRACE_S if is_front else 0.0
                self._running = None
                self._last[engine] = monotonic()
                self._changed.notify_all()

    def _may_run(self, engine: object) -> bool:
        if self._running is not None:
            return False
        is_its_right = self._num_in_row < FRONT_STEPS
        if engine == self.front and is_its_right:
            return True
        if is_its_right and (self.front in self._waiting or monotonic() < self._kept_until):
            return False
        others = [one for one in self._waiting if one != self.front]
        return engine == (others or self._waiting)[0]
