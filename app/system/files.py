"""Files that are written at once: a reader finds the old one or the new one. And what tells them apart.

Any thread.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TextIO


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes with a file's content."""

    num_bytes: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


def stamp_of(path: Path) -> Stamp | None:
    """None: the system does not say."""
    try:
        return Stamp.of(path.stat())
    except OSError:
        return None


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Replaces `path` once all of it is on disk. Readable by its owner only. Raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sync_dir(path: Path) -> None:
    """Makes a rename durable. Windows cannot open folders and needs no such call."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
