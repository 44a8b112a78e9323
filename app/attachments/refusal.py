"""Why a file's text cannot be read, and the limits: far above any document that fits a context. Any thread.

The UI turns reasons into sentences.
"""

from enum import StrEnum

MAX_FILE_BYTES = 100 << 20
MAX_CHARS = 10_000_000
MAX_UNPACKED_BYTES = 512 << 20  # of all that is packed in one file
MAX_MEMORY_BYTES = 1 << 30
MAX_CPU_S = 20
MAX_WALL_S = 60.0  # a busy machine may take long over 20 seconds of work


class Reason(StrEnum):
    MISSING = "missing"
    FORBIDDEN = "forbidden"
    FOLDER = "folder"
    NO_FILE = "no file"  # a pipe, a device or a socket
    EMPTY = "empty"
    TOO_LARGE = "too large"
    TOO_MUCH_TEXT = "too much text"
    IMAGE = "image"
    BINARY = "binary"
    NO_TEXT = "no text"  # a document of pictures
    PASSWORD = "password"
    OLD_OFFICE = "old office"
    DAMAGED = "damaged"
    LIMITS = "limits"  # more time or memory than any good file takes
    SYSTEM = "system"  # the disk or the system failed, not the file

    @classmethod
    def _missing_(cls, _value: object) -> "Reason":
        """What a file has made of its reader may say anything."""
        return cls.LIMITS


class RefusedError(Exception):
    """This file will not be attached; nothing else has happened."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class CollectedText:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._num_chars = 0

    def add(self, *parts: str) -> None:
        """Raises RefusedError."""
        self._parts += parts
        self._num_chars += sum(map(len, parts))
        if self._num_chars > MAX_CHARS:
            raise RefusedError(Reason.TOO_MUCH_TEXT)

    @property
    def ends_line(self) -> bool:
        last = next((part for part in reversed(self._parts) if part), "\n")
        return last.endswith("\n")

    @property
    def text(self) -> str:
        return "".join(self._parts)
