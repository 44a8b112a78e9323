"""Reads the files that are attached to a draft, each in its own process. GUI thread.

Knows files and attachments, but no chat.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.attachments.file_reading import AnyReading
from app.attachments.refusal import RefusedError
from app.bridge.media_files import MediaFiles
from app.bridge.tasks import spawn
from app.chats.attachment import Attachment
from app.media.reading import MediaRefusedError, ReadingCancelledError
from app.storage.errors import StorageError

MAX_AT_ONCE = 2


class DraftFiles(QObject):
    """Every file ends with `read` or `refused`, in the order in which they were given, or is cancelled."""

    changed = Signal()  # which files are being read
    read = Signal(object)  # Attachment
    refused = Signal(str, object)  # the file's name, the Reason or a sentence

    def __init__(self, media: MediaFiles, parent: QObject) -> None:
        super().__init__(parent)
        self._media = media
        self._waiting: list[AnyReading] = []
        self._running: list[AnyReading] = []  # or ended, and told after those before it
        self._results: dict[AnyReading, Attachment | Exception] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Of the files that are not read yet."""
        return tuple(reading.name for reading in (*self._running, *self._waiting))

    def read_files(self, paths: Iterable[Path]) -> None:
        self._waiting += [AnyReading(path) for path in paths]
        self._go_on()

    def read_bytes(self, content: bytes, name: str) -> None:
        """Of a picture or a sound that is no file: it was pasted or recorded."""
        self._waiting.append(AnyReading(content, name))
        self._go_on()

    def cancel(self) -> None:
        """Cancels all of them."""
        self._waiting.clear()
        running, self._running = self._running, []
        self._results.clear()
        for reading in running:
            reading.cancel()
        self.changed.emit()

    def cancel_file(self, number: int) -> None:
        """One of them, in the order of `names`."""
        reading = (*self._running, *self._waiting)[number]
        if reading in self._running:
            self._running.remove(reading)
            self._results.pop(reading, None)
            reading.cancel()
        else:
            self._waiting.remove(reading)
        self._go_on()

    def _go_on(self) -> None:
        while self._running and self._running[0] in self._results:
            self._tell(self._running.pop(0))
        while self._waiting and len(self._running) - len(self._results) < MAX_AT_ONCE:
            reading = self._waiting.pop(0)
            self._running.append(reading)
            spawn(self._read(reading))
        self.changed.emit()

    async def _read(self, reading: AnyReading) -> None:
        try:
            result: Attachment | Exception = await self._media.keep(await asyncio.to_thread(reading.run))
        except ReadingCancelledError:
            return
        except (RefusedError, MediaRefusedError, StorageError) as refusal:
            result = refusal
        if reading in self._running:  # not cancelled in its last moment
            self._results[reading] = result
            self._go_on()

    def _tell(self, reading: AnyReading) -> None:
        result = self._results.pop(reading)
        if isinstance(result, Attachment):
            self.read.emit(result)
        else:
            why = result.reason if isinstance(result, RefusedError) else str(result)
            self.refused.emit(reading.name, why)
