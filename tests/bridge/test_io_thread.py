"""Work on the I/O thread, awaited on the GUI's loop."""

import asyncio
import threading

import pytest

from app.bridge.io_thread import IoThread


async def test_work_runs_on_a_thread_of_its_own_and_its_result_comes_back(qloop) -> None:
    io = IoThread()

    async def name() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert await io.run(name()) == "skein-io"
    await io.close()
    assert all(thread.name != "skein-io" for thread in threading.enumerate())


async def test_an_error_comes_back(qloop) -> None:
    io = IoThread()

    async def broken() -> None:
        raise OSError("in use")

    with pytest.raises(OSError, match="in use"):
        await io.run(broken())
    await io.close()


async def test_a_cancelled_call_returns_once_its_work_has_ended(qloop) -> None:
    io = IoThread()
    steps: list[str] = []
    begun = threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            steps.append("released")

    call = asyncio.ensure_future(io.run(work()))
    await asyncio.to_thread(begun.wait)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert steps == ["released"]
    await io.close()


async def test_calls_arrive_in_the_order_they_were_posted(qloop) -> None:
    io = IoThread()
    arrived: list[int] = []

    async def nothing() -> None: ...

    for number in range(100):
        io.post(arrived.append, number)
    await io.run(nothing())
    assert arrived == list(range(100))
    await io.close()
