"""Compares two models in a process of their own, one comparison at a time. GUI thread."""

import asyncio
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.bridge.tasks import spawn
from app.engine.children.comparing import CHILD, compared
from app.models.comparing import prepared
from app.protocol.comparison import Compare
from app.protocol.errors import EngineError, RequestError
from app.protocol.model import Device
from app.system.worker import Worker


class Comparisons(QObject):
    """Each that was started ends by `ended` or by `failed`, or is stopped."""

    progressed = Signal(float)  # 0..1
    ended = Signal(object)  # Comparison
    failed = Signal(object)  # a sentence for the user

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker: Worker | None = None  # of the one that runs
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, question: Compare, gpus: Sequence[Device]) -> None:
        """A former one is stopped."""
        self.stop()
        self._worker = Worker(CHILD, keeps_log=True, is_once=True)
        task = spawn(self._run(question, gpus, self._worker))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """At once; neither `ended` nor `failed` follows."""
        worker, self._worker = self._worker, None
        if worker:
            worker.end()

    async def close(self) -> None:
        self.stop()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _run(self, question: Compare, gpus: Sequence[Device], worker: Worker) -> None:
        found, reason = None, ""
        try:
            tell = self.progressed.emit
            found = await asyncio.to_thread(lambda: compared(prepared(question, gpus), worker, tell))
        except (EngineError, RequestError) as error:
            reason = str(error)
        if worker is not self._worker:
            return
        self._worker = None
        if found:
            self.ended.emit(found)
        else:
            self.failed.emit(reason)
