"""Which process may write into a folder: one at a time, of all machines that see it.

The lock is the operating system's, on an open file. It ends with its process, so none is ever left over.
What the file says only tells people who has it, in the form of Qt's QLockFile, by which older Skeins lock:
they heed this one, and are heeded. Main thread.
"""

import contextlib
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

from app.system.files import opener

MAX_BYTES = 4096
TERMINATE_S, KILL_S = 3, 5  # that a process may take to end, asked and killed
RETRY_S = 0.05
_WINDOWS_OFFSET = 1 << 30  # what is locked there cannot be read, so it is a byte far behind the text

log = logging.getLogger(__name__)


class Holder(NamedTuple):
    """Who has the lock, or had it and did not end in order."""

    pid: int
    host: str
    since: float

    @property
    def is_on_this_host(self) -> bool:
        return self.host == _host_name()


class FolderLock:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def try_lock(self) -> bool:
        """False: another process has it. Raises OSError where there can be no such file."""
        while self._handle is None:
            handle = opener(self.path, os.O_RDWR | os.O_CREAT)
            if not _lock(handle):
                os.close(handle)
                return False
            if _is_named(handle, self.path):
                self._handle = handle
            else:
                os.close(handle)  # whoever had it has removed it meanwhile
        return True

    def sign(self) -> None:
        """Tells others who has it, once it is had for good. Not on a full disk, which breaks no lock."""
        assert self._handle is not None
        text = f"{os.getpid()}\n{Path(sys.executable).name}\n{_host_name()}\n"
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
            os.lseek(self._handle, 0, os.SEEK_SET)
            os.write(self._handle, text.encode())

    def unlock(self) -> None:
        if self._handle is None:
            return
        with contextlib.suppress(OSError):  # Windows keeps the file as long as it is open
            self.path.unlink()
        os.close(self._handle)
        self._handle = None

    @property
    def holder(self) -> Holder | None:
        """Who has signed. None if that cannot be read."""
        try:
            with self.path.open("rb") as file:
                pid, _program, host, *_ = file.read(MAX_BYTES).decode().splitlines()
                holder = Holder(int(pid), host, os.fstat(file.fileno()).st_mtime)
        except (OSError, ValueError):
            return None
        return holder if holder.pid > 0 and holder.host else None

    def can_be_ended(self, holder: Holder) -> bool:
        """Whether that number is surely the process: a container counts its own, by the same host's name."""
        opened = Path(f"/proc/{holder.pid}/fd")
        try:
            return holder.is_on_this_host and any(link.samefile(self.path) for link in opened.iterdir())
        except OSError:
            return False

    def end(self, holder: Holder) -> bool:
        """Ends the process, by force if need be. Whether the lock is free then; it is not taken."""
        for number, patience_s in ((signal.SIGTERM, TERMINATE_S), (signal.SIGKILL, KILL_S)):
            with contextlib.suppress(OSError):
                os.kill(holder.pid, number)
            end = time.monotonic() + patience_s
            while time.monotonic() < end:
                if self.try_lock():
                    self.unlock()
                    return True
                time.sleep(RETRY_S)
        return False


def _host_name() -> str:
    """What `socket.gethostname` returns; its module takes 4 ms, for which the first paint would wait."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import socket

    return socket.gethostname()


def _lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, _WINDOWS_OFFSET, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:  # some network disks have no locks; SQLite does not write without them
        log.warning("The folder cannot be locked: %s", error)
    return True


def _is_named(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
