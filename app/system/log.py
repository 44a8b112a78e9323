"""Logging: to a rotating file that the user can send us, and warnings to the terminal.

Prompts and answers are never logged. Set up on the main thread, before any other starts.
"""

import contextlib
import logging
import os
import re
import sys
from collections import deque
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple, TextIO

from app.system.files import opener, private_dir, private_file

FORMAT = "%(asctime)s %(levelname)-7s %(threadName)s %(name)s: %(message)s"
MAX_FILE_BYTES = 2_000_000
NUM_OLD_FILES = 3
MAX_RECENT_LINES = 2_000  # half a megabyte; older ones are in the file

# All of C0 but tab and newline, DEL and C1: a file or model name must not control the terminal.
_CONTROL_CHARS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class PlainFormatter(logging.Formatter):
    """Shows control characters instead of sending them."""

    def format(self, record: logging.LogRecord) -> str:
        return _CONTROL_CHARS.sub(lambda found: f"\\x{ord(found[0]):02x}", super().format(record))


class Line(NamedTuple):
    """One message as it stands in the file."""

    number: int  # counts all of this run
    level: int  # as in `logging`
    text: str


class RecentLines(logging.Handler):
    """The last lines of this run, for the log viewer. Written and read on any thread."""

    def __init__(self, max_lines: int = MAX_RECENT_LINES) -> None:
        super().__init__()
        self.setFormatter(PlainFormatter(FORMAT))
        # Plain tuples of plain values: the garbage collector leaves them out, and there are thousands.
        self._lines: deque[tuple[int, int, str]] = deque(maxlen=max_lines)
        self._num_lines = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Handlers are called one at a time."""
        self._num_lines += 1
        self._lines.append((self._num_lines, record.levelno, self.format(record)))

    def since(self, number: int) -> list[Line]:
        """The lines after line `number`, oldest first; 0: all that are kept."""
        with self.lock or contextlib.nullcontext():
            return [Line(*line) for line in self._lines if line[0] > number]


recent_lines = RecentLines()


class _Held(logging.Handler):
    """Holds messages that are logged before `configure`."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


_held = _Held()


def hold() -> None:
    """Holds messages until `configure`, which takes longer than the first paint may wait."""
    logging.getLogger().addHandler(_held)
    logging.getLogger("app").setLevel(logging.INFO)


def configure(log_dir: Path, *, debug: bool = False, stream: TextIO | None = None) -> Path:
    """Starts logging and returns the file written to. `debug` adds one line per engine step to the file."""
    import logging.handlers

    file_path = log_dir / "skein.log"

    class PrivateFile(logging.handlers.RotatingFileHandler):
        """Made anew each time it is rotated."""

        def _open(self) -> TextIOWrapper:
            handle = opener(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            return os.fdopen(handle, "a", encoding=self.encoding, errors=self.errors)

    to_file = PrivateFile(
        file_path,
        maxBytes=MAX_FILE_BYTES,
        backupCount=NUM_OLD_FILES,
        encoding="utf-8",
        errors="backslashreplace",
    )
    for former in log_dir.glob(f"{file_path.name}.*"):
        private_file(former)
    to_file.setLevel(logging.DEBUG if debug else logging.INFO)
    to_terminal = logging.StreamHandler(stream or sys.stderr)
    to_terminal.setLevel(logging.WARNING)

    root = logging.getLogger()
    root.setLevel(logging.INFO)
    logging.getLogger("app").setLevel(logging.DEBUG if debug else logging.INFO)
    for handler in (to_file, to_terminal):
        handler.setFormatter(PlainFormatter(FORMAT))
        root.addHandler(handler)
    root.addHandler(recent_lines)
    root.removeHandler(_held)
    while _held.records:
        root.handle(_held.records.pop(0))
    return file_path


def write_held(log_dir: Path) -> None:
    """Writes held messages to the log file if the start failed before `configure`."""
    if _held in logging.getLogger().handlers:
        with contextlib.suppress(OSError):
            configure(private_dir(log_dir))
