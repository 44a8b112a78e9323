"""Detects whether the last run ended in order, and keeps the report of a crash.

Two runs in a row that crashed soon after their start count as a crash at the start: the next one starts in
safe mode. Main thread.
"""

import json
import logging
import time
from pathlib import Path

from app.system.files import opener, private_file

NUM_CRASHES_TO_BE_SAFE = 2
MAX_REPORTS = 5

log = logging.getLogger(__name__)


class RunMarker:
    """A file that exists while Skein runs. If it cannot be written, crashes are not detected."""

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
        """To be called at the start, once this is the only Skein."""
        self.num_crashes, self.last_model = self._run_before()
        self._num_crashes = self.num_crashes
        self._write()

    def settle(self) -> None:
        """It has run for a while: a crash from now on is not a crash at the start."""
        self._num_crashes = -1
        self._write()

    def note_model(self, path: Path) -> None:
        """It is open from now on."""
        self._model = str(path)
        self._write()

    def end(self) -> None:
        """To be called at an orderly end."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s could not be removed: %s", self._path, error)

    def _run_before(self) -> tuple[int, str]:
        """Crashes with it, and its model. An unreadable file was truncated by a power cut: it counts as one
        crash.
        """
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            return int(kept["num_crashes"]) + 1, str(kept.get("model", ""))
        except FileNotFoundError:
            return 0, ""
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return 1, ""

    def _write(self) -> None:
        try:
            fresh = self._path.with_suffix(".new")  # it may crash while it writes
            with open(fresh, "w", encoding="utf-8", opener=opener) as file:
                json.dump({"num_crashes": self._num_crashes, "model": self._model}, file)
            fresh.replace(self._path)
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
    """Moves what the last crash wrote to a file of its own, and returns that. Keeps only the newest few."""
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
