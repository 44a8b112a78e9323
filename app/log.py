"""Where messages go: a rotating file for the user to send us, and the terminal for warnings.

Prompts and answers are never logged. Called once, on the main thread, before anything else starts.
"""

import logging
import logging.handlers
import re
import sys
from pathlib import Path
from typing import TextIO

FORMAT = "%(asctime)s %(levelname)-7s %(threadName)s %(name)s: %(message)s"
MAX_FILE_BYTES = 2_000_000
NUM_OLD_FILES = 3

# All of C0 but tab and newline, DEL and C1: a file or model name must not steer the terminal.
_CONTROL_CHARS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class PlainFormatter(logging.Formatter):
    """Shows control characters instead of sending them."""

    def format(self, record: logging.LogRecord) -> str:
        return _CONTROL_CHARS.sub(lambda found: f"\\x{ord(found[0]):02x}", super().format(record))


def configure(log_dir: Path, *, debug: bool = False, stream: TextIO | None = None) -> Path:
    """Starts logging and returns the file written to. `debug` adds one line per engine step to the file."""
    file_path = log_dir / "skein.log"
    to_file = logging.handlers.RotatingFileHandler(
        file_path,
        maxBytes=MAX_FILE_BYTES,
        backupCount=NUM_OLD_FILES,
        encoding="utf-8",
        errors="backslashreplace",
    )
    file_path.chmod(0o600)
    to_file.setLevel(logging.DEBUG if debug else logging.INFO)
    to_terminal = logging.StreamHandler(stream or sys.stderr)
    to_terminal.setLevel(logging.WARNING)

    root = logging.getLogger()
    root.setLevel(logging.INFO)
    logging.getLogger("app").setLevel(logging.DEBUG if debug else logging.INFO)
    for handler in (to_file, to_terminal):
        handler.setFormatter(PlainFormatter(FORMAT))
        root.addHandler(handler)
    return file_path
