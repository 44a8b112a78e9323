"""The microphone and the loudspeaker, through PortAudio.

Its library is imported at the first use: only then does the operating system ask whether this program may
listen. Opening a device blocks, for as long as it asks. PortAudio calls back on a thread of its own.
"""

from __future__ import annotations

import io
import math
import sys
import threading
import time
import wave
from array import array
from collections.abc import Callable
from typing import Any, TypeVar

from app.media.sniff import SOUND_RATE
from app.system.said import said

T = TypeVar("T")
SAMPLE_BYTES = 2  # 16 bits, mono
LOST_AFTER_S = 3.0  # without a buffer
QUIETEST_DB = -50.0  # of the level meter


class SoundDeviceError(Exception):
    """It cannot be used; the text is a sentence for the user."""


class SoundDevices:
    """Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._num_open = 0

    def record(self) -> Microphone:
        """From the system's default input, at once. Raises SoundDeviceError."""
        library, rate = self._opening("input")
        return self._opened(lambda: Microphone(library, rate, self._on_closed))

    def play(self, wav_at: Callable[[int], bytes]) -> Speaker:
        """On the system's default output, at once. `wav_at` makes a WAV file of so many samples a second.

        Raises SoundDeviceError, and what `wav_at` raises.
        """
        library, rate = self._opening("output")
        return self._opened(lambda: Speaker(library, rate, wav_at(rate), self._on_closed))

    def _opened(self, make: Callable[[], T]) -> T:
        try:
            return make()
        except BaseException:
            self._on_closed()
            raise

    def _opening(self, kind: str) -> tuple[Any, int]:
        """The library, and at how many samples a second."""
        with self._lock:
            library = _library()
            if not self._num_open:  # it knows only the devices that there were when it began
                library._terminate()
                library._initialize()
            rate = _rate(library, kind)
            self._num_open += 1
            return library, rate

    def _on_closed(self) -> None:
        with self._lock:
            self._num_open -= 1


class Microphone:
    """Records from when it is made until it is closed."""

    def __init__(self, library: Any, rate: int, on_closed: Callable[[], None]) -> None:
        """Raises SoundDeviceError."""
        self._rate = rate
        self._pieces: list[bytes] = []
        self._num_bytes = self._peak = 0
        self.level = 0.0  # of the last piece, 0 … 1
        self._stream = _Stream(library, "RawInputStream", rate, self._on_heard, on_closed)

    @property
    def seconds(self) -> float:
        return self._num_bytes / SAMPLE_BYTES / self._rate

    @property
    def is_lost(self) -> bool:
        return self._stream.is_lost

    @property
    def is_silent(self) -> bool:
        """Every sample so far is 0, as where the system gives nothing to this program, or it is muted."""
        return not self._peak

    def wav(self) -> bytes:
        file = io.BytesIO()
        with wave.open(file, "wb") as writer:
            writer.setparams((1, SAMPLE_BYTES, self._rate, 0, "NONE", ""))
            writer.writeframes(b"".join(self._pieces))
        return file.getvalue()

    def close(self) -> None:
        self._stream.close()

    def _on_heard(self, buffer: Any) -> bool:
        piece = bytes(buffer)
        samples = array("h", piece)
        peak = max(max(samples), -min(samples)) if samples else 0
        self._pieces.append(piece)
        self._num_bytes += len(piece)
        self._peak = max(self._peak, peak)
        self.level = _level(peak)
        return True


class Speaker:
    """Plays from when it is made until its end, or until it is closed."""

    def __init__(self, library: Any, rate: int, wav: bytes, on_closed: Callable[[], None]) -> None:
        """`wav` is of 16 bits, mono, at `rate`. Raises SoundDeviceError."""
        with wave.open(io.BytesIO(wav)) as reader:
            self._data = reader.readframes(reader.getnframes())
        self._at = 0
        self._stream = _Stream(library, "RawOutputStream", rate, self._on_wanted, on_closed)

    @property
    def share(self) -> float:
        """How much of it is played, 0 … 1."""
        return self._at / len(self._data) if self._data else 1.0

    @property
    def has_ended(self) -> bool:
        return self._stream.is_lost

    def close(self) -> None:
        self._stream.close()

    def _on_wanted(self, buffer: Any) -> bool:
        piece = self._data[self._at : self._at + len(buffer)]
        buffer[:] = piece + bytes(len(buffer) - len(piece))
        self._at += len(piece)
        return self._at < len(self._data)


class _Stream:
    def __init__(
        self,
        library: Any,
        kind: str,
        rate: int,
        on_called: Callable[[Any], bool],
        on_closed: Callable[[], None],
    ) -> None:
        """`on_called` gets the buffer, and says whether there is more to do. Raises SoundDeviceError."""
        self._stop, self._on_called, self._on_closed = library.CallbackStop, on_called, on_closed
        self._called_at = time.monotonic()
        self._is_closed = False
        try:
            self._stream = getattr(library, kind)(
                samplerate=rate, channels=1, dtype="int16", callback=self._call
            )
            try:
                self._stream.start()
            except BaseException:
                self._stream.close(ignore_errors=True)
                raise
        except library.PortAudioError as error:
            raise SoundDeviceError(
                said(
                    "The sound device could not be opened: {reason}. Check that it is connected, and that "
                    "the system lets this program use it.",
                    reason=str(error.args[0]),
                )
            ) from error

    @property
    def is_lost(self) -> bool:
        """It has ended, or the device was taken away."""
        return self._is_closed or not self._stream.active or self._is_late

    @property
    def _is_late(self) -> bool:
        return time.monotonic() - self._called_at > LOST_AFTER_S

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._stream.abort(ignore_errors=True)
            self._stream.close(ignore_errors=True)
            self._on_closed()

    def _call(self, buffer: Any, _num_frames: int, _time: object, _flags: object) -> None:
        """PortAudio's thread."""
        self._called_at = time.monotonic()
        if not self._on_called(buffer):
            raise self._stop


def _library() -> Any:
    try:
        import sounddevice
    except (ImportError, OSError) as error:  # OSError: the module is there, and PortAudio is not
        if sys.platform == "linux":
            raise SoundDeviceError(
                said(
                    "Recording and playing sounds needs PortAudio. Install it with the system's package "
                    "manager (libportaudio2 on Debian and Ubuntu, portaudio on Fedora and Arch)."
                )
            ) from error
        raise SoundDeviceError(
            said("Sounds cannot be recorded or played: {reason}.", reason=str(error))
        ) from error
    return sounddevice


def _rate(library: Any, kind: str) -> int:
    """16 kHz, or what the device prefers."""
    check = library.check_input_settings if kind == "input" else library.check_output_settings
    try:
        device = library.query_devices(kind=kind)
    except (library.PortAudioError, ValueError) as error:
        if kind == "input":
            raise SoundDeviceError(
                said("No microphone was found. Connect one, or choose one in the system's settings.")
            ) from error
        raise SoundDeviceError(
            said("No loudspeaker was found. Connect one, or choose one in the system's settings.")
        ) from error
    try:
        check(channels=1, dtype="int16", samplerate=SOUND_RATE)
    except library.PortAudioError:
        return int(device["default_samplerate"])
    return SOUND_RATE


def _level(peak: int) -> float:
    decibels = 20 * math.log10(peak / 32768) if peak else QUIETEST_DB
    return max(0.0, 1 - decibels / QUIETEST_DB)
