"""Files that were made to harm: `python -m tests.media.hostile` reads each in a child of its own.

Prints what was said of each, and how much time and memory the worst took.
"""

from __future__ import annotations

import io
import resource
import struct
import sys
import time
import zlib
from collections.abc import Callable

import numpy as np
import soundfile
from PIL import Image

from app.media.reading import MediaReading, MediaRefusedError, ReadMedia
from app.media.sniff import MAX_FILE_BYTES

READ = "read"


def saved(image: Image.Image, form: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def noise(width: int = 60, height: int = 40) -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (height, width, 3), np.uint8))


def png(width: int, height: int, data: bytes, *more: tuple[bytes, bytes], depth: int = 8) -> bytes:
    def chunk(name: bytes, content: bytes) -> bytes:
        body = name + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, depth, 2 if depth == 8 else 0, 0, 0, 0)
    chunks = [(b"IHDR", head), *more, (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*one) for one in chunks)


def wav(samples: np.ndarray, rate: int = 16_000, form: str = "WAV", **options: str) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=form, **options)
    return file.getvalue()


def patched(content: bytes, at: int, new: bytes) -> bytes:
    return content[:at] + new + content[at + len(new) :]


def rotated() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return saved(noise(60, 40), "JPEG", exif=exif.tobytes())


def self_referring_tiff() -> bytes:
    """Its only directory names itself as the next one."""
    tiff = bytearray(saved(noise(), "TIFF"))
    (first,) = struct.unpack_from("<I", tiff, 4)
    (count,) = struct.unpack_from("<H", tiff, first)
    struct.pack_into("<I", tiff, first + 2 + 12 * count, first)
    return bytes(tiff)


def frames(form: str, count: int = 40) -> bytes:
    others = [noise(30, 30).rotate(number) for number in range(count)]
    return saved(noise(30, 30), form, save_all=True, append_images=others)


def tone(seconds: float, rate: int = 16_000) -> np.ndarray:
    return np.sin(np.arange(int(seconds * rate)) / 9).astype(np.float32)


def see_through() -> bytes:
    image = noise().convert("RGBA")
    image.putalpha(0)
    return saved(image, "PNG")


Content = Callable[[], bytes]
# What is to be said of each: a word of the refusal, or that it is read.
FILES: dict[str, tuple[Content, str]] = {
    "a bomb of one bit a pixel": (
        lambda: png(30_000, 30_000, zlib.compress(bytes(10_000_000)), depth=1),
        "too large",
    ),
    "50,000 x 1": (lambda: saved(Image.new("L", (50_000, 1)), "PNG"), "too narrow"),
    "a truncated PNG": (lambda: saved(noise(), "PNG")[:900], "damaged"),
    "a PNG whose sum is wrong": (lambda: patched(saved(noise(), "PNG"), 29, b"\0\0\0\0"), "damaged"),
    "no width": (lambda: png(0, 10, zlib.compress(b"\0" * 100)), "damaged"),
    "two billion pixels wide": (lambda: png(2**31 - 1, 2**31 - 1, zlib.compress(b"\0")), "too large"),
    "pixels that unpack to more": (lambda: png(10, 10, zlib.compress(bytes(60_000_000))), READ),
    "a text that unpacks to 60 MB": (
        lambda: png(
            10,
            10,
            zlib.compress((b"\0" + bytes(30)) * 10),
            (b"zTXt", b"Comment\0\0" + zlib.compress(bytes(60_000_000))),
        ),
        "damaged",
    ),
    "too few pixels": (lambda: png(1000, 1000, zlib.compress(b"\0")), "damaged"),
    "40 frames of PNG": (lambda: frames("PNG"), READ),
    "40 frames of GIF": (lambda: frames("GIF"), READ),
    "a GIF with a huge screen": (
        lambda: patched(saved(noise(), "GIF"), 6, b"\xff\xff\xff\xff"),
        "too large",
    ),
    "a truncated JPEG": (lambda: saved(noise(400, 300), "JPEG")[:900], "damaged"),
    "a JPEG turned by its EXIF": (rotated, READ),
    "a JPEG in CMYK": (lambda: saved(noise().convert("CMYK"), "JPEG"), READ),
    "a JPEG with broken EXIF": (lambda: rotated().replace(b"II*\0", b"II*\xff", 1), READ),
    "16 bits": (lambda: saved(Image.fromarray(np.full((40, 60), 65_535, np.uint16)), "PNG"), READ),
    "floats": (lambda: saved(Image.fromarray(np.full((40, 60), np.nan, np.float32)), "TIFF"), READ),
    "see-through": (see_through, READ),
    "40 frames of WebP": (lambda: frames("WEBP", 10), READ),
    "a truncated WebP": (lambda: saved(noise(300, 200), "WEBP")[:200], "damaged"),
    "a BMP of a billion pixels": (
        lambda: patched(saved(noise(), "BMP"), 18, struct.pack("<ii", 30_000, 30_000)),
        "too large",
    ),
    "a BMP upside down": (lambda: patched(saved(noise(), "BMP"), 22, struct.pack("<i", -40)), READ),
    "a TIFF that goes round": (self_referring_tiff, READ),
    "a TIFF with pages": (lambda: frames("TIFF", 5), READ),
    "a TIFF of nothing": (lambda: b"II*\0\x08\0\0\0" + bytes(40), "damaged"),
    "a truncated AVIF": (lambda: saved(noise(), "AVIF")[:200], "damaged"),
    "HEIC": (lambda: b"\0\0\0\x18ftypheic" + bytes(200), "HEIC"),
    "an SVG": (
        lambda: b"<svg><image href='/etc/passwd'/></svg>",
        "neither",
    ),
    "a PDF": (lambda: b"%PDF-1.7\n" + bytes(100), "neither"),
    "a ZIP": (lambda: b"PK\3\4" + bytes(100), "neither"),
    "nothing": (lambda: b"", "empty"),
    "51 MB": (lambda: b"\x89PNG\r\n" + bytes(MAX_FILE_BYTES), "larger"),
    "31 minutes of silence": (lambda: wav(np.zeros(31 * 60 * 8000, np.int16), 8000, "FLAC"), "longer"),
    "a WAV that claims 4 GB": (lambda: patched(wav(tone(0.2)), 40, b"\xff\xff\xff\xff"), READ),
    "a WAV without channels": (lambda: patched(wav(tone(0.2)), 22, b"\0\0"), "damaged"),
    "a WAV with 60,000 channels": (lambda: patched(wav(tone(0.2)), 22, struct.pack("<H", 60_000)), "damaged"),
    "a WAV without a rate": (lambda: patched(wav(tone(0.2)), 24, b"\0\0\0\0"), "damaged"),
    "a WAV of no numbers": (lambda: wav(np.full(1600, np.nan, np.float32), subtype="FLOAT"), READ),
    "a WAV of nothing": (lambda: wav(np.zeros(0, np.float32)), "empty"),
    "an MP3 of garbage": (lambda: b"\xff\xfb\x90\x00" + bytes(range(256)) * 20, "damaged"),
    "a truncated Ogg": (lambda: wav(tone(1.0), form="OGG")[:300], "damaged"),
    "a FLAC of a head": (lambda: b"fLaC" + bytes(60), "damaged"),
    "M4A": (lambda: b"\0\0\0\x20ftypM4A " + bytes(200), "damaged"),
}
# One for each way to go wrong; the others take half a minute.
FEW = (
    *("a bomb of one bit a pixel", "50,000 x 1", "a text that unpacks to 60 MB", "16 bits", "see-through"),
    *("a JPEG turned by its EXIF", "a TIFF that goes round", "31 minutes of silence", "a WAV of no numbers"),
)


def outcome(name: str) -> tuple[str, ReadMedia | None]:
    """READ and what it is, or why not."""
    try:
        return READ, MediaReading(FILES[name][0]()).run()
    except MediaRefusedError as error:
        return str(error), None


def main() -> int:
    wrong = 0
    for name, (_, wanted) in FILES.items():
        started = time.monotonic()
        said, _read = outcome(name)
        wrong += wanted not in said
        mark = "" if wanted in said else "   <-- not as wanted"
        print(f"{name:32} {time.monotonic() - started:5.1f} s  {said}{mark}")
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{len(FILES)} files, {wrong} not as wanted, at most {most / 1024:.0f} MB in a child")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
