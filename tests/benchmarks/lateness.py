"""How late a loop is: what a process notes of itself, and another one reads."""

from __future__ import annotations

import asyncio
import json
import time
from array import array
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from app.api.engine_client import EngineClient

TICK_S = 0.005


def _numbers() -> array[float]:
    """Not a list of tuples: a million of them would take each collection of garbage 100 ms."""
    return array("d")


@dataclass(frozen=True)
class Lateness:
    """How late an asyncio loop is, by a task that wakes every 5 ms. In seconds, of `time.perf_counter()`.

    `ticks`: when it slept, how late it was, how much was computed in that time on the loop's thread, which
    others cannot slow. Of the window, too: `uses`: when each began, its kind and number. `inputs`: when an
    event was due that another thread posts, as the desktop posts a key, how late it was handled, how much was
    computed in that time. `rounds` of Qt's loop: when each began, how much it computed. `notes`: of long
    rounds by their begin, what that went to.
    """

    ticks: array[float] = field(default_factory=_numbers)
    uses: list[tuple[float, str]] = field(default_factory=list)
    inputs: array[float] = field(default_factory=_numbers)
    rounds: array[float] = field(default_factory=_numbers)
    notes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Self:
        return cls(**json.loads(path.read_text()))

    async def watch(self) -> None:
        while True:
            began, cpu_began = time.perf_counter(), time.thread_time()
            await asyncio.sleep(TICK_S)
            late = max(0.0, time.perf_counter() - began - TICK_S)
            self.ticks.extend((began, late, time.thread_time() - cpu_began))

    def client(self) -> type[EngineClient]:
        """An `EngineClient` whose loop is watched."""
        watch = self.watch

        class Watched(EngineClient):
            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options)
                self._watching = asyncio.ensure_future(watch())

        return Watched

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), default=list))
