"""The recorder and the player, with a library that a test drives."""

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import QObject

from app.bridge import recorder as recorder_module
from app.bridge import sound_player
from app.bridge.recorder import Recorder
from app.bridge.sound_player import SoundPlayer
from app.bridge.tasks import finish_all
from app.media.sound_devices import SoundDevices
from app.protocol.media import Media, MediaKind
from tests.fake_sound_devices import FakePortAudio, port_audio
from tests.media.test_sound_devices import LOUD, frames, wav

__all__ = ["port_audio"]
SOUND = Media(MediaKind.SOUND, "abc", b"", duration_s=1.0)


class Heard:
    def __init__(self) -> None:
        self.parent = QObject()
        self.recorder = Recorder(SoundDevices(), self.parent)
        self.files: list[bytes] = []
        self.troubles: list[str] = []
        self.recorder.recorded.connect(self.files.append)
        self.recorder.failed.connect(self.troubles.append)


@pytest.fixture
def heard(qapp) -> Heard:
    return Heard()


async def test_a_recording_becomes_a_file_or_is_discarded(
    qloop, heard: Heard, port_audio: FakePortAudio
) -> None:
    heard.recorder.start()
    assert (heard.recorder.is_open, heard.recorder.seconds) == (True, None)
    await finish_all()
    port_audio.streams[0].call(LOUD)
    assert heard.recorder.seconds == 160 / 16_000
    heard.recorder.stop()
    assert not heard.recorder.is_open
    await finish_all()
    assert [frames(file)[1] for file in heard.files] == [LOUD]
    heard.recorder.start()
    await finish_all()
    heard.recorder.discard()
    heard.recorder.start()
    heard.recorder.discard()  # while it is being opened
    await finish_all()
    assert len(port_audio.streams) == 3
    assert all(stream.is_closed for stream in port_audio.streams)
    assert (len(heard.files), heard.troubles) == (1, [])


async def test_what_ends_a_recording_is_said(qloop, heard, port_audio: FakePortAudio, monkeypatch) -> None:
    heard.recorder.start()
    await finish_all()
    port_audio.streams[0].call(LOUD)
    port_audio.streams[0].active = False
    heard.recorder._on_tick()
    await finish_all()
    monkeypatch.setattr(recorder_module, "MAX_RECORDED_S", 0.0)
    heard.recorder.start()
    await finish_all()
    port_audio.streams[1].call(LOUD)
    heard.recorder._on_tick()
    await finish_all()
    assert len(heard.files) == 2
    heard.recorder.start()
    await finish_all()
    port_audio.streams[2].call(bytes(320))
    heard.recorder.stop()
    await finish_all()
    port_audio.has_devices = False
    heard.recorder.start()
    await finish_all()
    assert len(heard.files) == 2
    assert not heard.recorder.is_open
    beginnings = [trouble.split(".")[0] for trouble in heard.troubles]
    assert beginnings == [
        "The microphone was disconnected",
        "A recording is at most 0 minutes long",
        "Nothing was recorded",
        "No microphone was found",
    ]


async def test_one_sound_is_played_at_a_time(qloop, port_audio: FakePortAudio, monkeypatch) -> None:
    monkeypatch.setattr(sound_player, "wav", lambda _media, rate: wav(LOUD, rate))
    files: dict[str, bytes] = {"abc": b"file", "def": b"file"}

    async def file_of(media: Media) -> bytes | None:
        return files.get(media.sha256)

    parent, troubles = QObject(), []
    player = SoundPlayer(SoundDevices(), file_of, parent)
    other = replace(SOUND, sha256="def")
    player.toggle(SOUND, troubles.append)
    await finish_all()
    port_audio.streams[0].call(bytearray(160))
    assert (player.share_of(SOUND), player.share_of(other)) == (0.5, None)
    player.toggle(other, troubles.append)
    await finish_all()
    assert (port_audio.streams[0].is_closed, player.share_of(SOUND), player.share_of(other)) == (
        True,
        None,
        0.0,
    )
    port_audio.streams[1].call(bytearray(1000))
    player._on_tick()
    assert player.share_of(other) is None
    player.toggle(SOUND, troubles.append)
    player.toggle(SOUND, troubles.append)  # before it began
    files.clear()
    player.toggle(other, troubles.append)
    await finish_all()
    await asyncio.sleep(0)
    assert all(stream.is_closed for stream in port_audio.streams)
    assert troubles == ["The file of this sound is lost or damaged."]
    assert player.share_of(other) is None
