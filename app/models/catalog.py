"""Scans folders for models.

A header is read once and cached until its file changes. Unusable models are listed with the reason, and no
file can make a scan fail. Any thread, but one scan at a time.
"""

import logging
import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path

from pydantic import TypeAdapter

from app.models.folders import Folder
from app.models.gguf_header import HeaderError
from app.models.model_file import (
    SPLIT_NAME,
    FileKind,
    ModelFile,
    describe,
    name_of,
    parts_of,
    read_whole_header,
)
from app.system import paths
from app.system.files import replacing
from app.system.said import from_text, said, to_text

log = logging.getLogger(__name__)

MAX_DEPTH = 8
MAX_ENTRIES = 100_000  # in one folder: the user may choose a whole disk
MAX_MODELS = 10_000
MAX_WATCHED = 512  # a system watches some thousands, for all programs together
FORMAT = 1  # of what is remembered
UNFINISHED = "incomplete-"  # still being downloaded by GPT4All

OnProgress = Callable[[int, int], bool]  # files done, of how many; False ends the scan


def scan(
    folders: Iterable[Folder],
    on_progress: OnProgress = lambda _done, _all: True,
    *,
    is_all: bool = True,
) -> tuple[ModelFile, ...]:
    """The models, by name. Where these folders are not all that there are, those of others are remembered."""
    found = list(islice(_find(folders), MAX_MODELS))
    memory = _Memory(paths.model_headers_file())
    models = []
    for number, one in enumerate(found):
        if not on_progress(number, len(found)):
            memory.keep_others()
            break
        models.append(memory.recall(one) or _read(one, memory))
    if not is_all:
        memory.keep_others()
    memory.save()
    return tuple(sorted(models, key=lambda model: (model.name.casefold(), str(model.path))))


def watched(folders: Iterable[Folder]) -> list[Path]:
    """The folders to watch for changes, up to a limit."""
    roots = (folder.path for folder in folders if folder.path.is_dir())
    inside = (folder for root in roots for folder, _ in _listings(root))
    return list(islice(dict.fromkeys(inside), MAX_WATCHED))


@dataclass(slots=True)
class _Found:
    """One model: its files and their metadata, by the number of the part."""

    folder: Folder
    num_parts: int = 1
    files: dict[int, tuple[Path, os.stat_result]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.files[min(self.files)][0]

    @property
    def parts(self) -> tuple[Path, ...]:
        return tuple(path for _, (path, _) in sorted(self.files.items()))

    @property
    def size_bytes(self) -> int:
        return sum(status.st_size for _, status in self.files.values())

    @property
    def stamps(self) -> tuple[tuple[int, int, int], ...]:
        """They change when the model does."""
        return tuple(
            (number, status.st_size, status.st_mtime_ns) for number, (_, status) in sorted(self.files.items())
        )

    @property
    def missing(self) -> list[int]:
        return [number for number in range(1, self.num_parts + 1) if number not in self.files]


# Finding


def _find(folders: Iterable[Folder]) -> Iterator[_Found]:
    """Finds each model once, however many links lead to its files."""
    seen: set[tuple[int, int]] = set()
    for folder in folders:
        for model in _models_in(folder):
            identities = {(status.st_dev, status.st_ino) for _, status in model.files.values()}
            if not identities <= seen:
                seen |= identities
                yield model


def _models_in(folder: Folder) -> Iterator[_Found]:
    split_models: dict[tuple[Path, str, int], _Found] = {}
    for path, status in _model_files(folder.path):
        if split := SPLIT_NAME.fullmatch(path.name):
            count = int(split["count"])
            model = split_models.setdefault((path.parent, split["stem"], count), _Found(folder, count))
            model.files[int(split["number"])] = (path, status)
        else:
            yield _Found(folder, files={1: (path, status)})
    yield from split_models.values()


def _model_files(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    if root.is_file():
        yield from _model_file(root)
        return
    for _, entries in _listings(root):
        for entry in entries:
            if entry.name.lower().endswith(".gguf") and not entry.name.startswith((".", UNFINISHED)):
                yield from _model_file(Path(entry.path))


def _listings(root: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """The entries of `root` and of the folders in it, those further up first."""
    pending, seen, room = deque([(root, 0)]), set[tuple[int, int]](), MAX_ENTRIES
    while pending:
        folder, depth = pending.popleft()
        entries = _entries(folder, seen, room)
        room -= len(entries)
        yield folder, entries
        if depth < MAX_DEPTH:
            inside = (entry for entry in entries if not entry.name.startswith(".") and _is_dir(entry))
            pending.extend((Path(entry.path), depth + 1) for entry in inside)


def _entries(folder: Path, seen: set[tuple[int, int]], room: int) -> list[os.DirEntry[str]]:
    """The entries by name. Empty for a folder visited before through links, and for an unreadable one."""
    try:
        status = folder.stat()
        if (status.st_dev, status.st_ino) in seen:
            return []
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as entries:
            return sorted(islice(entries, room), key=lambda entry: entry.name)
    except OSError as error:
        log.info("Models in %s are not listed: %s", folder, error)
        return []


def _model_file(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yields nothing for a broken link, or one to something other than a regular file."""
    try:
        status = path.stat()
    except OSError:
        return
    if stat.S_ISREG(status.st_mode):
        yield path, status


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


# Reading


def _read(found: _Found, memory: "_Memory") -> ModelFile:
    """An error of the system is not cached: it may go away while the file stays the same."""
    try:
        model = _read_header(found)
    except OSError as error:
        return _unusable(found, FileKind.DAMAGED, said("it cannot be read: {reason}", reason=error.strerror))
    memory.keep(found, model)
    return model


def _read_header(found: _Found) -> ModelFile:
    """Raises OSError."""
    try:
        num_parts = len(parts_of(found.path))  # its name may be wrong
        if found.missing:
            return _unusable(found, FileKind.INCOMPLETE, _missing_text(found.missing, num_parts))
        header = read_whole_header(found.path)
    except HeaderError as error:
        return _unusable(found, FileKind.DAMAGED, error.args[0])
    return describe(header, found.path, found.parts, found.size_bytes, found.folder.source)


def _unusable(found: _Found, kind: FileKind, problem: str) -> ModelFile:
    return ModelFile(
        path=found.path,
        parts=found.parts,
        kind=kind,
        name=name_of(found.path),
        size_bytes=found.size_bytes,
        source=found.folder.source,
        problem=problem,
    )


def _missing_text(missing: list[int], num_parts: int) -> str:
    if len(missing) == 1:
        return said("part {number} of {count} is missing", number=missing[0], count=num_parts)
    return said("{missing} of its {count} parts are missing", missing=len(missing), count=num_parts)


# Remembering


@dataclass(frozen=True, slots=True)
class _Remembered:
    stamps: tuple[tuple[int, int, int], ...]
    model: ModelFile


@dataclass(frozen=True, slots=True)
class _File:
    format: int = FORMAT
    models: dict[str, _Remembered] = field(default_factory=dict)  # by path


@cache
def _json() -> TypeAdapter[_File]:
    return TypeAdapter(_File)


class _Memory:
    """The cache of headers that were read. If it is lost, they are read again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = self._load()
        self._now: dict[str, _Remembered] = {}

    def recall(self, found: _Found) -> ModelFile | None:
        known = self._before.get(str(found.path))
        if not known or known.stamps != found.stamps:
            return None
        self._now[str(found.path)] = known
        model = known.model
        return replace(model, source=found.folder.source, problem=from_text(model.problem))

    def keep(self, found: _Found, model: ModelFile) -> None:
        if _can_be_written(str(found.path)):
            kept = replace(model, problem=to_text(model.problem))
            self._now[str(found.path)] = _Remembered(found.stamps, kept)

    def keep_others(self) -> None:
        """Keeps the entries that this scan did not reach."""
        self._now = self._before | self._now

    def save(self) -> None:
        if self._now == self._before:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self._path) as file:
                file.buffer.write(_json().dump_json(_File(models=self._now)))
        except OSError as error:
            log.info("What was read of the models is not remembered: %s", error)

    def _load(self) -> dict[str, _Remembered]:
        try:
            file = _json().validate_json(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return file.models if file.format == FORMAT else {}


def _can_be_written(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
