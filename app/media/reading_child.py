"""The child's side: reads one picture or sound within limits, says what it is or why not.

Once it has begun to look into the file, it can open no other.
"""

from __future__ import annotations

import io
import os
import stat
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile
import soxr
from PIL import Image, ImageOps, UnidentifiedImageError

from app.media.reading import MediaRefusedError, too_large
from app.media.sniff import (
    MAX_CHANNELS,
    MAX_FILE_BYTES,
    MAX_PIXELS,
    MAX_SAMPLE_RATE,
    MAX_SHOWN_PIXELS,
    MAX_SIDES,
    MAX_SOUND_S,
    THUMBNAIL_SIDE,
    is_heic,
    kind_of,
)
from app.protocol.media import MediaKind
from app.system import worker
from app.system.said import said
from app.system.worker import Answer, Parent, Question

PICTURE_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF")
BLOCK_FRAMES = 1 << 16
WHITE = (255, 255, 255, 255)
DEEP_MODES = ("I;16", "I;16L", "I;16B", "I", "F")  # of more than 8 bits
Floats = npt.NDArray[np.float32]


def read(question: dict[str, Any], content: bytes, is_sent: bool) -> Answer:
    """`is_sent`: the parent has the content. Raises MediaRefusedError."""
    match question:
        case {"do": "read"}:
            kind = kind_of(content)
            if kind is None:
                raise MediaRefusedError(said("This is neither a picture nor a sound that Skein can read."))
            found, *parts = read_picture(content) if kind is MediaKind.PICTURE else read_sound(content)
            return (found | {"kind": kind}, *parts, *(() if is_sent else (content,)))
        case {"do": "picture", "max_side": max_side}:
            image = shown(opened_picture(content))
            if max_side:
                image.thumbnail((max_side, max_side))
            return {"width": image.width, "height": image.height}, image.tobytes()
        case {"do": "sound", "rate": rate, "num_samples": wanted, "form": form}:
            sound = resampled(*samples_of(content), rate, wanted)
            return {}, sound.tobytes() if form == "f4" else wav(sound, rate)
    raise AssertionError(question)


# Pictures.


def read_picture(content: bytes) -> Answer:
    opened = opened_picture(content)
    name = opened.format or ""
    image = shown(opened)
    small = image.copy()
    small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    found = {"format": name, "width": image.width, "height": image.height, "thumbnail": small.size}
    return found, small.tobytes()


def opened_picture(content: bytes) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(content), formats=PICTURE_FORMATS)
    except UnidentifiedImageError as error:
        if is_heic(content):
            raise MediaRefusedError(
                said("HEIC pictures are not supported. Save the picture as JPEG or PNG.")
            ) from error
        raise damaged_picture() from error
    if image.width * image.height > MAX_PIXELS:
        raise MediaRefusedError(
            said(
                "The picture has {width:,} × {height:,} pixels, which is too large. Make it smaller.",
                width=image.width,
                height=image.height,
            )
        )
    if max(image.size) > MAX_SIDES * min(image.size):
        raise MediaRefusedError(
            said(
                "The picture has {width:,} × {height:,} pixels, too narrow for a model to see anything.",
                width=image.width,
                height=image.height,
            )
        )
    return image


def shown(image: Image.Image) -> Image.Image:
    """What a model is shown: upright, RGB, the first frame, on white where it is transparent."""
    side = int((MAX_SHOWN_PIXELS * max(image.size) / min(image.size)) ** 0.5)
    image.draft("RGB", (side, side))  # a JPEG is unpacked no larger than needed
    image.load()
    ImageOps.exif_transpose(image, in_place=True)
    if image.width * image.height > MAX_SHOWN_PIXELS:
        image.thumbnail((side, side))
    if image.mode in DEEP_MODES:
        image = eight_bits(image)
    if image.has_transparency_data:
        image = Image.alpha_composite(Image.new("RGBA", image.size, WHITE), image.convert("RGBA"))
    return image.convert("RGB")


def eight_bits(image: Image.Image) -> Image.Image:
    values = np.asarray(image).astype(np.float64)
    most = 65535.0 if image.mode.startswith("I;16") else max(float(np.nanmax(values)), 255.0)
    if image.mode == "F" and most <= 255.0 and float(np.nanmax(values)) <= 1.0:
        most = 1.0
    return Image.fromarray(np.nan_to_num(values * (255.0 / most)).clip(0, 255).astype(np.uint8))


def damaged_picture() -> MediaRefusedError:
    return MediaRefusedError(said("The picture is damaged, or its format is not supported."))


# Sounds.


def read_sound(content: bytes) -> Answer:
    sound, rate = samples_of(content)
    with opened_sound(content) as file:
        name = file.format
    return ({"format": name, "duration_s": len(sound) / rate},)


def opened_sound(content: bytes) -> soundfile.SoundFile:
    try:
        return soundfile.SoundFile(io.BytesIO(content))
    except (soundfile.LibsndfileError, TypeError) as error:
        raise MediaRefusedError(
            said("The sound is damaged, or its format is not supported. Use WAV, MP3, FLAC or Ogg.")
        ) from error


def samples_of(content: bytes) -> tuple[Floats, int]:
    """Mono, and how many a second. A file may have more than its head says, or less."""
    with opened_sound(content) as file:
        rate = file.samplerate
        if not 0 < rate <= MAX_SAMPLE_RATE or not 0 < file.channels <= MAX_CHANNELS:
            raise MediaRefusedError(
                said("The sound is damaged: its sample rate or number of channels is invalid.")
            )
        max_frames = int(MAX_SOUND_S * rate)
        blocks: list[Floats] = []
        num_frames = 0
        while num_frames <= max_frames:
            block = file.read(BLOCK_FRAMES, dtype="float32", always_2d=True)
            if not len(block):
                break
            blocks.append(block.mean(axis=1, dtype=np.float32))
            num_frames += len(block)
    if num_frames > max_frames:
        raise MediaRefusedError(
            said(
                "The sound is longer than {minutes} minutes. Send a part of it.",
                minutes=int(MAX_SOUND_S / 60),
            )
        )
    if not num_frames:
        raise MediaRefusedError(said("The sound is empty."))
    return np.nan_to_num(np.concatenate(blocks), posinf=0.0, neginf=0.0).clip(-1.0, 1.0), rate


def resampled(sound: Floats, rate: int, wanted_rate: int, num_samples: int) -> Floats:
    if rate != wanted_rate:
        sound = soxr.resample(sound, rate, wanted_rate)
    return np.pad(sound[:num_samples], (0, max(num_samples - len(sound), 0))).astype(np.float32)


def wav(sound: Floats, rate: int) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, sound, rate, format="WAV", subtype="PCM_16")
    return file.getvalue()


# The process.


def content_at(path: Path) -> bytes:
    """Opens regular files only: opening a pipe or a device has side effects. Raises MediaRefusedError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise MediaRefusedError(said("{name} is not a file.", name=path.name))
        # Should it have become a pipe meanwhile, this does not wait for its writer.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise MediaRefusedError(
            said("{name} could not be read: {reason}.", name=path.name, reason=error.strerror or str(error))
        ) from error


def checked(content: bytes) -> bytes:
    if len(content) > MAX_FILE_BYTES:
        raise MediaRefusedError(too_large())
    if not content:
        raise MediaRefusedError(said("The file is empty."))
    return content


def answer(question: Question) -> Answer:
    """Raises MediaRefusedError."""
    asked, is_sent = question.value, bool(question.parts)
    content = checked(question.parts[0] if is_sent else content_at(Path(asked["path"])))
    shut(asked["limits"])
    try:
        return read(asked, content, is_sent)
    except MediaRefusedError:
        raise
    except MemoryError as error:
        raise MediaRefusedError(said("Reading the file takes too much memory. It may be damaged.")) from error
    except Exception as error:  # whatever a reader raises, the file cannot be read
        raise damaged_picture() from error


def shut(limits: dict[str, int]) -> None:
    """All that reading needs is loaded before; from here on no file can be opened."""
    Image.init()
    Image.MAX_IMAGE_PIXELS = None  # we look at the size ourselves
    warnings.simplefilter("ignore")
    soxr.resample(np.zeros(16, np.float32), 8000, 16000)
    worker.stand_back()
    worker.limit(**limits, FSIZE=0, NOFILE=0)


if __name__ == "__main__":
    Parent().serve(answer, MediaRefusedError)
