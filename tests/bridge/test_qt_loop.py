"""asyncio on Qt's loop, also when Qt handles its events by itself."""

import asyncio

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from app.bridge import tasks
from app.bridge.tasks import QtLoop, spawn


def test_what_comes_between_two_runs_is_done(qloop: QtLoop, qapp: QCoreApplication) -> None:
    done: list[int] = []

    async def work() -> None:
        done.append(await asyncio.to_thread(lambda: 1))

    qloop.run_until_complete(asyncio.sleep(0))
    QTimer.singleShot(0, lambda: spawn(work()))
    qapp.processEvents()
    qloop.run_until_complete(tasks.finish_all())
    assert done == [1]


def test_a_closed_one_does_not_run(qapp: QCoreApplication) -> None:
    loop = QtLoop(qapp)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()


def test_in_the_order_in_which_they_came(qloop: QtLoop) -> None:
    called: list[int] = []
    handles = [qloop.call_soon(called.append, number) for number in range(4)]
    handles[1].cancel()
    qloop.call_later(0.001, called.append, 9).cancel()
    qloop.call_later(0.002, called.append, 4)
    qloop.run_until_complete(asyncio.sleep(0.01))
    assert called == [0, 2, 3, 4]


def test_qt_has_its_turn_whatever_tasks_do(qloop: QtLoop, qapp: QCoreApplication) -> None:
    num_steps, ticks = 0, []

    async def never_waits() -> None:
        nonlocal num_steps
        while True:
            num_steps += 1
            await asyncio.sleep(0)

    async def watch() -> None:
        clock = QTimer(interval=0)
        clock.timeout.connect(lambda: ticks.append(num_steps))
        clock.start()
        task = asyncio.create_task(never_waits())
        while len(ticks) < 5:
            await asyncio.sleep(0.001)
        task.cancel()

    qloop.run_until_complete(asyncio.wait_for(watch(), 20))
    assert len(set(ticks)) > 1, "and both went on"


def test_a_loop_of_qt_inside_a_callback_holds_nobody(qloop: QtLoop) -> None:
    """As a drag runs one. The others may be due already, or come while it runs."""
    inner, order = QEventLoop(), []

    async def later() -> None:
        await asyncio.sleep(0)
        order.append("later")
        inner.quit()

    def drag() -> None:
        qloop.create_task(later())
        inner.exec()
        order.append("dropped")

    qloop.call_soon(drag)
    qloop.call_soon(order.append, "due")
    qloop.run_until_complete(asyncio.sleep(0))
    assert order == ["due", "later", "dropped"]
