"""Backups of the chats database in a folder beside it: creates, verifies, lists and prunes them.

Each is one SQLite file, readable by its owner only. Made over a separate read-only connection, so the writer
continues meanwhile. Any thread, one at a time.
"""

import contextlib
import errno
import logging
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from app.storage.database import check, damaged_turn_ids, sync_file, update, uri
from app.storage.errors import DatabaseDamagedError, StorageError
from app.system.files import private_dir, private_file, sync_dir
from app.system.said import said

log = logging.getLogger(__name__)

_NAME = re.compile(r"chats-(\d{8}-\d{6})-([a-z]+)\.db")
_TIME = "%Y%m%d-%H%M%S"  # UTC: names must stay sorted when daylight saving time ends


class BackupReason(StrEnum):
    """Why it was made; part of its name."""

    REGULAR = "regular"
    ASKED = "asked"
    UPDATE = "update"  # before a migration
    IMPORT = "import"  # before one
    RESTORE = "restore"  # before another one took its place


@dataclass(frozen=True, slots=True)
class Backup:
    path: Path
    made_at: datetime  # UTC
    reason: BackupReason
    size_bytes: int


def utc_now() -> datetime:
    return datetime.now(UTC)


class Backups:
    def __init__(self, database: Path, now: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._now = now
        self.folder = database.parent / "backups"

    def all(self) -> list[Backup]:
        """Newest first, without opening any."""
        try:
            found = [_backup(path) for path in self.folder.iterdir()]
        except OSError:
            return []
        return sorted((one for one in found if one), key=lambda one: one.made_at, reverse=True)

    def is_due(self, max_age: timedelta) -> bool:
        """There are changes since the newest one, which is older than `max_age` or from the future."""
        made_at = next((one.made_at for one in self.all()), None)
        if made_at is None:
            return True
        return _changed_at(self._database) > made_at and not timedelta() <= self._now() - made_at < max_age

    def make(self, reason: BackupReason) -> Backup:
        """Returns when it is on disk and verified. Raises StorageError."""
        made_at = self._free_second()
        path = self.folder / f"chats-{made_at:{_TIME}}-{reason}.db"
        unfinished = path.with_name(f".{path.name}.part")
        try:
            private_dir(self.folder)
            self._clear_unfinished()
            _copy(self._database, unfinished)
            if num_damaged := verify(unfinished):
                log.warning("%s has %d messages that are not as they were written.", path, num_damaged)
            sync_file(unfinished)
            unfinished.replace(path)
            sync_dir(self.folder)
            size_bytes = path.stat().st_size
        except (OSError, sqlite3.Error, UnicodeDecodeError, DatabaseDamagedError) as error:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise StorageError(_why_no_backup(error, self.folder)) from error
        self._thin()
        return Backup(path, made_at, reason, size_bytes)

    def newest_good(self) -> Backup | None:
        """The newest one with all messages intact, else the newest that can be read."""
        sound = []
        for backup in self.all():
            with contextlib.suppress(StorageError):
                if verify(backup.path) == 0:
                    return backup
                sound.append(backup)
        return sound[0] if sound else None

    def _free_second(self) -> datetime:
        """The time for the name: now, or the next second without a backup."""
        taken = {one.made_at for one in self.all()}
        moment = self._now().astimezone(UTC).replace(microsecond=0)
        while moment in taken:
            moment += timedelta(seconds=1)
        return moment

    def _thin(self) -> None:
        """Prunes old backups, by days in the local time zone, and then what takes too much room."""
        backups = self.all()
        gone = set(obsolete([one.made_at.astimezone() for one in backups], self._now().astimezone().date()))
        old = [one for one in backups if one.made_at.astimezone() in gone]
        left = [one for one in backups if one not in old]
        for backup in [*old, *beyond_budget(left, self._now())]:
            with contextlib.suppress(OSError):  # the next one tries again
                backup.path.unlink()

    def _clear_unfinished(self) -> None:
        """Deletes what a crash left."""
        for path in self.folder.glob(".*.part*"):
            path.unlink()


def verify(path: Path) -> int:
    """Reads all of it, and returns the number of damaged messages.

    Raises DatabaseDamagedError.
    """
    try:
        with closing(sqlite3.connect(uri(path, "immutable=1"), uri=True)) as connection:
            check(connection)
            return len(damaged_turn_ids(connection))
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise DatabaseDamagedError(str(error)) from error


def bring_back(backup: Backup, into: sqlite3.Connection) -> None:
    """Replaces the contents of an open database by the backup, migrated, in one transaction.

    Raises StorageError or sqlite3.Error; then nothing has changed.
    """
    with (
        closing(sqlite3.connect(uri(backup.path, "immutable=1"), uri=True)) as source,
        closing(sqlite3.connect("", isolation_level=None)) as scratch,
    ):
        source.backup(scratch)
        update(scratch)
        scratch.backup(into)


def write_anew(connection: sqlite3.Connection, path: Path) -> None:
    """Writes a copy of an open database to a new file. Raises OSError or sqlite3.Error."""
    unfinished = path.with_name(f".{path.name}.part")
    private_dir(path.parent)
    _copy_to(unfinished, connection)
    sync_file(unfinished)
    unfinished.replace(path)
    sync_dir(path.parent)


def _copy(database: Path, to: Path) -> None:
    with closing(sqlite3.connect(uri(database, "mode=ro"), uri=True)) as source:
        source.execute("PRAGMA busy_timeout = 5000")
        _copy_to(to, source)


def _copy_to(to: Path, source: sqlite3.Connection) -> None:
    private_file(to)
    with closing(sqlite3.connect(to, isolation_level=None)) as target:
        # It has a temporary name, so it needs no durability before it is complete.
        target.execute("PRAGMA synchronous = OFF")
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, not three


def _backup(path: Path) -> Backup | None:
    found = _NAME.fullmatch(path.name)
    if not found:
        return None
    try:
        made_at = datetime.strptime(found[1], _TIME).replace(tzinfo=UTC)
        return Backup(path, made_at, BackupReason(found[2]), path.stat().st_size)
    except (ValueError, OSError):
        return None


def _changed_at(database: Path) -> datetime:
    times = []
    for path in (database, database.with_name(f"{database.name}-wal")):
        with contextlib.suppress(OSError):
            times.append(path.stat().st_mtime)
    return datetime.fromtimestamp(max(times, default=0), UTC)


def _why_no_backup(error: Exception, folder: Path) -> str:
    is_full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if is_full or getattr(error, "errno", None) == errno.ENOSPC:
        return said("Backup failed: the disk with {folder} is full. Free some space.", folder=folder)
    return said(
        "Backup to {folder} failed: {reason}. Your chats are unaffected.",
        folder=folder,
        reason=getattr(error, "strerror", None) or str(error),
    )


# Each has all pictures and sounds. So many stay whatever they take.
MAX_BYTES, MIN_NUM = 4 << 30, 6


def beyond_budget(newest_first: Sequence[Backup], now: datetime) -> list[Backup]:
    """The backups to delete so that all take no more than MAX_BYTES: neither the newest nor the oldest.

    Again and again, the one that leaves the smallest hole for its age goes: backups become the rarer
    the older they are.
    """
    left, gone = list(newest_first), []
    while len(left) > MIN_NUM and sum(one.size_bytes for one in left) > MAX_BYTES:

        def hole(place: int) -> float:
            age = max(now - left[place].made_at, timedelta(seconds=1))
            return (left[place - 1].made_at - left[place + 1].made_at) / age

        gone.append(left.pop(min(range(1, len(left) - 1), key=hole)))
    return gone


NUM_DAYS, NUM_WEEKS, NUM_MONTHS = 12, 10, 9
_STAGES: tuple[tuple[int, Callable[[date], object]], ...] = (
    (NUM_DAYS, lambda day: day),
    (NUM_WEEKS, lambda day: day.isocalendar()[:2]),
    (NUM_MONTHS, lambda day: (day.year, day.month)),
)


def obsolete(made_at: Iterable[datetime], today: date) -> list[datetime]:
    """The backups to delete: never the newest, nor one that seems to be from the future: clocks go wrong."""
    yesterday = today - timedelta(days=1)
    old = sorted({moment for moment in made_at if moment.date() < yesterday}, reverse=True)
    kept: set[datetime] = set()
    newest_first = iter(old)
    for num_wanted, period_of in _STAGES:
        kept |= _newest_of_each(newest_first, num_wanted, period_of, kept)
    return [moment for moment in old if moment not in kept]


def _newest_of_each(
    newest_first: Iterator[datetime],
    num_wanted: int,
    period_of: Callable[[date], object],
    kept_before: set[datetime],
) -> set[datetime]:
    """Consumes the iterator until enough periods have their backup."""
    periods = {period_of(min(kept_before).date())} if kept_before else set()
    kept: set[datetime] = set()
    while len(kept) < num_wanted and (moment := next(newest_first, None)):
        if period_of(moment.date()) not in periods:
            periods.add(period_of(moment.date()))
            kept.add(moment)
    return kept
