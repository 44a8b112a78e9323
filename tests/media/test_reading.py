import io
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import soundfile
from PIL import Image

from app.media import reading
from app.media.reading import MediaReading, MediaRefusedError, ReadingCancelledError
from app.media.sniff import kind_of
from app.protocol.media import MediaKind
from tests.media.hostile import FEW, FILES, outcome


def png(size=(640, 480)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, "PNG")
    return file.getvalue()


def test_a_picture_is_read_by_its_path_and_by_its_content(tmp_path):
    content = png()
    path = tmp_path / "red.bin"  # its name says nothing
    path.write_bytes(content)
    read = MediaReading(path).run()
    assert read.media == MediaReading(content).run().media
    assert (read.media.kind, read.media.file, read.format) == (MediaKind.PICTURE, content, "PNG")
    assert (read.media.width, read.media.height) == (640, 480)
    assert (read.thumbnail.width, read.thumbnail.height) == (320, 240)
    assert read.thumbnail.rgb[:3] == b"\xff\0\0"
    shown = reading.picture(read.media, 64)
    assert (shown.width, shown.height, len(shown.rgb)) == (64, 48, 64 * 48 * 3)


def test_a_photo_is_shown_as_it_was_taken():
    """Cameras write the rows as the sensor lies, and beside them how it was held."""
    photo, exif, file = Image.new("RGB", (640, 480), "red"), Image.Exif(), io.BytesIO()
    photo.paste("blue", (0, 0, 320, 480))
    exif[0x0112] = 6  # a quarter turn to the right
    photo.save(file, "JPEG", exif=exif.tobytes())
    read = MediaReading(file.getvalue()).run()
    assert (read.media.width, read.media.height) == (480, 640)
    assert (read.thumbnail.width, read.thumbnail.height) == (240, 320)
    shown = reading.picture(read.media)
    red, _green, blue = shown.rgb[:3]
    assert blue > red, "its left side is on top"


def test_a_sound_becomes_as_many_samples_as_its_length_says():
    file = io.BytesIO()
    stereo = np.stack([np.full(44_100, 0.5), np.full(44_100, -0.5)], axis=1)
    soundfile.write(file, stereo, 44_100, format="WAV", subtype="FLOAT")
    media = MediaReading(file.getvalue()).run().media
    assert (media.kind, media.duration_s) == (MediaKind.SOUND, 1.0)
    samples = np.frombuffer(reading.samples(media, 16_000), np.float32)
    assert len(samples) == 16_000
    assert abs(samples).max() < 1e-3  # the two sides add up to nothing
    assert reading.wav(media).startswith(b"RIFF")


def test_a_pipe_is_not_waited_for_and_a_missing_file_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "gone.png"):
        with pytest.raises(MediaRefusedError, match=name):
            MediaReading(tmp_path / name).run()


def test_a_reading_can_be_cancelled_at_any_time():
    one = MediaReading(png((8000, 7000)))
    threading.Timer(0.05, one.cancel).start()
    with pytest.raises(ReadingCancelledError):
        one.run()
    with pytest.raises(ReadingCancelledError):
        one.run()


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", MediaKind.PICTURE),
        (b"RIFF\0\0\0\0WEBPVP8 ", MediaKind.PICTURE),
        (b"RIFF\0\0\0\0WAVEfmt ", MediaKind.SOUND),
        (b"\0\0\0\x18ftypheic", MediaKind.PICTURE),
        (b"ID3\x04", MediaKind.SOUND),
        (b"\xff\xfb\x90\x00", MediaKind.SOUND),
        (b"\xff\xd8\xff\xe0", MediaKind.PICTURE),
        (b"BMW is a car, not a picture", None),
        (b"%PDF-1.7", None),
        (b"", None),
    ],
)
def test_a_file_is_told_by_its_first_bytes(head, kind):
    assert kind_of(head) is kind


NO_FILES = """
import socket
from app.media import reading_child
reading_child.shut({"AS": 1 << 30, "CPU": 20})
for call in (lambda: open("/etc/passwd"), lambda: socket.socket(), lambda: open("/dev/null", "w")):
    try:
        call()
    except OSError:
        continue
    raise SystemExit("it was opened")
"""


def test_each_is_read_or_refused_with_a_sentence():
    with ThreadPoolExecutor(2) as pool:
        outcomes = dict(zip(FEW, pool.map(outcome, FEW), strict=True))
    for name, (said, _read) in outcomes.items():
        assert FILES[name][1] in said, name
    turned = outcomes["a JPEG turned by its EXIF"][1].media
    assert (turned.width, turned.height) == (40, 60)
    bright = outcomes["16 bits"][1].thumbnail.rgb
    assert set(bright) == {255}
    assert set(outcomes["see-through"][1].thumbnail.rgb) == {255}


def test_the_child_opens_no_file_and_no_socket_once_it_reads():
    done = subprocess.run([sys.executable, "-c", NO_FILES], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
