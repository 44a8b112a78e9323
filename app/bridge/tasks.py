"""asyncio on Qt's event loop, and coroutines that are kept until they are done. GUI thread only."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import qasync

# asyncio itself holds only weak references: an unreferenced task may be collected while it runs.
_running: set[asyncio.Task[None]] = set()


def spawn(coro: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Runs `coro` concurrently; an unhandled exception goes to the loop's exception handler."""
    task = asyncio.get_running_loop().create_task(coro)
    _running.add(task)
    task.add_done_callback(_on_done)
    return task


async def finish_all() -> None:
    """Waits for everything spawned so far, and for what that spawns in turn."""
    while _running:
        await asyncio.gather(*_running, return_exceptions=True)


def _on_done(task: asyncio.Task[None]) -> None:
    _running.discard(task)
    if not task.cancelled() and (error := task.exception()):
        message = f"{task.get_coro()} failed"
        task.get_loop().call_exception_handler({"message": message, "exception": error, "task": task})


class QtLoop(qasync.QEventLoop):  # type: ignore[misc]
    """Counts as the running loop from its first run until it is closed.

    Qt goes on with timers and tasks whenever it handles its events, as qasync 0.28 lets it after each run;
    what they call asks asyncio for the running loop.
    """

    def run_forever(self) -> int:
        try:
            return int(super().run_forever())
        finally:
            asyncio._set_running_loop(self)

    def close(self) -> None:
        asyncio._set_running_loop(None)
        super().close()
