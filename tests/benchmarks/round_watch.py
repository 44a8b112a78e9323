"""A window's thread, seen from another one: how long input waits for it, and what its longest rounds do.

That thread writes its stack itself, in a signal handler of `faulthandler`. Whoever asks Python for the frames
of another thread keeps their variables, such as a QPainter, for longer than they may live: Qt then crashes.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import re
import resource
import signal
import threading
import time
from collections import Counter

from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QObject, Qt, Signal, Slot

from tests.benchmarks.lateness import Lateness

PERIOD_S = 0.005
SAMPLE_S = 0.004  # as long as an event waits
LONG_S = 0.035  # of computing
NUM_FRAMES = 12
JIFFY_MS = 1000 // os.sysconf("SC_CLK_TCK")
_FRAME = re.compile(r'File ".*?([^/"]+)", line (\d+) in (.+)')


class RoundWatch(QObject):
    """Writes down the rounds of Qt's loop, and how long an event waits. GUI thread."""

    _posted = Signal()

    def __init__(self, lateness: Lateness, *, has_stacks: bool) -> None:
        program = QCoreApplication.instance()
        assert program
        super().__init__(program)  # not of the window, which may be gone when the program quits
        self._lateness = lateness
        self._has_stacks = has_stacks
        self._due = self._due_cpu = 0.0
        self._is_handled = threading.Event()
        self._gui_thread = threading.get_ident()
        self._stacks = os.memfd_create("stacks")  # of this round
        self._collected_s = self._collection_began = 0.0  # in this round
        self._times = os.open("/proc/stat", os.O_RDONLY)
        gc.callbacks.append(self._on_collection)
        faulthandler.register(signal.SIGUSR1, self._stacks, all_threads=False)
        self._begin_round()
        QAbstractEventDispatcher.instance().aboutToBlock.connect(self._end_round)
        self._posted.connect(self._handle, Qt.ConnectionType.QueuedConnection)
        self._is_over = threading.Event()
        program.aboutToQuit.connect(self._stop)
        self._thread = threading.Thread(target=self._post_events, name="round watch")
        self._thread.start()

    @Slot()
    def _stop(self) -> None:
        """A program may be about to quit twice."""
        if self._is_over.is_set():
            return
        self._is_over.set()
        self._thread.join()
        faulthandler.unregister(signal.SIGUSR1)
        gc.callbacks.remove(self._on_collection)
        QAbstractEventDispatcher.instance().aboutToBlock.disconnect(self._end_round)
        os.close(self._stacks)
        os.close(self._times)

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
            self._lateness.notes[str(self._began)] = "\n".join([self._what_it_cost(), *self._what_it_did()])
        self._begin_round()

    def _what_it_cost(self) -> str:
        before, now = self._usage, resource.getrusage(resource.RUSAGE_THREAD)
        return (
            f"    user {(now.ru_utime - before.ru_utime) * 1000:.1f} ms, "
            f"system {(now.ru_stime - before.ru_stime) * 1000:.1f}, "
            f"collections {self._collected_s * 1000:.1f}; "
            f"by the clock {(time.perf_counter() - self._began) * 1000:.1f}, "
            f"of which the host took at most {self._stolen() - self._stolen_ms}; "
            f"{now.ru_minflt - before.ru_minflt} page faults, {now.ru_majflt - before.ru_majflt} from disk"
        )

    def _what_it_did(self) -> list[str]:
        if not self._has_stacks:
            return []
        written = os.pread(self._stacks, os.fstat(self._stacks).st_size, 0).decode()
        stacks = Counter(_as_text(stack) for stack in written.split("Stack ")[1:])
        return [f"    seen {count} x: {stack}" for stack, count in stacks.most_common()]

    def _stolen(self) -> int:
        """Milliseconds of computing that the host has taken from all processors so far."""
        return int(os.pread(self._times, 200, 0).split(maxsplit=9)[8]) * JIFFY_MS

    def _on_collection(self, phase: str, _info: dict[str, int]) -> None:
        if threading.get_ident() != self._gui_thread:
            return
        if phase == "start":
            self._collection_began = time.thread_time()
        else:
            self._collected_s += time.thread_time() - self._collection_began

    def _begin_round(self) -> None:
        if self._has_stacks:
            os.ftruncate(self._stacks, 0)
            os.lseek(self._stacks, 0, os.SEEK_SET)
        self._collected_s = 0.0
        self._usage, self._stolen_ms = resource.getrusage(resource.RUSAGE_THREAD), self._stolen()
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
                if self._has_stacks:
                    signal.pthread_kill(self._gui_thread, signal.SIGUSR1)


def _as_text(stack: str) -> str:
    """As `faulthandler` writes it: the newest first."""
    return " < ".join(f"{file}:{line} {name}" for file, line, name in _FRAME.findall(stack)[:NUM_FRAMES])
