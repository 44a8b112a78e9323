"""Files that are written at once: a reader finds the old one or the new one.

Also what tells files apart, and private ones: for the owner's eyes only, whatever the umask, also if they
were open to others before. Any thread.
"""

import contextlib
import logging
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self, TextIO

log = logging.getLogger(__name__)


class Stamp(NamedTuple):
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


@contextmanager
def replacing_private(path: Path) -> Iterator[TextIO]:
    """Like `replacing`, but durable, and in a folder that is made private. Raises OSError."""
    private_dir(path.parent)
    with replacing(path) as file:
        yield file
    sync_dir(path.parent)


def set_aside(path: Path) -> None:
    """Keeps a JSON file that cannot be read under another name, so that the next one does not replace it."""
    try:
        path.replace(path.with_suffix(".unreadable.json"))
    except OSError as error:
        log.warning("%s, which cannot be read, could not be kept: %s", path.name, error.strerror)


def private_dir(path: Path) -> Path:
    """The folder `path`, made if need be, with all above it that is missing. Raises OSError.

    A folder that users share, such as /tmp, stays open: the sticky bit marks it. One that its owner has made
    read-only stays so.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    mode = path.stat().st_mode
    if mode & 0o077 and not mode & stat.S_ISVTX:
        path.chmod(mode & 0o700)
    return path


def private_file(path: Path) -> None:
    """Makes it empty, or leaves what is in it. Raises OSError."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        os.close(opener(path, os.O_CREAT | os.O_RDWR))
        return
    if mode & 0o077:
        # Not by opening it: to close a database again would end SQLite's locks on it.
        with contextlib.suppress(OSError):  # somebody else's, or on a disk that knows no owners
            path.chmod(mode & 0o700)


def opener(path: str | os.PathLike[str], flags: int) -> int:
    """For `open(…, opener=opener)`. Raises OSError."""
    handle = os.open(path, flags, 0o600)
    mode = stat.S_IMODE(os.fstat(handle).st_mode)
    if mode & 0o077:
        with contextlib.suppress(OSError, AttributeError):  # nor has Windows such a call
            os.fchmod(handle, mode & 0o700)
    return handle
