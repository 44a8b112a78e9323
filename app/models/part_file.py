"""A partial download: its bytes so far with their hash, locked for one writer, renamed when complete.

Files are touched in threads, one call at a time. Any asyncio loop.
"""

import asyncio
import contextlib
import errno
import hashlib
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import IO, Any, ParamSpec, TypeVar

from app.models.hub_address import DownloadError
from app.system.said import said

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

HASHED_BYTES = 16 * 2**20  # of a file that is there, between two chances to stop
# The last one is Windows' error.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)


class PartFile:
    """The bytes of a file so far, and their hash. One call at a time, in threads."""

    def __init__(self, file: IO[bytes]) -> None:
        self.num_bytes = 0
        self._file = file
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def take_up(self) -> int:
        """Hashes a piece of what is there, and returns its length."""
        piece = self._file.read(HASHED_BYTES)
        self._digest.update(piece)
        self.num_bytes += len(piece)
        return len(piece)

    def append(self, data: bytes) -> None:
        self._file.write(data)
        self._digest.update(data)
        self.num_bytes += len(data)

    def clear(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._digest = hashlib.sha256()
        self.num_bytes = 0

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


@contextlib.asynccontextmanager
async def part_at(path: Path, mode: str = "r+b") -> AsyncIterator[PartFile]:
    part = PartFile(await in_thread(_open, path, mode))
    try:
        yield part
    finally:
        await in_thread(part.close)


def give_name(part: Path, target: Path) -> None:
    """Never replaces another file."""
    try:
        os.link(part, target)
    except FileExistsError as error:
        raise taken(target) from error
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise taken(target) from error
        part.rename(target)  # on a file system without hard links, such as a memory stick


def taken(target: Path) -> DownloadError:
    return DownloadError(
        said(
            "Another file already exists at {path}. Move or rename it, then continue.",
            path=target,
        )
    )


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Cancelled only when `work` is done: two threads must never use one file."""
    future: asyncio.Future[Any] = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        result: T = await asyncio.shield(future)
    except asyncio.CancelledError:
        while not future.done():  # however often it is cancelled
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([future])
        raise
    return result


def _open(path: Path, mode: str) -> IO[bytes]:
    """Never through a symlink, and for writing never with a second hard link: that may be a finished file."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    if mode == "rb":
        return os.fdopen(os.open(path, flags | os.O_RDONLY), mode)
    with contextlib.suppress(FileNotFoundError):
        if path.lstat().st_nlink > 1 or not path.is_file():
            path.unlink()
    file = os.fdopen(os.open(path, flags | os.O_RDWR | os.O_CREAT, 0o644), mode)
    try:
        _lock(file)
    except BlockingIOError as error:
        file.close()
        raise DownloadError(
            said(
                "{path} is being written by another download. Wait until it finishes, then resume.",
                path=path,
            )
        ) from error
    return file


def _lock(file: IO[bytes]) -> None:
    """Locks the file until it is closed or the process ends. Raises BlockingIOError if it is locked.

    Not in Windows. There, only the lock on the chats prevents a second Skein.
    """
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if isinstance(error, BlockingIOError):
                raise
            log.info("%s cannot be locked: %s", file.name, error)  # some network disks cannot
