"""Plays the sounds of messages, one at a time. GUI thread; the loudspeaker is opened and closed on others."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.media.reading import MediaRefusedError, wav
from app.media.sound_devices import SoundDeviceError, SoundDevices, Speaker
from app.protocol.media import Media
from app.storage.errors import StorageError
from app.system.said import said

TICK_MS = 100


class SoundPlayer(QObject):
    changed = Signal(str)  # the SHA-256 of the sound that begins, goes on or ends

    def __init__(
        self,
        devices: SoundDevices,
        file_of: Callable[[Media], Awaitable[bytes | None]],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._devices = devices
        self._file_of = file_of
        self._sha256 = ""
        self._speaker: Speaker | None = None
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._on_tick)

    def share_of(self, media: Media) -> float | None:
        """How much of it is played, 0 … 1. None: it is not being played."""
        if media.sha256 != self._sha256:
            return None
        return self._speaker.share if self._speaker else 0.0

    def toggle(self, media: Media, tell: Callable[[str], object]) -> None:
        """Plays it in place of another, or stops it. `tell` hears what goes wrong."""
        was_playing = self._sha256
        self.stop()
        if media.sha256 != was_playing:
            self._sha256 = media.sha256
            spawn(self._play(media, tell))
            self.changed.emit(media.sha256)

    def stop(self) -> None:
        speaker, self._speaker = self._speaker, None
        sha256, self._sha256 = self._sha256, ""
        self._timer.stop()
        if speaker:
            spawn(asyncio.to_thread(speaker.close))
        if sha256:
            self.changed.emit(sha256)

    async def _play(self, media: Media, tell: Callable[[str], object]) -> None:
        trouble = ""
        speaker = None
        try:
            file = await self._file_of(media)
            if file:
                whole = replace(media, file=file)
                speaker = await asyncio.to_thread(self._devices.play, lambda rate: wav(whole, rate))
            else:
                trouble = said("The file of this sound is lost or damaged.")
        except (SoundDeviceError, MediaRefusedError, StorageError) as error:
            trouble = str(error)
        is_wanted = isValid(self) and self._sha256 == media.sha256 and not self._speaker
        if speaker and not is_wanted:
            await asyncio.to_thread(speaker.close)
        elif speaker:
            self._speaker = speaker
            self._timer.start()
        elif is_wanted:
            self.stop()
            tell(trouble)

    @Slot()
    def _on_tick(self) -> None:
        assert self._speaker
        if self._speaker.has_ended:
            self.stop()
        else:
            self.changed.emit(self._sha256)
