"""asyncio on Qt's event loop. GUI thread only."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any

import qasync
from PySide6.QtCore import QCoreApplication, QObject, QTimer, QTimerEvent

from app.bridge.rounds import rounds

TURN_S = 0.006  # of callbacks in a row, then Qt has its turn


class QtLoop(qasync.QEventLoop):  # type: ignore[misc]
    """Counts as the running loop from its first run until it is closed.

    Qt goes on with timers and tasks whenever it handles its events, as qasync 0.28 lets it after each run;
    what they call asks asyncio for the running loop.

    Callbacks that are due run one after the other in one turn of Qt's loop. qasync gives each a timer, and so
    a turn, of its own: beside a window that draws, a task that wakes up waits for several of them. And it
    keeps the timer of a callback that was cancelled until it is due: thousands, of timeouts that never came.
    """

    def __init__(self, application: QCoreApplication) -> None:
        self._due: deque[asyncio.Handle] = deque()
        self._timers = _Timers(self._on_time)
        self._turn = QTimer(singleShot=True, interval=0)
        self._turn.timeout.connect(self._run_due)
        super().__init__(application)

    def run_forever(self) -> int:
        try:
            return int(super().run_forever())
        finally:
            asyncio._set_running_loop(self)

    def close(self) -> None:
        asyncio._set_running_loop(None)
        super().close()
        self._turn.stop()
        self._timers.stop()
        self._due.clear()

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """What qasync calls for `call_soon` and `call_at`, too. `delay` in seconds."""
        if delay > 0:
            return self._timers.start(_Timer(self.time() + delay, callback, args, self, context), delay)
        handle = asyncio.Handle(callback, args, self, context)
        self._due.append(handle)
        self._turn.start()
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """What a handle calls."""
        assert isinstance(handle, _Timer)
        self._timers.forget(handle)

    def _on_time(self, handle: asyncio.Handle) -> None:
        """What it wakes goes on in the same turn."""
        self._due.append(handle)
        self._run_due()

    def _run_due(self) -> None:
        if rounds().is_overfull and not rounds().take_reserved():
            rounds().reserve_next()  # keys have their turn first, and nobody else
            self._turn.start()
            return
        end = time.monotonic() + TURN_S
        while self._due:
            handle = self._due.popleft()
            if self._due:
                self._turn.start()  # the callback may run a loop of Qt's, such as that of a drag
            if not handle.cancelled():
                handle._run()
            if time.monotonic() >= end:
                return
        self._turn.stop()


class _Timer(asyncio.TimerHandle):
    __slots__ = ("number",)
    number: int  # Qt's


class _Timers(QObject):
    """One of Qt's for each handle, as long as that waits."""

    def __init__(self, on_time: Callable[[asyncio.Handle], None]) -> None:
        super().__init__()
        self._on_time = on_time
        self._waiting: dict[int, _Timer] = {}

    def start(self, handle: _Timer, delay: float) -> _Timer:
        handle.number = self.startTimer(int(delay * 1000))
        self._waiting[handle.number] = handle
        return handle

    def forget(self, handle: _Timer) -> None:
        """Nothing, if it has run: Qt may have given its number to another."""
        if self._waiting.get(handle.number) is handle:
            del self._waiting[handle.number]
            self.killTimer(handle.number)

    def stop(self) -> None:
        for handle in [*self._waiting.values()]:
            self.forget(handle)

    def timerEvent(self, event: QTimerEvent) -> None:
        handle = self._waiting.get(event.timerId())
        if handle:
            self.forget(handle)
            self._on_time(handle)
