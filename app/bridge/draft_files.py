"""The files on their way into a draft: each is read in a process of its own. GUI thread.

Knows paths and what comes of them, but no chat.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.attachments.file_reading import FileReading
from app.attachments.refusal import ReadingCancelledError, RefusedError
from app.bridge.tasks import spawn

MAX_AT_ONCE = 2


class DraftFiles(QObject):
    """Whatever is asked for ends: as `read`, as `refused`, or because somebody cancelled it."""

    changed = Signal()  # which files are being read
    read = Signal(object)  # Attachment
    refused = Signal(str, object)  # the file's name, the Reason

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._readings: list[FileReading] = []
        self._num_running = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Of the files that are not read yet."""
        return tuple(reading.name for reading in self._readings)

    def read_files(self, paths: Iterable[Path]) -> None:
        self._readings += [FileReading(path) for path in paths]
        self.changed.emit()
        while self._num_running < min(MAX_AT_ONCE, len(self._readings)):
            self._num_running += 1
            spawn(self._read_all())

    def cancel(self) -> None:
        """None of them is wanted any more."""
        readings, self._readings = self._readings, []
        for reading in readings:
            reading.cancel()
        self.changed.emit()

    async def _read_all(self) -> None:
        """One after the other, those that nobody else has begun."""
        begun: FileReading | None
        try:
            while begun := next((each for each in self._readings if not each.has_begun), None):
                await self._read(begun)
        finally:
            self._num_running -= 1

    async def _read(self, reading: FileReading) -> None:
        reading.has_begun = True
        try:
            attachment = await asyncio.to_thread(reading.run)
        except ReadingCancelledError:
            return
        except RefusedError as refusal:
            if self._leave(reading):
                self.refused.emit(reading.name, refusal.reason)
        else:
            if self._leave(reading):
                self.read.emit(attachment)

    def _leave(self, reading: FileReading) -> bool:
        """False if it was cancelled in its last moment."""
        if reading not in self._readings:
            return False
        self._readings.remove(reading)
        self.changed.emit()
        return True
