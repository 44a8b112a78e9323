"""Folders and files for their owner's eyes only, whatever the umask, also if they were open to others.

Any thread.
"""

import contextlib
import os
import stat
from pathlib import Path


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
