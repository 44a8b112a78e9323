"""The texts of all shelves, their passages and the vectors of these, in a database of their own.

Called from one loop; one thread has the connection. All of it can be made from the files again, so a damaged
one is made anew. A vector belongs to a text: passages that did not change, or came back, keep theirs.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
import logging
import math
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from app.shelves.passages import indexed, line_of, passages, query_words
from app.shelves.scan import Changes, name_of
from app.shelves.shelf import FileState, Passage, Shelf, ShelfFile
from app.system.files import Stamp, private_dir, private_file

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    Kept = npt.NDArray[np.float16]

log = logging.getLogger(__name__)
T = TypeVar("T")

VERSION = 2  # a database of a later one is made anew
NAME_WEIGHT = 0.5  # of a word in a file's name, beside one in its text
_SCHEMA = """
    CREATE TABLE files (
        shelf TEXT, number INTEGER, path TEXT, name TEXT, num_bytes INTEGER, mtime_ns INTEGER, inode INTEGER,
        state TEXT, reason TEXT DEFAULT '', text TEXT DEFAULT '', PRIMARY KEY (shelf, number)
    );
    CREATE TABLE numbers (shelf TEXT PRIMARY KEY, last INTEGER);
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY, shelf TEXT, number INTEGER, start INTEGER, end INTEGER, hash BLOB
    );
    CREATE INDEX passages_of ON passages (shelf, number);
    CREATE VIRTUAL TABLE found USING fts5 (
        text, name, content = '', tokenize = 'unicode61 remove_diacritics 2'
    );
"""
_VECTORS = """
    CREATE TABLE vectors (model TEXT, hash BLOB, vector BLOB, PRIMARY KEY (model, hash)) WITHOUT ROWID;
"""
VECTORS_AT_ONCE = 4096  # compared with a question
_FILE = "number, path, name, num_bytes, mtime_ns, inode, state, reason, length(text)"


class ShelfIndex:
    """Every call may raise sqlite3.Error, such as for a full disk; nothing has changed then."""

    def __init__(self, path: Path, *, is_read_only: bool = False) -> None:
        """Read only: of another program's, which may change it; there may be none."""
        self._path = path
        self._is_read_only = is_read_only
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="shelves")
        self._connection: sqlite3.Connection | None = None
        self._is_closed = False
        self.num_changes = 0  # made here: a search finds the same until there are more

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
        found = await self.by_words(shelf, text, limit, number)
        return await self.passages(shelf, tuple(found))

    async def by_words(
        self, shelf: Shelf, text: str, limit: int, number: int | None = None
    ) -> dict[int, float]:
        """BM25 by the id of the passage, the best first; higher is better."""
        return await self._call(lambda connection: _by_words(connection, shelf.id, text, limit, number))

    async def certainty(self, text: str, ids: Iterable[int]) -> float:
        """How sure a search by words is of what it found, from 0 to 1: it has all words of `text`."""
        return await self._call(lambda connection: _certainty(connection, text, ids))

    async def by_vector(self, shelf: Shelf, model: str, vector: Vector, limit: int) -> dict[int, float]:
        """The dot product by the id of the passage, the highest first. Only for those with such a vector."""
        return await self._call(lambda connection: _by_vector(connection, shelf.id, model, vector, limit))

    async def passages(self, shelf: Shelf, ids: Sequence[int]) -> tuple[Passage, ...]:
        """In this order, without those that are gone meanwhile."""
        return await self._call(lambda connection: tuple(_passages(connection, shelf.id, ids)))

    async def without_vector(self, shelf: Shelf, model: str, limit: int) -> list[tuple[bytes, str]]:
        """Hashes and texts of passages."""
        return await self._call(lambda connection: _without_vector(connection, shelf.id, model, limit))

    async def put_vectors(self, model: str, vectors: Sequence[tuple[bytes, Kept]]) -> None:
        """By the hashes of their texts."""
        rows = [(model, text_hash, vector.tobytes()) for text_hash, vector in vectors]
        await self._call(lambda connection: _put_vectors(connection, rows))

    async def num_vectors(self, shelf: Shelf, model: str) -> tuple[int, int]:
        """How many passages have one, and how many there are."""
        return await self._call(lambda connection: _num_vectors(connection, shelf.id, model))

    async def forget_vectors_but(self, model: str) -> None:
        """Also those of texts that are on no shelf any more."""
        await self._call(lambda connection: _forget_vectors_but(connection, model))

    async def forget_all_but(self, shelves: Sequence[Shelf]) -> None:
        await self._call(lambda connection: _forget_all_but(connection, [one.id for one in shelves]))

    async def close(self) -> None:
        """What was asked before is done first; what is asked later raises sqlite3.Error."""
        self._is_closed = True
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._is_closed:
            raise sqlite3.OperationalError("the program is ending")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """In one transaction. Raises sqlite3.Error, such as for a full disk."""
        try:
            return self._commit(work)
        except sqlite3.OperationalError:  # a full disk, or one that is gone
            raise
        except sqlite3.DatabaseError as error:
            if self._is_read_only:
                raise
            log.warning("The texts of the shelves are read anew: %s", error)
            self._close()
            with suppress(FileNotFoundError):
                self._path.unlink()
            return self._commit(work)

    def _commit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = _opened_to_read(self._path) if self._is_read_only else _opened(self._path)
        with self._connection:
            result = work(self._connection)
        self.num_changes = self._connection.total_changes
        return result

    def _close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None


def _opened(path: Path) -> sqlite3.Connection:
    try:
        private_dir(path.parent)
        private_file(path)
    except OSError as error:  # such as a read-only home
        raise sqlite3.OperationalError(str(error)) from error
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise sqlite3.DatabaseError(f"it has version {version}")
        if version == 0:
            connection.executescript(f"{_SCHEMA}{_VECTORS} PRAGMA user_version = {VERSION};")
        if version == 1:
            _add_hashes(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _opened_to_read(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        connection.close()
        raise sqlite3.DatabaseError(f"it has version {version}")
    return connection


def _add_hashes(connection: sqlite3.Connection) -> None:
    """To a database of version 1."""
    with connection:
        connection.execute("BEGIN")
        connection.execute("ALTER TABLE passages ADD COLUMN hash BLOB")
        connection.execute(_VECTORS)
        known = "SELECT shelf, number, text FROM files WHERE text <> ''"
        for shelf_id, number, text in connection.execute(known).fetchall():
            places = connection.execute(
                "SELECT id, start, end FROM passages WHERE shelf = ? AND number = ?", (shelf_id, number)
            ).fetchall()
            hashes = [(_hash(text[start:end]), identity) for identity, start, end in places]
            connection.executemany("UPDATE passages SET hash = ? WHERE id = ?", hashes)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _hash(passage: str) -> bytes:
    return hashlib.blake2b(passage.strip().encode("utf-8", "replace"), digest_size=16).digest()


def _files(connection: sqlite3.Connection, shelf_id: str) -> tuple[ShelfFile, ...]:
    rows = connection.execute(f"SELECT {_FILE} FROM files WHERE shelf = ? ORDER BY number", (shelf_id,))
    return tuple(
        ShelfFile(number, os.fsdecode(path), name, Stamp(*stamp), FileState(state), reason, num_chars)
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
            (_kept_path(path), name_of(shelf, path), shelf.id, number),
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
        named = _kept_path(path), name_of(shelf, path)
        row = (shelf.id, number, *named, stamp.num_bytes, stamp.mtime_ns, stamp.inode)
        connection.execute(
            "INSERT INTO files (shelf, number, path, name, num_bytes, mtime_ns, inode, state) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, FileState.WAITING),
        )
    connection.execute("INSERT OR REPLACE INTO numbers VALUES (?, ?)", (shelf.id, number))


def _kept_path(path: str) -> str | bytes:
    """A path that is no text is kept as its bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def _put(connection: sqlite3.Connection, shelf_id: str, number: int, text: str) -> None:
    _forget_passages(connection, shelf_id, number)
    connection.execute(
        "UPDATE files SET text = ?, state = ?, reason = '' WHERE shelf = ? AND number = ?",
        (text, FileState.READ, shelf_id, number),
    )
    _add_passages(connection, shelf_id, number)


def _add_passages(connection: sqlite3.Connection, shelf_id: str, number: int) -> None:
    """Indexes the passages of a file that is there."""
    for name, text in _name_and_text(connection, shelf_id, number):
        for start, end in passages(text):
            passage = text[start:end]
            place = shelf_id, number, start, end, _hash(passage)
            _add_passage(connection, place, _words(passage, name))


def _add_passage(
    connection: sqlite3.Connection, place: tuple[str, int, int, int, bytes], words: tuple[str, str]
) -> None:
    cursor = connection.execute(
        "INSERT INTO passages (shelf, number, start, end, hash) VALUES (?, ?, ?, ?, ?)", place
    )
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


def _by_words(
    connection: sqlite3.Connection, shelf_id: str, text: str, limit: int, number: int | None
) -> dict[int, float]:
    """SQLite's own BM25 is the lower, the better."""
    words = " OR ".join(query_words(text))
    if not words:
        return {}
    where, given = ("AND passages.number = ?", (number,)) if number is not None else ("", ())
    rows = connection.execute(
        f"SELECT passages.id, -bm25(found, 1.0, {NAME_WEIGHT}) AS score "
        "FROM found JOIN passages ON passages.id = found.rowid "
        f"WHERE found MATCH ? AND shelf = ? {where} ORDER BY score DESC LIMIT ?",
        (words, shelf_id, *given, limit),
    )
    return dict(rows.fetchall())


def _certainty(connection: sqlite3.Connection, text: str, ids: Iterable[int]) -> float:
    """The part of the question's vector, its words weighed by how rare they are (idf), that the best passage
    has: the square of the cosine between them."""
    (num_passages,) = connection.execute("SELECT count(*) FROM passages").fetchone()
    counted = f"SELECT count(*), group_concat(rowid) FILTER (WHERE rowid IN ({','.join(map(str, ids))})) "
    whole, parts = 0.0, dict.fromkeys(ids, 0.0)
    for word in query_words(text):
        row = connection.execute(f"{counted} FROM found WHERE found MATCH ?", (word,)).fetchone()
        num_places, having = row
        weight = math.log(1 + (num_passages - num_places + 0.5) / (num_places + 0.5)) ** 2
        whole += weight
        for identity in having.split(",") if having else ():
            parts[int(identity)] += weight
    return max(parts.values(), default=0.0) / whole if whole else 0.0


def _by_vector(
    connection: sqlite3.Connection, shelf_id: str, model: str, vector: Vector, limit: int
) -> dict[int, float]:
    import numpy as np

    rows = connection.execute(
        "SELECT passages.id, vector FROM passages JOIN vectors ON vectors.hash = passages.hash "
        "WHERE shelf = ? AND model = ?",
        (shelf_id, model),
    )
    best: list[tuple[float, int]] = []
    while some := rows.fetchmany(VECTORS_AT_ONCE):
        kept: Kept = np.frombuffer(b"".join(blob for _, blob in some), np.float16)
        scores = kept.reshape(len(some), -1).astype(np.float32) @ vector
        scored = zip(scores.tolist(), (-identity for identity, _ in some), strict=True)
        best = heapq.nlargest(limit, (*best, *scored))
    return {-identity: score for score, identity in best}


def _without_vector(
    connection: sqlite3.Connection, shelf_id: str, model: str, limit: int
) -> list[tuple[bytes, str]]:
    rows = connection.execute(
        "SELECT passages.number, start, end, hash FROM passages WHERE shelf = ? AND NOT EXISTS "
        "(SELECT 1 FROM vectors WHERE model = ? AND vectors.hash = passages.hash) LIMIT ?",
        (shelf_id, model, limit),
    ).fetchall()
    found: dict[bytes, str] = {}
    for number, start, end, text_hash in rows:
        ((_, text),) = _name_and_text(connection, shelf_id, number)
        found[text_hash] = text[start:end].strip()
    return list(found.items())


def _put_vectors(connection: sqlite3.Connection, rows: list[tuple[str, bytes, bytes]]) -> None:
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)


def _forget_vectors_but(connection: sqlite3.Connection, model: str) -> None:
    connection.execute(
        "DELETE FROM vectors WHERE model <> ? OR hash NOT IN (SELECT hash FROM passages)", (model,)
    )


def _num_vectors(connection: sqlite3.Connection, shelf_id: str, model: str) -> tuple[int, int]:
    num_vectors, num_passages = connection.execute(
        "SELECT count(vectors.hash), count(*) FROM passages "
        "LEFT JOIN vectors ON model = ? AND vectors.hash = passages.hash WHERE shelf = ?",
        (model, shelf_id),
    ).fetchone()
    return num_vectors, num_passages


def _passages(connection: sqlite3.Connection, shelf_id: str, ids: Sequence[int]) -> Iterator[Passage]:
    for identity in ids:
        place = connection.execute(
            "SELECT number, start, end FROM passages WHERE id = ? AND shelf = ?", (identity, shelf_id)
        ).fetchone()
        if place:
            yield _passage(connection, shelf_id, *place)


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
