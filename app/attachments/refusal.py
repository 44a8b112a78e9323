"""Reasons why a file's text cannot be read. The UI turns them into sentences. Any thread."""

from enum import StrEnum


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
