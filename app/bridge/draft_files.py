"""Reads the files that are attached to a draft, each in its own process. GUI thread.

Knows paths and attachments, but no chat.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.attachments.file_reading import FileReading
from app.attachments.refusal import ReadingCancelledError, RefusedError
from app.bridge.tasks import spawn
from app.chats.attachment import Attachment

MAX_AT_ONCE = 2


class DraftFiles(QObject):
    """Every file ends with `read` or `refused`, or is cancelled."""

    changed = Signal()  # which files are being read
    read = Signal(object)  # Attachment
    refused = Signal(str, object)  # the file's name, the Reason

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: list[FileReading] = []
        self._running: list[FileReading] = []

    @property
    def names(self) -> tuple[str, ...]:
        """Of the files that are not read yet."""
        return tuple(reading.name for reading in (*self._running, *self._waiting))

    def read_files(self, paths: Iterable[Path]) -> None:
        self._waiting += [FileReading(path) for path in paths]
        self._go_on()

    def cancel(self) -> None:
        """Cancels all of them."""
        self._waiting.clear()
        running, self._running = self._running, []
        for reading in running:
            reading.cancel()
        self.changed.emit()

    def cancel_file(self, number: int) -> None:
        """One of them, in the order of `names`."""
        reading = (*self._running, *self._waiting)[number]
        if reading in self._running:
            self._running.remove(reading)
            reading.cancel()
        else:
            self._waiting.remove(reading)
        self._go_on()

    def _go_on(self) -> None:
        while self._waiting and len(self._running) < MAX_AT_ONCE:
            reading = self._waiting.pop(0)
            self._running.append(reading)
            spawn(self._read(reading))
        self.changed.emit()

    async def _read(self, reading: FileReading) -> None:
        result: Attachment | RefusedError
        try:
            result = await asyncio.to_thread(reading.run)
        except ReadingCancelledError:
            return
        except RefusedError as refusal:
            result = refusal
        if reading not in self._running:  # cancelled in its last moment
            return
        self._running.remove(reading)
        if isinstance(result, RefusedError):
            self.refused.emit(reading.name, result.reason)
        else:
            self.read.emit(result)
        self._go_on()
