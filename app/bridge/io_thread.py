"""One asyncio loop on a thread of its own, for what talks to sockets: the HTTP server and downloads.

Nothing that they do can hold the window. Made, used and ended on the GUI thread, inside its running loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class IoThread:
    """Starts with the first call."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns or raises on the I/O thread. Cancelling it returns once `work` has ended."""
        here, ended = asyncio.get_running_loop(), asyncio.Event()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            task = asyncio.ensure_future(work)
            task.add_done_callback(lambda _task: here.call_soon_threadsafe(ended.set))
            tasks.append(task)

        self.post(begin)
        try:
            await ended.wait()
        except asyncio.CancelledError:
            self.post(lambda: tasks[0].cancel())
            await ended.wait()
            raise
        return tasks[0].result()

    def post(self, callback: Callable[..., object], *arguments: object) -> None:
        """Calls it soon on the I/O thread. Calls run in the order they were posted."""
        self._started().call_soon_threadsafe(callback, *arguments)

    async def close(self) -> None:
        """Returns when the thread has ended. Nothing may run on it any more."""
        if self._loop and self._thread:
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(self._thread.join)
        self._loop = self._thread = None

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=[self._loop], name="skein-io", daemon=True)
            self._thread.start()
        return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()
