"""Reads one file as what it is: text, a picture or a sound. Blocks, so for a thread of its own."""

from dataclasses import dataclass, replace
from pathlib import Path

from app.attachments.file_reading import MAX_NAME_CHARS, FileReading
from app.attachments.refusal import Reason, RefusedError
from app.chats.attachment import Attachment
from app.chats.text import valid_unicode
from app.media.reading import MediaReading, Pixels

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
    """Of a path; or of the bytes of a picture or a sound, which have no name of their own."""

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
    """As a chat holds it."""
    return replace(attachment, media=attachment.media and replace(attachment.media, file=b""))
