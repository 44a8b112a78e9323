"""A window's thread, seen from another one: how long input waits for it, and what its longest rounds do."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, deque
from types import CodeType, FrameType

from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QObject, Qt, Signal, Slot

from tests.benchmarks.strangers import Lateness

PERIOD_S = 0.005
SAMPLE_S = 0.004  # as long as an event waits
LONG_S = 0.035  # of computing
NUM_FRAMES = 12
Frames = tuple[tuple[CodeType, int], ...]


class RoundWatch(QObject):
    """Writes down the rounds of Qt's loop, and how long an event waits. GUI thread."""

    _posted = Signal()

    def __init__(self, lateness: Lateness) -> None:
        program = QCoreApplication.instance()
        assert program
        super().__init__(program)  # not of the window, which may be gone when the program quits
        self._lateness = lateness
        self._due = self._due_cpu = 0.0
        self._is_handled = threading.Event()
        self._samples: deque[tuple[float, Frames]] = deque(maxlen=100)
        self._gui_thread = threading.get_ident()
        self._began, self._cpu_began = time.perf_counter(), time.thread_time()
        QAbstractEventDispatcher.instance().aboutToBlock.connect(self._end_round)
        self._posted.connect(self._handle, Qt.ConnectionType.QueuedConnection)
        self._is_over = threading.Event()
        program.aboutToQuit.connect(self._stop)
        self._thread = threading.Thread(target=self._post_events, name="round watch")
        self._thread.start()

    @Slot()
    def _stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    @Slot()
    def _handle(self) -> None:
        computed_s = time.thread_time() - self._due_cpu
        self._lateness.inputs.extend((self._due, time.perf_counter() - self._due, computed_s))
        self._is_handled.set()

    @Slot()
    def _end_round(self) -> None:
        computed_s = time.thread_time() - self._cpu_began
        self._lateness.rounds.extend((self._began, computed_s))
        if computed_s > LONG_S:
            stacks = Counter(frames for at, frames in self._samples.copy() if at > self._began)
            seen = [f"    seen {count} x: {_as_text(frames)}" for frames, count in stacks.most_common()]
            self._lateness.stacks[str(self._began)] = "\n".join(seen)
        self._began, self._cpu_began = time.perf_counter(), time.thread_time()

    def _post_events(self) -> None:
        """On its own thread. Whoever holds the interpreter delays it, too: an event is due at a time."""
        cpu_clock = time.pthread_getcpuclockid(self._gui_thread)
        while not self._is_over.is_set():
            self._due = time.perf_counter() + PERIOD_S
            time.sleep(PERIOD_S)
            late_s = time.perf_counter() - self._due  # in which the other may have computed all the time
            self._due_cpu = time.clock_gettime(cpu_clock) - late_s
            self._is_handled.clear()
            self._posted.emit()
            while not (self._is_over.is_set() or self._is_handled.wait(SAMPLE_S)):
                frames = _frames(sys._current_frames()[self._gui_thread])
                self._samples.append((time.perf_counter(), frames))


def _frames(frame: FrameType | None) -> Frames:
    frames: list[tuple[CodeType, int]] = []
    while frame and len(frames) < NUM_FRAMES:
        frames.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(frames)


def _as_text(frames: Frames) -> str:
    return " < ".join(f"{code.co_qualname}:{line}" for code, line in frames)
