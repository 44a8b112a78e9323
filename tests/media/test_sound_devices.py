import io
import sys
import wave

import pytest

from app.media.sound_devices import LOST_AFTER_S, SoundDeviceError, SoundDevices
from tests.fake_sound_devices import FakePortAudio, port_audio

__all__ = ["port_audio"]
LOUD = bytes([0, 64]) * 160  # half of the range


def frames(wav: bytes) -> tuple[int, bytes]:
    with wave.open(io.BytesIO(wav)) as reader:
        assert (reader.getnchannels(), reader.getsampwidth()) == (1, 2)
        return reader.getframerate(), reader.readframes(reader.getnframes())


def wav(content: bytes, rate: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, rate, 0, "NONE", ""))
        writer.writeframes(content)
    return file.getvalue()


@pytest.mark.parametrize(("takes_any_rate", "rate"), [(True, 16_000), (False, 48_000)])
def test_what_the_microphone_hears_becomes_a_wav_file(
    port_audio: FakePortAudio, takes_any_rate, rate
) -> None:
    port_audio.takes_any_rate = takes_any_rate
    microphone = SoundDevices().record()
    (stream,) = port_audio.streams
    assert microphone.is_silent
    stream.call(bytes(320))
    assert microphone.is_silent
    assert microphone.level == 0
    stream.call(LOUD)
    assert not microphone.is_silent
    assert 0.8 < microphone.level < 1
    assert microphone.seconds == 320 / rate
    microphone.close()
    assert stream.is_closed
    assert frames(microphone.wav()) == (rate, bytes(320) + LOUD)


def test_a_microphone_that_is_taken_away_is_lost(port_audio: FakePortAudio, monkeypatch) -> None:
    devices = SoundDevices()
    microphone = devices.record()
    assert not microphone.is_lost
    port_audio.streams[0].active = False
    assert microphone.is_lost
    microphone.close()
    hanging = devices.record()
    begun = hanging._stream._called_at
    monkeypatch.setattr("app.media.sound_devices.time.monotonic", lambda: begun + LOST_AFTER_S + 1)
    assert hanging.is_lost
    hanging.close()


def test_new_devices_are_found_unless_that_would_end_what_is_open(port_audio: FakePortAudio) -> None:
    devices = SoundDevices()
    first = devices.record()
    second = devices.play(lambda rate: wav(LOUD, rate))
    assert port_audio.num_starts == 1
    first.close()
    second.close()
    second.close()
    devices.record().close()
    assert port_audio.num_starts == 2


def test_a_sound_is_played_to_its_end(port_audio: FakePortAudio) -> None:
    port_audio.takes_any_rate = False
    speaker = SoundDevices().play(lambda rate: wav(LOUD, rate))
    (stream,) = port_audio.streams
    assert stream.rate == 48_000
    buffer = bytearray(200)
    stream.call(buffer)
    assert (bytes(buffer), speaker.share, speaker.has_ended) == (LOUD[:200], 200 / 320, False)
    stream.call(buffer)
    assert bytes(buffer) == LOUD[200:] + bytes(80)
    assert (speaker.share, speaker.has_ended) == (1.0, True)
    speaker.close()


def test_without_a_device_there_is_a_sentence(port_audio: FakePortAudio) -> None:
    devices = SoundDevices()
    port_audio.has_devices = False
    with pytest.raises(SoundDeviceError, match="No microphone was found"):
        devices.record()
    with pytest.raises(SoundDeviceError, match="No loudspeaker was found"):
        devices.play(lambda rate: wav(LOUD, rate))
    port_audio.has_devices, port_audio.refusal = True, "Device unavailable"
    with pytest.raises(SoundDeviceError, match=r"could not be opened: Device unavailable\."):
        devices.record()
    assert port_audio.num_starts == 3
    port_audio.refusal = ""
    devices.record().close()


@pytest.mark.skipif(sys.platform != "linux", reason="PortAudio is the system's on Linux alone")
def test_without_portaudio_it_is_said_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(SoundDeviceError, match="libportaudio2"):
        SoundDevices().record()
