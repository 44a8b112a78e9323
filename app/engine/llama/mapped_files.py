"""The files of a model. The library reads weights where they lie, and one cut short would end the process.

Before each step their sizes tell whether they are whole. During a step nobody else can open them to write, if
the system knows how to hold a file (a lease of Linux, on files of one's own): that waits for the step's end.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from glob import escape
from pathlib import Path

from app.protocol.errors import EngineError
from app.system.said import said

if sys.platform == "linux":
    import fcntl

PATIENCE_S = 0.05  # with somebody who has opened a file to write: who cuts it does so at once
POLL_S = 0.001
SPLIT_NAME = re.compile(r"(.+)-\d{5}(-of-\d{5}\.gguf)")


def parts_of(path: Path) -> list[Path]:
    """llama.cpp finds the other parts of a split model by their names."""
    split = SPLIT_NAME.fullmatch(path.name)
    return sorted(path.parent.glob(f"{escape(split[1])}-?????{escape(split[2])}")) if split else [path]


class MappedFiles:
    """All parts of the model at `path`, until it is closed. None: the weights are in memory.

    The engine thread only.
    """

    def __init__(self, path: Path | None) -> None:
        self._parts: list[_Part] = []
        if path and os.name == "posix":  # Windows lets nobody cut a file that is mapped
            with contextlib.suppress(OSError):  # the library says what it cannot read
                self._parts += map(_Part, parts_of(path))

    def hold(self) -> None:
        """Until `let_go`, they stay as they are. Raises EngineError if they are not as they were."""
        for part in self._parts:
            part.hold()

    def let_go(self) -> None:
        for part in self._parts:
            part.let_go()

    def __enter__(self) -> MappedFiles:
        return self

    def __exit__(self, *_exc: object) -> None:
        while self._parts:
            self._parts.pop().close()


class _Part:
    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._file = os.open(path, os.O_RDONLY)
        self._size = os.fstat(self._file).st_size
        self._has_writer = False  # somebody has it open all the time

    def hold(self) -> None:
        give_up_at = time.monotonic() + (0.0 if self._has_writer else PATIENCE_S)
        while not (is_held := _lease(self._file)) and self._is_whole and time.monotonic() < give_up_at:
            time.sleep(POLL_S)
        self._has_writer = not is_held
        if not self._is_whole:
            raise EngineError(said("{name} was changed on disk while it was open.", name=self._name))

    def let_go(self) -> None:
        _end_lease(self._file)

    def close(self) -> None:
        os.close(self._file)  # with its lease

    @property
    def _is_whole(self) -> bool:
        return os.fstat(self._file).st_size == self._size


if sys.platform == "linux":

    def _lease(file: int) -> bool:
        """False: somebody has opened it to write. No file of another user is held, nor any over a network."""
        try:
            # That somebody waits is announced by SIGIO, which would end us, unless another signal is named.
            fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # is forgotten with each lease
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True

    def _end_lease(file: int) -> None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)

else:

    def _lease(_file: int) -> bool:
        return True

    def _end_lease(_file: int) -> None: ...
