"""Records a sound for a draft. GUI thread; the microphone is opened and closed on others."""

import asyncio

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.media.sniff import MAX_RECORDED_S
from app.media.sound_devices import Microphone, SoundDeviceError, SoundDevices
from app.system.said import said

TICK_MS = 100


class Recorder(QObject):
    """Every recording ends with `recorded` or `failed`, unless it is discarded."""

    changed = Signal()  # whether it records, for how long, the level
    recorded = Signal(object)  # bytes of a WAV file
    failed = Signal(str)  # a sentence; after `recorded`, where only the rest is missing

    def __init__(self, devices: SoundDevices, parent: QObject) -> None:
        super().__init__(parent)
        self._devices = devices
        self._number = 0  # of recordings that were begun or discarded
        self._is_opening = False
        self._microphone: Microphone | None = None
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._on_tick)

    @property
    def is_open(self) -> bool:
        """It records, or waits for the microphone."""
        return self._is_opening or self._microphone is not None

    @property
    def seconds(self) -> float | None:
        """None while it waits for the microphone."""
        return self._microphone.seconds if self._microphone else None

    @property
    def level(self) -> float:
        """0 … 1."""
        return self._microphone.level if self._microphone else 0.0

    def start(self) -> None:
        if not self.is_open:
            self._is_opening = True
            self._number += 1
            spawn(self._open(self._number))
            self.changed.emit()

    def stop(self) -> None:
        """What was recorded becomes a file."""
        if self._microphone:
            spawn(self._keep(self._let_go()))
        else:
            self.discard()

    def discard(self) -> None:
        if self.is_open and (microphone := self._let_go()):
            spawn(asyncio.to_thread(microphone.close))

    def _let_go(self) -> Microphone | None:
        microphone, self._microphone = self._microphone, None
        self._is_opening = False
        self._number += 1
        self._timer.stop()
        self.changed.emit()
        return microphone

    async def _open(self, number: int) -> None:
        try:
            microphone = await asyncio.to_thread(self._devices.record)
        except SoundDeviceError as error:
            if isValid(self) and number == self._number:
                self._let_go()
                self.failed.emit(str(error))
            return
        if not isValid(self) or number != self._number:  # it was discarded meanwhile
            await asyncio.to_thread(microphone.close)
            return
        self._is_opening = False
        self._microphone = microphone
        self._timer.start()
        self.changed.emit()

    async def _keep(self, microphone: Microphone | None, trouble: str = "") -> None:
        assert microphone
        await asyncio.to_thread(microphone.close)
        if not isValid(self):
            return
        if microphone.is_silent:
            trouble = said(
                "Nothing was recorded. Check that the microphone is not muted, and that the system "
                "lets this program use it."
            )
        else:
            self.recorded.emit(microphone.wav())
        if trouble:
            self.failed.emit(trouble)

    @Slot()
    def _on_tick(self) -> None:
        microphone = self._microphone
        assert microphone
        if microphone.is_lost:
            trouble = said("The microphone was disconnected. What was recorded until then is attached.")
            spawn(self._keep(self._let_go(), trouble))
        elif microphone.seconds >= MAX_RECORDED_S:
            trouble = said(
                "A recording is at most {minutes} minutes long.", minutes=int(MAX_RECORDED_S) // 60
            )
            spawn(self._keep(self._let_go(), trouble))
        else:
            self.changed.emit()
