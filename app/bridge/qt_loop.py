"""asyncio on Qt's event loop. GUI thread only."""

import asyncio

import qasync


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
