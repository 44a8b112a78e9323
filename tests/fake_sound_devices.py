"""PortAudio without a device: a test plays the part of its thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.media import sound_devices


class FakeStream:
    def __init__(self, library: FakePortAudio, rate: int, callback: Callable[..., None]) -> None:
        self.library, self.rate, self._callback = library, rate, callback
        self.active = self.is_closed = False

    def start(self) -> None:
        if self.library.refusal:
            raise FakePortAudio.PortAudioError(self.library.refusal)
        self.active = True

    def call(self, buffer: bytes | bytearray) -> None:
        try:
            self._callback(buffer, len(buffer) // 2, None, None)
        except FakePortAudio.CallbackStop:
            self.active = False

    def abort(self, ignore_errors: bool) -> None:
        self.active = False

    def close(self, ignore_errors: bool) -> None:
        self.is_closed = True


class FakePortAudio:
    class PortAudioError(Exception):
        pass

    class CallbackStop(Exception):  # noqa: N818 - its name in sounddevice
        pass

    def __init__(self) -> None:
        self.streams: list[FakeStream] = []
        self.has_devices = True
        self.takes_any_rate = True
        self.refusal = ""
        self.num_starts = 0

    def _initialize(self) -> None:
        self.num_starts += 1

    def _terminate(self) -> None:
        assert all(stream.is_closed for stream in self.streams), "it would end what is open"

    def query_devices(self, kind: str) -> dict[str, Any]:
        if not self.has_devices:
            raise self.PortAudioError(f"Error querying device -1 ({kind})")
        return {"default_samplerate": 48000.0}

    def check_input_settings(self, **_settings: object) -> None:
        if not self.takes_any_rate:
            raise self.PortAudioError("Invalid sample rate")

    check_output_settings = check_input_settings

    def RawInputStream(self, samplerate: int, callback: Any, **_told: object) -> FakeStream:
        self.streams.append(FakeStream(self, samplerate, callback))
        return self.streams[-1]

    RawOutputStream = RawInputStream


@pytest.fixture
def port_audio(monkeypatch: pytest.MonkeyPatch) -> FakePortAudio:
    library = FakePortAudio()
    monkeypatch.setattr(sound_devices, "_library", lambda: library)
    return library
