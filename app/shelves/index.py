"""The texts of all shelves, and their passages, in a database of their own. Called from one loop.

One thread has the connection. All of it can be read from the files again, so a damaged one is made anew.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from app.shelves.passages import indexed, line_of, passages, query
from app.shelves.scan import Changes, name_of
from app.shelves.shelf import FileState, Passage, Shelf, ShelfFile, Stamp
from app.system.private_files import private_dir, private_file

log = logging.getLogger(__name__)
T = TypeVar("T")

VERSION = 1  # a database of another one is made anew
NAME_WEIGHT = 0.5  # of a word in a file's name, beside one in its text
_SCHEMA = """
    CREATE TABLE files (
        shelf TEXT, number INTEGER, path TEXT, name TEXT, num_bytes INTEGER, mtime_ns INTEGER, inode INTEGER,
        state TEXT, reason TEXT DEFAULT '', text TEXT DEFAULT '', PRIMARY KEY (shelf, number)
    );
    CREATE TABLE numbers (shelf TEXT PRIMARY KEY, last INTEGER);
    CREATE TABLE passages (id INTEGER PRIMARY KEY, shelf TEXT, number INTEGER, start INTEGER, end INTEGER);
    CREATE INDEX passages_of ON passages (shelf, number);
    CREATE VIRTUAL TABLE found USING fts5 (
        text, name, content = '', tokenize = 'unicode61 remove_diacritics 2'
    );
"""
_FILE = "number, path, name, num_bytes, mtime_ns, inode, state, reason, length(text)"


class ShelfIndex:
    """Every call may raise sqlite3.Error, such as for a full disk; nothing has changed then."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="shelves")
        self._connection: sqlite3.Connection | None = None

    async def files(self, shelf: Shelf) -> tuple[ShelfFile, ...]:
        """In the order of their numbers."""
        return await self._call(lambda connection: _files(connection, shelf.id))

    async def apply(self, shelf: Shelf, changes: Changes) -> None:
        """What is new or changed waits to be read; what is gone is forgotten."""
        await self._call(lambda connection: _apply(connection, shelf, changes))

    async def put(self, shelf: Shelf, number: int, text: str) -> None:
        """It was read."""
        await self._call(lambda connection: _put(connection, shelf.id, number, text))

    async def refuse(self, shelf: Shelf, number: int, reason: str) -> None:
        await self._call(lambda connection: _refuse(connection, shelf.id, number, reason))

    async def texts(self, shelf: Shelf) -> list[tuple[int, str, str]]:
        """Number, name and text of all that were read, in the order of their numbers."""
        return await self._call(
            lambda connection: connection.execute(
                "SELECT number, name, text FROM files WHERE shelf = ? AND text <> '' ORDER BY number",
                (shelf.id,),
            ).fetchall()
        )

    async def text(self, shelf: Shelf, number: int) -> tuple[str, str] | None:
        """Name and text of one file."""
        found = await self._call(lambda connection: _name_and_text(connection, shelf.id, number))
        return next(iter(found), None)

    async def search(
        self, shelf: Shelf, text: str, limit: int, number: int | None = None
    ) -> tuple[Passage, ...]:
        """The passages with most of the words of `text`, best first; of one file, or of all."""
        return await self._call(lambda connection: _search(connection, shelf.id, text, limit, number))

    async def forget_all_but(self, shelves: Sequence[Shelf]) -> None:
        await self._call(lambda connection: _forget_all_but(connection, [one.id for one in shelves]))

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """In one transaction. Raises sqlite3.Error, such as for a full disk."""
        try:
            return self._commit(work)
        except sqlite3.OperationalError:  # a full disk, or one that is gone
            raise
        except sqlite3.DatabaseError as error:
            log.warning("The texts of the shelves are read anew: %s", error)
            self._close()
            with suppress(FileNotFoundError):
                self._path.unlink()
            return self._commit(work)

    def _commit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = _opened(self._path)
        with self._connection:
            return work(self._connection)

    def _close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None


def _opened(path: Path) -> sqlite3.Connection:
    private_dir(path.parent)
    private_file(path)
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"it has version {version}")
        if version == 0:
            connection.executescript(f"{_SCHEMA} PRAGMA user_version = {VERSION};")
    except BaseException:
        connection.close()
        raise
    return connection


def _files(connection: sqlite3.Connection, shelf_id: str) -> tuple[ShelfFile, ...]:
    rows = connection.execute(f"SELECT {_FILE} FROM files WHERE shelf = ? ORDER BY number", (shelf_id,))
    return tuple(
        ShelfFile(number, path, name, Stamp(*stamp), FileState(state), reason, num_chars)
        for number, path, name, *stamp, state, reason, num_chars in rows
    )


def _apply(connection: sqlite3.Connection, shelf: Shelf, changes: Changes) -> None:
    for number in changes.gone:
        _forget_passages(connection, shelf.id, number)
        connection.execute("DELETE FROM files WHERE shelf = ? AND number = ?", (shelf.id, number))
    for number, path in changes.moved.items():
        _forget_passages(connection, shelf.id, number)
        connection.execute(
            "UPDATE files SET path = ?, name = ? WHERE shelf = ? AND number = ?",
            (path, name_of(shelf, path), shelf.id, number),
        )
        _add_passages(connection, shelf.id, number)
    for number, stamp in changes.stamped.items():
        connection.execute(
            "UPDATE files SET num_bytes = ?, mtime_ns = ?, inode = ?, state = ?, reason = '' "
            "WHERE shelf = ? AND number = ?",
            (stamp.num_bytes, stamp.mtime_ns, stamp.inode, FileState.WAITING, shelf.id, number),
        )
    last = connection.execute("SELECT last FROM numbers WHERE shelf = ?", (shelf.id,)).fetchone()
    number = last[0] if last else 0
    for path, stamp in changes.new.items():
        number += 1
        row = (shelf.id, number, path, name_of(shelf, path), stamp.num_bytes, stamp.mtime_ns, stamp.inode)
        connection.execute(
            "INSERT INTO files (shelf, number, path, name, num_bytes, mtime_ns, inode, state) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, FileState.WAITING),
        )
    connection.execute("INSERT OR REPLACE INTO numbers VALUES (?, ?)", (shelf.id, number))


def _put(connection: sqlite3.Connection, shelf_id: str, number: int, text: str) -> None:
    _forget_passages(connection, shelf_id, number)
    connection.execute(
        "UPDATE files SET text = ?, state = ?, reason = '' WHERE shelf = ? AND number = ?",
        (text, FileState.READ, shelf_id, number),
    )
    _add_passages(connection, shelf_id, number)


def _add_passages(connection: sqlite3.Connection, shelf_id: str, number: int) -> None:
    """Of a file that is there."""
    for name, text in _name_and_text(connection, shelf_id, number):
        for start, end in passages(text):
            _add_passage(connection, (shelf_id, number, start, end), _words(text[start:end], name))


def _add_passage(
    connection: sqlite3.Connection, place: tuple[str, int, int, int], words: tuple[str, str]
) -> None:
    cursor = connection.execute("INSERT INTO passages (shelf, number, start, end) VALUES (?, ?, ?, ?)", place)
    connection.execute("INSERT INTO found (rowid, text, name) VALUES (?, ?, ?)", (cursor.lastrowid, *words))


def _name_and_text(connection: sqlite3.Connection, shelf_id: str, number: int) -> list[tuple[str, str]]:
    """Empty if it is gone meanwhile."""
    return connection.execute(
        "SELECT name, text FROM files WHERE shelf = ? AND number = ?", (shelf_id, number)
    ).fetchall()


def _refuse(connection: sqlite3.Connection, shelf_id: str, number: int, reason: str) -> None:
    _forget_passages(connection, shelf_id, number)
    connection.execute(
        "UPDATE files SET text = '', state = ?, reason = ? WHERE shelf = ? AND number = ?",
        (FileState.UNREADABLE, reason, shelf_id, number),
    )


def _forget_passages(connection: sqlite3.Connection, shelf_id: str, number: int) -> None:
    """A contentless index must be told what it is to forget."""
    known = _name_and_text(connection, shelf_id, number)
    rows = connection.execute(
        "SELECT id, start, end FROM passages WHERE shelf = ? AND number = ?", (shelf_id, number)
    ).fetchall()
    for identity, start, end in rows:
        connection.execute(
            "INSERT INTO found (found, rowid, text, name) VALUES ('delete', ?, ?, ?)",
            (identity, *_words(known[0][1][start:end], known[0][0])),
        )
    connection.execute("DELETE FROM passages WHERE shelf = ? AND number = ?", (shelf_id, number))


def _words(text: str, name: str) -> tuple[str, str]:
    return indexed(text), indexed(name)


def _search(
    connection: sqlite3.Connection, shelf_id: str, text: str, limit: int, number: int | None
) -> tuple[Passage, ...]:
    words = query(text)
    if not words:
        return ()
    where, given = ("AND passages.number = ?", (number,)) if number is not None else ("", ())
    rows = connection.execute(
        "SELECT passages.number, start, end FROM found JOIN passages ON passages.id = found.rowid "
        f"WHERE found MATCH ? AND shelf = ? {where} ORDER BY bm25(found, 1.0, {NAME_WEIGHT}) LIMIT ?",
        (words, shelf_id, *given, limit),
    ).fetchall()
    return tuple(_passage(connection, shelf_id, *row) for row in rows)


def _passage(connection: sqlite3.Connection, shelf_id: str, number: int, start: int, end: int) -> Passage:
    ((name, text),) = _name_and_text(connection, shelf_id, number)
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return Passage(number, name, first, end, line_of(text, first), piece.strip())


def _forget_all_but(connection: sqlite3.Connection, shelf_ids: list[str]) -> None:
    known = connection.execute("SELECT shelf, number FROM files").fetchall()
    for shelf_id, number in known:
        if shelf_id not in shelf_ids:
            _forget_passages(connection, shelf_id, number)
            connection.execute("DELETE FROM files WHERE shelf = ? AND number = ?", (shelf_id, number))
    for (shelf_id,) in connection.execute("SELECT shelf FROM numbers").fetchall():
        if shelf_id not in shelf_ids:
            connection.execute("DELETE FROM numbers WHERE shelf = ?", (shelf_id,))
