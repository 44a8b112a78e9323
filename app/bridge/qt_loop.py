"""asyncio on Qt's event loop. GUI thread only."""

import asyncio
import time
from collections import deque

import qasync
from PySide6.QtCore import QCoreApplication, QTimer

TURN_S = 0.004  # of callbacks in a row, then Qt has its turn


class QtLoop(qasync.QEventLoop):  # type: ignore[misc]
    """Counts as the running loop from its first run until it is closed.

    Qt goes on with timers and tasks whenever it handles its events, as qasync 0.28 lets it after each run;
    what they call asks asyncio for the running loop.

    Callbacks that are due run one after the other in one turn of Qt's loop. qasync gives each a timer, and so
    a turn, of its own: beside a window that draws, a task that wakes up waits for several of them.
    """

    def __init__(self, application: QCoreApplication) -> None:
        self._due: deque[asyncio.Handle] = deque()
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
        self._due.clear()

    def _add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        """What qasync calls for `call_soon`, `call_later` and `call_at`. `delay` in seconds."""
        if delay > 0:
            super()._add_callback(asyncio.Handle(self._on_time, (handle,), self), delay)
        else:
            self._due.append(handle)
            self._turn.start()
        return handle

    def _on_time(self, handle: asyncio.Handle) -> None:
        """What it wakes goes on in the same turn."""
        self._due.append(handle)
        self._run_due()

    def _run_due(self) -> None:
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
