"""Skein's window with a clock in it: how late the GUI is, and whose tokens each step made.

Started as `python -m tests.benchmarks.watched_window RECORD.json [arguments of skein…]` it writes the file
when the window has closed. Times are `time.perf_counter()`, on Linux one clock for all processes.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self
from unittest import mock

from PySide6.QtCore import Qt, QTimer, Slot

import app.main
from app.protocol.report import StepReport
from app.services.services import Services
from app.ui.frame import Frame
from app.ui.main_window import MainWindow

PERIOD_S = 0.005


@dataclass(frozen=True)
class Record:
    """Of the whole life of a window."""

    lateness: list[tuple[float, float]] = field(default_factory=list)  # when the GUI was due, seconds late
    # A step's begin, the chats that it served, and its end.
    tokens: list[tuple[float, list[str], float]] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> Self:
        return cls(**json.loads(path.read_text()))

    def late_ms(self, begin: float, end: float) -> list[float]:
        return sorted(late * 1000 for due, late in self.lateness if begin <= due < end)

    def served_at(self, begin: float) -> list[tuple[float, list[str]]]:
        """When each step ended that began then or later, and the chats that got a token."""
        return [
            (ended_at, chat_ids)
            for started_at, chat_ids, ended_at in self.tokens
            if started_at >= begin and chat_ids
        ]


class WatchedWindow(MainWindow):
    record = Record()

    def __init__(self, frame: Frame, services: Services) -> None:
        super().__init__(frame, services)
        services.engine.reported.connect(self._on_steps)
        self._due = time.perf_counter() + PERIOD_S
        self._clock = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=round(PERIOD_S * 1000))
        self._clock.timeout.connect(self._tick)
        self._clock.start()

    def set_watched(self, is_watched: bool) -> None:
        """The clock itself wakes the window 200 times a second, which is some 2% of a core."""
        self._due = time.perf_counter() + PERIOD_S
        (self._clock.start if is_watched else self._clock.stop)()

    @Slot()
    def _tick(self) -> None:
        """A GUI that was busy for long was late for every tick of that time."""
        now = time.perf_counter()
        due = min(self._due, now)
        while due <= now:
            self.record.lateness.append((due, now - due))
            due += PERIOD_S
        self._due = now + PERIOD_S

    @Slot(object)
    def _on_steps(self, reports: tuple[StepReport, ...]) -> None:
        for report in reports:
            chat_ids = [span.chat_id for span in report.spans if span.wants_logits]
            took_s = (report.schedule_ms + report.decode_ms + report.update_ms) / 1000
            self.record.tokens.append((report.started_at, chat_ids, report.started_at + took_s))


def main() -> int:
    path = Path(sys.argv.pop(1))
    code: object = 0
    with mock.patch("app.ui.main_window.MainWindow", WatchedWindow), mock.patch("os._exit", sys.exit):
        try:
            app.main.main()
        except SystemExit as end:  # the program ends the process
            code = end.code
    path.write_text(json.dumps(asdict(WatchedWindow.record)))
    return int(str(code))


if __name__ == "__main__":
    sys.exit(main())
