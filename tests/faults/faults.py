"""Faults that Skein once had, as small changes to today's code.

The lists are the TOML files beside this one, one for each area.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")


@dataclass(frozen=True, slots=True)
class Fault:
    """In `file`, `old` becomes `new`. `seen`: what the person or the caller would see then."""

    name: str
    area: str
    seen: str
    commit: str  # that mended it, or first kept it away
    file: str
    old: str
    new: str
    tests: tuple[str, ...]  # files of the quick suite, as few as find it

    def times_found(self, root: Path = ROOT) -> int:
        """How often the text stands in its file: once, as long as the fault fits."""
        path = root / self.file
        return path.read_text(encoding="utf-8").count(self.old) if path.is_file() else 0


def all_faults() -> list[Fault]:
    return [
        Fault(area=path.stem, **{**fault, "tests": tuple(fault["tests"])})
        for path in sorted(FOLDER.glob("*.toml"))
        for fault in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
    ]


class Copy:
    """Of the whole tree, in which faults are planted."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT, symlinks=True)
        (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
        self._num_changes = 0

    def plant(self, fault: Fault) -> None:
        text = (ROOT / fault.file).read_text(encoding="utf-8")
        self._write(fault, text.replace(fault.old, fault.new))

    def take_out(self, fault: Fault) -> None:
        self._write(fault, (ROOT / fault.file).read_text(encoding="utf-8"))

    def _write(self, fault: Fault, text: str) -> None:
        path = self.root / fault.file
        path.write_text(text, encoding="utf-8")
        # Python takes a compiled module for current if seconds and size agree.
        self._num_changes += 1
        modified = (ROOT / fault.file).stat().st_mtime + self._num_changes
        os.utime(path, (modified, modified))
