"""Remembers from run to run whether Skein ended in order, and keeps what a crash has left to read.

Two runs in a row that ended soon after their start, and not in order, are taken for a crash at the start: the
next one starts without what may be the cause. Main thread.
"""

import json
import logging
import time
from pathlib import Path

from app.system.private_files import opener, private_file

NUM_CRASHES_TO_BE_SAFE = 2
MAX_REPORTS = 5

log = logging.getLogger(__name__)


class RunMarker:
    """A file that is there while Skein runs. Where none can be written, no crash is remembered."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._model = ""
        self._num_crashes = 0  # to be found by the next run
        self.num_crashes = 0  # in a row, before this run
        self.last_model = ""  # that the run before had open, if that crashed

    @property
    def is_safe_mode(self) -> bool:
        return self.num_crashes >= NUM_CRASHES_TO_BE_SAFE

    def begin(self) -> None:
        """At the start, once this is the only Skein."""
        self.num_crashes, self.last_model = self._run_before()
        self._num_crashes = self.num_crashes
        self._write()

    def settle(self) -> None:
        """It has run for a while: a crash from now on is not one of the start."""
        self._num_crashes = 0
        self._write()

    def note_model(self, path: Path) -> None:
        """It is open from now on."""
        self._model = str(path)
        self._write()

    def end(self) -> None:
        """In order."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s could not be removed: %s", self._path, error)

    def _run_before(self) -> tuple[int, str]:
        """Crashes with it, and its model. What cannot be read was cut off by a power cut: one crash."""
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            return int(kept["num_crashes"]) + 1, str(kept.get("model", ""))
        except FileNotFoundError:
            return 0, ""
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return 1, ""

    def _write(self) -> None:
        try:
            with open(self._path, "w", encoding="utf-8", opener=opener) as file:
                json.dump({"num_crashes": self._num_crashes, "model": self._model}, file)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)


def was_bus_error(report: Path) -> bool:
    """Part of a file that was mapped could not be read: it was cut short meanwhile, or its disk failed."""
    try:
        with report.open(encoding="utf-8", errors="replace") as file:
            return file.readline().startswith("Fatal Python error: Bus error")
    except OSError:
        return False


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
