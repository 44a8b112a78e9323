"""Copies chats, messages, their media, and projects from a damaged database into a sound one.

Rows are recognised by their shape: that of the tables in the damaged file's version. The storage thread only.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from app.storage.chat_rows import RECOVERED, index_anew
from app.storage.database import checksum, migrate, migrations, transaction
from app.storage.media_rows import hash_of
from app.storage.pages import Pages, Row

TABLES = ("chats", "turns", MEDIA := "media", PROJECTS := "projects")
_SIZE = "length({0}.text) + length({0}.rounds)"
_CHECKED = ("id", "parent_id", "role", "text", "attachments", "rounds")


@dataclass(frozen=True, slots=True)
class Salvaged:
    """Counts of messages: new or with more text than in the sound database; of these, damaged."""

    num_turns: int
    num_damaged: int


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    kinds: tuple[type, ...]
    may_be_left_out: bool


@dataclass(frozen=True, slots=True)
class _Shape:
    """The shape of a table's rows."""

    table: str
    columns: tuple[_Column, ...]

    def fits(self, row: Row) -> bool:
        return (
            len(row) <= len(self.columns)
            and all(isinstance(value, column.kinds) for value, column in zip(row, self.columns, strict=False))
            and all(column.may_be_left_out for column in self.columns[len(row) :])
        )


def salvage(damaged: Path, into: sqlite3.Connection) -> Salvaged:
    """Rows in `into` stay, unless the damaged file has a newer intact one."""
    pages = Pages(damaged)
    salvaged = Salvaged(0, 0)
    for version in _versions(pages):
        with closing(sqlite3.connect("", isolation_level=None)) as rows:
            _collect(pages, version, rows)
            salvaged = _bring_over(rows, into)
        if salvaged.num_turns:
            break
    return salvaged


def _versions(pages: Pages) -> Iterable[int]:
    """The schema versions that it may have."""
    newest = len(migrations())
    return (pages.user_version,) if 1 <= pages.user_version <= newest else range(newest, 0, -1)


def _collect(pages: Pages, version: int, into: sqlite3.Connection) -> None:
    """All rows of the shapes of this version, brought to the newest schema."""
    migrate(into, to=version)
    shapes = [shape for shape in (_shape(into, table) for table in TABLES) if shape.columns]
    with transaction(into):
        for _row_id, row in sorted(pages.rows(), key=lambda found: found[0]):
            for shape in shapes:
                if shape.table == MEDIA and shape.fits(row):
                    _insert_media(into, row)
                elif shape.table == PROJECTS and shape.fits(row):
                    _insert_project(into, row)
                elif shape.fits(row):
                    _insert(into, shape, row)
    migrate(into)


def _shape(connection: sqlite3.Connection, table: str) -> _Shape:
    columns = connection.execute(f"PRAGMA table_info({table})")
    return _Shape(table, tuple(_column(*row[1:]) for row in columns))


def _column(name: str, kind: str, is_required: int, default: str | None, key: int) -> _Column:
    kinds: dict[str, tuple[type, ...]] = {
        "TEXT": (str,),
        "INTEGER": (int,),
        "REAL": (int, float),
        "BLOB": (bytes,),
    }
    is_row_id = bool(key) and kind == "INTEGER"
    if is_row_id:
        return _Column(name, (type(None),), False)
    may_be_null = not is_required and not key
    return _Column(
        name, (*kinds[kind], *((type(None),) if may_be_null else ())), may_be_null or default is not None
    )


def _insert(connection: sqlite3.Connection, shape: _Shape, row: Row) -> None:
    """The row of a message with more text wins: the other is from an old page."""
    names = [column.name for column in shape.columns[: len(row)]]
    words = [name for name in ("text", "rounds", "draft") if name in names]
    sizes = ((f"length(excluded.{name})", f"length({shape.table}.{name})") for name in words)
    is_longer = " > ".join(map(" + ".join, zip(*sizes, strict=True)))
    columns, marks = ", ".join(names), ", ".join("?" * len(names))
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in ("id", "number"))
    try:
        connection.execute(
            f"INSERT INTO {shape.table} ({columns}) VALUES ({marks}) "
            f"ON CONFLICT (id) DO UPDATE SET {changes} WHERE {is_longer}",
            row,
        )
    except sqlite3.Error:
        return  # it only looked like a row of this table


def _insert_media(connection: sqlite3.Connection, row: Row) -> None:
    """Only what is as it was written."""
    sha256, data, *_ = row
    if isinstance(data, bytes) and hash_of(data) == sha256:
        connection.execute("INSERT OR IGNORE INTO media VALUES (?, ?, ?, ?)", row)


def _insert_project(connection: sqlite3.Connection, row: Row) -> None:
    """The row that was written last wins. Other tables may have had rows of this shape."""
    try:
        found = json.loads(str(row[1]))
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict) and "facts" in found:
        connection.execute("INSERT OR REPLACE INTO projects VALUES (?, ?)", row)


def _bring_over(rows: sqlite3.Connection, into: sqlite3.Connection) -> Salvaged:
    rows.row_factory = sqlite3.Row
    num_turns = num_damaged = 0
    with transaction(into):
        for chat in rows.execute("SELECT * FROM chats"):
            _upsert(into, "chats", chat, "excluded.updated_at >= chats.updated_at")
        for turn in rows.execute("SELECT * FROM turns ORDER BY number"):
            is_whole = turn["checksum"] in (None, checksum(*(turn[part] for part in _CHECKED)))
            _ensure_chat(into, turn["chat_id"], turn["created_at"])
            newer = f"{_SIZE.format('excluded')} > {_SIZE.format('turns')}" if is_whole else "0"
            if _upsert(into, "turns", turn, newer, without=("number",)):
                num_turns += 1
                num_damaged += not is_whole
        for media in rows.execute("SELECT * FROM media"):
            _insert_media(into, tuple(media))
        for project in rows.execute("SELECT * FROM projects"):
            _insert_project(into, tuple(project))
        index_anew(into)
    return Salvaged(num_turns, num_damaged)


def _upsert(
    connection: sqlite3.Connection, table: str, row: sqlite3.Row, if_newer: str, without: Iterable[str] = ()
) -> bool:
    names = [name for name in row.keys() if name not in without]  # noqa: SIM118
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name != "id")
    done = connection.execute(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
        f"ON CONFLICT (id) DO UPDATE SET {changes} WHERE {if_newer}",
        [row[name] for name in names],
    )
    return done.rowcount > 0


def _ensure_chat(connection: sqlite3.Connection, chat_id: str, at: float) -> None:
    """Creates the chat if its own row was lost."""
    connection.execute(
        "INSERT OR IGNORE INTO chats (id, title, system_prompt, draft, created_at, updated_at) "
        "VALUES (?, ?, '', '', ?, ?)",
        (chat_id, str(RECOVERED), at, at),
    )
