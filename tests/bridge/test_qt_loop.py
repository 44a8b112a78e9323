"""asyncio on Qt's loop, also when Qt handles its events by itself."""

import asyncio
import weakref

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from app.bridge import tasks
from app.bridge.qt_loop import QtLoop, _Timer
from app.bridge.rounds import OVERFULL_S
from app.bridge.tasks import spawn
from tests.rounds import next_round


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


def test_what_is_due_runs_in_one_turn_of_qt(qloop: QtLoop, qapp: QCoreApplication) -> None:
    steps: list[int] = []

    async def work() -> None:
        for step in range(5):
            await asyncio.get_running_loop().create_task(asyncio.sleep(0))
            steps.append(step)

    qloop.run_until_complete(asyncio.sleep(0))
    spawn(work())
    qapp.processEvents()
    assert steps == [0, 1, 2, 3, 4]


def test_in_the_order_in_which_they_came(qloop: QtLoop) -> None:
    called: list[int] = []
    handles = [qloop.call_soon(called.append, number) for number in range(4)]
    handles[1].cancel()
    qloop.call_later(0.001, called.append, 9).cancel()
    qloop.call_later(0.002, called.append, 4)
    qloop.run_until_complete(asyncio.sleep(0.01))
    assert called == [0, 2, 3, 4]


def test_a_cancelled_one_leaves_nothing(qloop: QtLoop) -> None:
    class Argument:
        pass

    argument = Argument()
    gone = weakref.ref(argument)
    handle = qloop.call_later(1_000, print, argument)
    assert isinstance(handle, asyncio.TimerHandle)
    assert handle.when() > qloop.time() + 900
    del argument
    handle.cancel()
    assert gone() is None
    assert qloop._timers._waiting == {}


def test_cancelling_one_that_has_run_cancels_no_other(qloop: QtLoop) -> None:
    """Qt gives its number to another one in time."""
    called: list[str] = []
    first = qloop.call_later(0.001, called.append, "first")
    qloop.run_until_complete(asyncio.sleep(0.01))
    other = qloop.call_later(0.001, called.append, "other")
    assert isinstance(first, _Timer)
    assert isinstance(other, _Timer)
    first.number = other.number
    first.cancel()
    qloop.run_until_complete(asyncio.sleep(0.02))
    assert called == ["first", "other"]


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


def test_callbacks_leave_a_round_that_has_computed_too_long_already_but_only_one(
    qloop: QtLoop, qapp: QCoreApplication
) -> None:
    called: list[int] = []
    qloop.run_until_complete(asyncio.sleep(0))
    for number in range(2):
        next_round(computes_s=2 * OVERFULL_S)
        qloop.call_soon(called.append, number)
        qloop._run_due()
        assert called == []
        next_round(computes_s=2 * OVERFULL_S)
        qloop._run_due()
        assert called.pop() == number
    qloop.call_soon(called.append, 2)
    qapp.processEvents()
    assert called == [2]


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
