"""Remembers from run to run whether Skein ended in order, and keeps what a crash has left to read.

Two runs in a row that ended soon after their start, and not in order, are taken for a crash at the start: the
next one starts without what may be the cause. Main thread.
"""

import json
import logging
import time
from pathlib import Path

from app.private_files import opener, private_file

NUM_CRASHES_TO_BE_SAFE = 2
MAX_REPORTS = 5

log = logging.getLogger(__name__)


class RunMarker:
    """A file that is there while Skein runs. Where none can be written, no crash is remembered."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.num_crashes = 0  # in a row, before this run

    @property
    def is_safe_mode(self) -> bool:
        return self.num_crashes >= NUM_CRASHES_TO_BE_SAFE

    def begin(self) -> None:
        """At the start, once this is the only Skein."""
        self.num_crashes = self._crashes_before()
        self._write(self.num_crashes)

    def settle(self) -> None:
        """It has run for a while: a crash from now on is not one of the start."""
        self._write(0)

    def end(self) -> None:
        """In order."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s could not be removed: %s", self._path, error)

    def _crashes_before(self) -> int:
        """What cannot be read was cut off by a power cut: one crash."""
        try:
            return int(json.loads(self._path.read_text(encoding="utf-8"))["num_crashes"]) + 1
        except FileNotFoundError:
            return 0
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return 1

    def _write(self, num_crashes: int) -> None:
        try:
            with open(self._path, "w", encoding="utf-8", opener=opener) as file:
                json.dump({"num_crashes": num_crashes}, file)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)


def keep_report(crash_file: Path) -> Path | None:
    """What the last crash has written gets a file of its own, which is returned. Only the newest few stay."""
    try:
        if not crash_file.exists() or crash_file.stat().st_size == 0:
            return None
        kept = crash_file.with_name(f"{crash_file.stem}-{time.strftime('%Y%m%d-%H%M%S')}{crash_file.suffix}")
        crash_file.replace(kept)
        private_file(kept)
        for old in sorted(crash_file.parent.glob(f"{crash_file.stem}-*{crash_file.suffix}"))[:-MAX_REPORTS]:
            old.unlink()
    except OSError as error:
        log.warning("The report of a crash could not be kept: %s", error)
        return None
    return kept
