"""The model files that have passed the probe, so that each is probed once until it changes.

Identifies files by their metadata, never by their content. Any thread.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path

from app.engine.llama.mapped_files import parts_of
from app.system import paths
from app.system.files import replacing

log = logging.getLogger(__name__)

MAX_REMEMBERED = 200


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A model on disk with all its parts. One that cannot be read has none."""

    key: str  # of each part its real path, size, time of last change, and inode
    size_bytes: int

    @classmethod
    def at(cls, path: Path) -> KnownFile:
        parts = []
        with contextlib.suppress(OSError):
            for part in parts_of(path):
                status = part.stat()
                parts.append((os.path.realpath(part), status.st_size, status.st_mtime_ns, status.st_ino))
        return cls(json.dumps(parts), sum(part[1] for part in parts))


class GoodFiles:
    """A small JSON file in the cache folder, the latest file last. Where it is lost, a probe is repeated.

    `judge` identifies the probe's version: results of another version do not count.
    """

    def __init__(self, path: Path, judge: str) -> None:
        self._path, self._judge = path, judge

    def __contains__(self, file: KnownFile) -> bool:
        return file.key in self._keys()

    def add(self, file: KnownFile) -> None:
        keys = [*self._keys(), file.key][-MAX_REMEMBERED:]
        try:
            paths.private_dir(self._path.parent)
            with replacing(self._path) as stored:
                json.dump({"judge": self._judge, "files": keys}, stored)
        except OSError as error:
            log.warning("%s was not written (%s): the model will be tested again.", self._path, error)

    def _keys(self) -> list[str]:
        try:
            stored = json.loads(self._path.read_bytes())
            return [str(key) for key in stored["files"]] if stored["judge"] == self._judge else []
        except FileNotFoundError:
            return []
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            log.warning("%s is ignored: %r", self._path, error)
            return []
