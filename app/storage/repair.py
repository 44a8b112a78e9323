"""Replaces a damaged database by the newest good backup plus what can still be read.

The damaged one is kept beside it. If this is interrupted at any moment, the next start finds either the
damaged database or the finished one. The storage thread only.
"""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

from app.storage.backups import Backup, Backups, bring_back
from app.storage.database import move_aside, open_database, sync_file
from app.storage.errors import StorageError
from app.storage.salvage import Salvaged, salvage
from app.system.files import sync_dir
from app.system.said import said, together

log = logging.getLogger(__name__)


def repair(path: Path, backups: Backups) -> str:
    """Returns a message for the user. Raises StorageError; then nothing has changed."""
    finished = _finished(path)
    unfinished = finished.with_name(f".{finished.name}.part")
    backup = backups.newest_good()
    try:
        for old in finished.parent.glob(f"{unfinished.name}*"):
            old.unlink()
        with closing(open_database(unfinished)) as connection:
            if backup:
                _take(backup, connection)
            salvaged = _salvage(path, connection)
            num_chats, num_turns = _count(connection)
            connection.execute("PRAGMA journal_mode = DELETE")  # one file, not three
        sync_file(unfinished)
        unfinished.replace(finished)
        sync_dir(finished.parent)
    except (OSError, sqlite3.Error) as error:
        raise StorageError(
            said(
                "The chat database is damaged and could not be repaired: {reason}. It remains at {path}.",
                reason=str(error),
                path=path,
            )
        ) from error
    kept = finish_repair(path)
    return together(
        said("The chat database was damaged; it is kept as {path}.", path=kept),
        _what_is_there(backup, salvaged, num_chats, num_turns),
    )


def finish_repair(path: Path) -> Path | None:
    """Puts a finished repair in its place, also if an earlier start was interrupted before that.

    Returns the new path of the damaged database; None if there is no such repair.
    """
    finished = _finished(path)
    if not finished.exists():
        return None
    kept = move_aside(path)
    finished.replace(path)
    sync_dir(path.parent)
    return kept


def _take(backup: Backup, into: sqlite3.Connection) -> None:
    try:
        bring_back(backup, into)
    except StorageError:  # its tables are damaged, so row by row
        salvage(backup.path, into)


def _salvage(damaged: Path, into: sqlite3.Connection) -> Salvaged:
    """Anything can stand in the file. Whatever comes of reading it, the backup and the file stay."""
    try:
        return salvage(damaged, into) if damaged.is_file() else Salvaged(0, 0)
    except (OSError, sqlite3.Error):
        raise
    except Exception:
        log.exception("%s cannot be read page by page.", damaged)
        return Salvaged(0, 0)


def _finished(path: Path) -> Path:
    return path.with_name(f"{path.stem}.repaired{path.suffix}")


def _count(connection: sqlite3.Connection) -> tuple[int, int]:
    (num_chats,) = connection.execute("SELECT count(*) FROM chats").fetchone()
    (num_turns,) = connection.execute("SELECT count(*) FROM turns").fetchone()
    return num_chats, num_turns


def _what_is_there(backup: Backup | None, salvaged: Salvaged, num_chats: int, num_turns: int) -> str:
    if num_turns == 0:
        return said("Nothing could be recovered and there is no backup, so a new one was created.")
    damaged = ""
    if salvaged.num_damaged:
        damaged = said("{number} of them are damaged and marked.", number=salvaged.num_damaged)
    if backup is None:
        read = said(
            "There is no backup; {turns} messages in {chats} chats were recovered.",
            turns=num_turns,
            chats=num_chats,
        )
        return together(read, damaged)
    made_at = f"{backup.made_at.astimezone():%Y-%m-%d %H:%M}"
    if salvaged.num_turns == 0:
        return said(
            "It was replaced by the backup of {date}. Nothing newer could be recovered.", date=made_at
        )
    newer = said(
        "It was replaced by the backup of {date}, plus {turns} recovered messages.",
        date=made_at,
        turns=salvaged.num_turns,
    )
    return together(newer, damaged)
