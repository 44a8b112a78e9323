"""asyncio on Qt's loop, also when Qt handles its events by itself."""

import asyncio

import pytest
from PySide6.QtCore import QCoreApplication, QTimer

from app.bridge import tasks
from app.bridge.qt_loop import QtLoop
from app.bridge.tasks import spawn


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
