"""Has a picture or a sound read in a child process. Blocks, so for a thread of its own.

The file is never opened in this process, and nothing of it is parsed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from app.media.sniff import MAX_CPU_S, MAX_FILE_BYTES, MAX_MEMORY_BYTES, MAX_WALL_S
from app.protocol.media import Media, MediaKind
from app.system.said import said
from app.system.worker import Message, Worker, WorkerEndedError, WorkerRefusedError


class MediaRefusedError(Exception):
    """It cannot be read; the text is a sentence for the user."""


class ReadingCancelledError(Exception):
    """The reading was cancelled."""


@dataclass(frozen=True, slots=True)
class Pixels:
    """`rgb` has three bytes for each pixel, row by row."""

    width: int
    height: int
    rgb: bytes


@dataclass(frozen=True, slots=True)
class ReadMedia:
    """A file that can be sent. `format` is its own name for it, such as "PNG". A sound has no thumbnail."""

    media: Media
    format: str
    thumbnail: Pixels | None = None


class MediaReading:
    """Reads one file, by its path or its content."""

    def __init__(self, source: Path | bytes, max_memory_bytes: int = MAX_MEMORY_BYTES) -> None:
        self._source = source
        self._limits = {"AS": max_memory_bytes, "CPU": MAX_CPU_S}
        self._worker = Worker("app.media.reading_child")

    # Any thread.

    def cancel(self) -> None:
        self._worker.end()

    # One thread.

    def run(self) -> ReadMedia:
        """Once. Raises MediaRefusedError or ReadingCancelledError."""
        answer, parts = self.ask({"do": "read"})
        file = self._source if isinstance(self._source, bytes) else parts.pop()
        kind = MediaKind(answer["kind"])
        media = Media(
            kind,
            sha256(file).hexdigest(),
            file,
            width=answer.get("width", 0),
            height=answer.get("height", 0),
            duration_s=answer.get("duration_s", 0.0),
        )
        thumbnail = None
        if "thumbnail" in answer:
            width, height = answer["thumbnail"]
            thumbnail = Pixels(width, height, parts[0])
        return ReadMedia(media, answer["format"], thumbnail)

    def ask(self, question: dict[str, Any]) -> Message:
        """The child's answer and the bytes behind it. Raises as `run`."""
        if isinstance(self._source, bytes) and len(self._source) > MAX_FILE_BYTES:
            raise MediaRefusedError(too_large())
        question |= {"limits": self._limits}
        try:
            if isinstance(self._source, bytes):
                return self._worker.ask(question, self._source, max_s=MAX_WALL_S)
            return self._worker.ask(question | {"path": str(self._source.absolute())}, max_s=MAX_WALL_S)
        except WorkerRefusedError as refusal:
            raise MediaRefusedError(str(refusal)) from None
        except WorkerEndedError:
            if self._worker.is_closed:
                raise ReadingCancelledError from None
            raise MediaRefusedError(
                said("Reading the file takes too much time or memory. It may be damaged.")
            ) from None
        except OSError as error:
            raise MediaRefusedError(
                said("The file could not be read: {reason}.", reason=error.strerror or str(error))
            ) from error
        finally:
            self._worker.close()


def picture(media: Media, max_side: int = 0, reader: MediaReading | None = None) -> Pixels:
    """The picture as a model is shown it, or made smaller. Raises as `MediaReading.run`."""
    reader = reader or MediaReading(media.file)
    answer, parts = reader.ask({"do": "picture", "max_side": max_side})
    return Pixels(answer["width"], answer["height"], parts[0])


def samples(media: Media, rate: int, reader: MediaReading | None = None) -> bytes:
    """The sound, mono, as float32 at `rate` a second: as many as `num_samples` says."""
    reader = reader or MediaReading(media.file)
    _answer, parts = reader.ask(
        {"do": "sound", "rate": rate, "num_samples": num_samples(media, rate), "form": "f4"}
    )
    return parts[0]


def wav(media: Media, rate: int = 16_000) -> bytes:
    """The sound as a WAV file of 16 bits, mono, for a player. Raises MediaRefusedError."""
    _answer, parts = MediaReading(media.file).ask(
        {"do": "sound", "rate": rate, "num_samples": num_samples(media, rate), "form": "wav"}
    )
    return parts[0]


def num_samples(media: Media, rate: int) -> int:
    return max(round(media.duration_s * rate), 1)


def too_large() -> str:
    return said(
        "The file is larger than {size} MB. Make it smaller, or send a part of it.",
        size=MAX_FILE_BYTES >> 20,
    )
