"""Looks for the files of a shelf, and tells what has become of those that are known. Any thread.

Opens no file. A folder is walked by its own list, so a link back into it is followed once.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.shelves.shelf import Shelf, ShelfFile
from app.system.files import Stamp

MAX_FILES = 20_000
SETTLED_S = 2.0  # a file that was written to later than that may be half-written


@dataclass(slots=True)
class Scan:
    """`stamps` by path. What is below `unknown` paths could not be looked into, so it may be there."""

    stamps: dict[str, Stamp] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    is_cut: bool = False  # there are more than MAX_FILES
    began_at: float = field(default_factory=time.time)
    seconds: float = 0.0

    def knows_of(self, path: str) -> bool:
        """Whether a file that is not in `stamps` is gone."""
        return not self.is_cut and not any(_is_in(path, folder) for folder in self.unknown)

    def is_settled(self, stamp: Stamp) -> bool:
        """Long enough unchanged; a time in the future says nothing."""
        return stamp.mtime_ns / 1e9 < self.began_at - SETTLED_S


@dataclass(frozen=True, slots=True)
class Changes:
    """`moved` are known files by number, with their new paths; `stamped` have another content, perhaps."""

    new: dict[str, Stamp] = field(default_factory=dict)
    stamped: dict[int, Stamp] = field(default_factory=dict)
    moved: dict[int, str] = field(default_factory=dict)
    gone: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.stamped or self.moved or self.gone)


def scan(shelf: Shelf) -> Scan:
    found, began = Scan(), time.perf_counter()
    if shelf.folder:
        _walk(shelf.folder, found)
    for path in shelf.files:
        _note_file(path, found)
    found.seconds = time.perf_counter() - began
    return found


def changes(known: Mapping[str, ShelfFile], found: Scan) -> Changes:
    """`known` by path. A file that is gone and came up elsewhere, as it was, has moved."""
    new = {path: stamp for path, stamp in found.stamps.items() if path not in known}
    missing = [one for path, one in known.items() if path not in found.stamps and found.knows_of(path)]
    arrived = {stamp: path for path, stamp in new.items()}
    moved = {one.number: arrived[one.stamp] for one in missing if one.stamp in arrived}
    for path in moved.values():
        new.pop(path, None)
    stamped = {
        one.number: found.stamps[path]
        for path, one in known.items()
        if path in found.stamps and found.stamps[path] != one.stamp
    }
    gone = tuple(one.number for one in missing if one.number not in moved)
    return Changes(new, stamped, moved, gone)


def name_of(shelf: Shelf, path: str) -> str:
    """The name for users and models: where the file lies in the shelf's folder."""
    is_below = shelf.folder and _is_in(path, shelf.folder)
    name = os.path.relpath(path, shelf.folder).replace(os.sep, "/") if is_below else Path(path).name
    return name.encode("utf-8", "replace").decode()  # a name may be no text


def _walk(top: str, found: Scan) -> None:
    folders, seen = [top], set()
    while folders:
        folder = folders.pop()
        try:
            status = Path(folder).stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            found.unknown.append(folder)
            continue
        below: list[str] = []
        for entry in listed:
            if entry.name.startswith("."):
                continue
            try:
                is_folder = entry.is_dir()
            except OSError:  # a link to itself
                continue
            if is_folder:
                below.append(entry.path)
            else:
                _note_file(entry.path, found)
        folders += reversed(below)
        if found.is_cut:
            return


def _note_file(path: str, found: Scan) -> None:
    if len(found.stamps) >= MAX_FILES:
        found.is_cut = True
        return
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        return
    except OSError:
        found.unknown.append(path)
        return
    if stat.S_ISREG(status.st_mode):
        found.stamps[path] = Stamp.of(status)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
