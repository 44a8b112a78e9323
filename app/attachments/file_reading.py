"""Has one file read in a child process, as text, a picture or a sound. Blocks, so for a thread of its own.

The file is never opened in this process: merely opening some files blocks forever.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from app.attachments.refusal import MAX_CPU_S, MAX_MEMORY_BYTES, MAX_WALL_S, Reason, RefusedError
from app.chats.attachment import Attachment, valid_unicode
from app.media.reading import MediaReading, Pixels, ReadingCancelledError
from app.system.worker import Worker, WorkerEndedError, WorkerRefusedError

MAX_NAME_CHARS = 200


class FileReading:
    """The text of a file."""

    def __init__(
        self,
        path: Path,
        max_cpu_s: int = MAX_CPU_S,
        max_memory_bytes: int = MAX_MEMORY_BYTES,
        max_wall_s: float = MAX_WALL_S,
    ) -> None:
        self.path = path
        self._limits = {"AS": max_memory_bytes, "CPU": max_cpu_s}
        self._max_wall_s = max_wall_s
        self._worker = Worker("app.attachments.reading_child")

    @property
    def name(self) -> str:
        return valid_unicode(self.path.name)[-MAX_NAME_CHARS:]

    def run(self) -> Attachment:
        """Once. Raises RefusedError or ReadingCancelledError."""
        question = {"path": str(self.path.absolute()), "limits": self._limits}
        try:
            answer, (text,) = self._worker.ask(question, max_s=self._max_wall_s)
        except WorkerRefusedError as refusal:
            raise RefusedError(Reason(str(refusal))) from None
        except (WorkerEndedError, ValueError):
            raise ReadingCancelledError if self._worker.is_closed else RefusedError(Reason.LIMITS) from None
        except OSError as error:
            raise RefusedError(Reason.SYSTEM) from error
        finally:
            self._worker.close()
        return Attachment(self.name, text.decode("utf-8", "replace"), answer["kind"])

    def cancel(self) -> None:
        """Any thread, any time."""
        self._worker.end()


# Others are found by their content, which takes a second child process.
MEDIA_SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".heif"),
    *(".wav", ".mp3", ".flac", ".ogg", ".oga", ".opus", ".aif", ".aiff", ".m4a"),
)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The media of `attachment` has its file; `thumbnail` is of a picture."""

    attachment: Attachment
    thumbnail: Pixels | None = None


class AnyReading:
    """Reads a path, or the bytes of a picture or a sound, which have no name of their own."""

    def __init__(self, source: Path | bytes, name: str = "") -> None:
        self.name = name if isinstance(source, bytes) else valid_unicode(source.name)[-MAX_NAME_CHARS:]
        is_media = isinstance(source, bytes) or source.suffix.lower() in MEDIA_SUFFIXES
        self._as_text = None if is_media else FileReading(source)  # type: ignore[arg-type]
        self._as_media = MediaReading(source)

    def run(self) -> ReadFile:
        """Raises RefusedError, MediaRefusedError or ReadingCancelledError."""
        if self._as_text:
            try:
                return ReadFile(self._as_text.run())
            except RefusedError as refusal:
                if refusal.reason is not Reason.IMAGE:
                    raise
        read = self._as_media.run()
        return ReadFile(Attachment(self.name, "", read.format.lower(), read.media), read.thumbnail)

    def cancel(self) -> None:
        """Any thread, any time."""
        if self._as_text:
            self._as_text.cancel()
        self._as_media.cancel()


def without_file(attachment: Attachment) -> Attachment:
    """What a chat holds of it."""
    return replace(attachment, media=attachment.media and replace(attachment.media, file=b""))
