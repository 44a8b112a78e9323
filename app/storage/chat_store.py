"""Keeps chats, folders and tabs in SQLite.

Called on the GUI's loop; the work is done by one thread that owns the only connection, in the order of the
calls, each in one transaction. Nothing mutable crosses: changes are copies, loaded chats are new objects.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from app.chats.chat import TurnState
from app.storage.chat_rows import (
    ChatChange,
    SavedChat,
    SavedTurns,
    delete_chats,
    read_chats,
    read_turns,
    write_chat,
)
from app.storage.database import IN_MEMORY, move_aside, open_database, transaction
from app.storage.errors import DatabaseDamagedError, StorageError

T = TypeVar("T")

INTERRUPTED = "Skein ended while this was being written."
MIN_INDEXED_CHARS = 3  # the index is one of trigrams


@dataclass(frozen=True, slots=True)
class ClosedTab:
    chat_id: str
    index: int  # where it stood


@dataclass(frozen=True, slots=True)
class Tabs:
    """Chat ids: the open tabs from left to right, and the closed ones with the last closed at the end."""

    open: tuple[str, ...] = ()
    current: str | None = None
    closed: tuple[ClosedTab, ...] = ()
    pinned: frozenset[str] = frozenset()
    shown: tuple[str, ...] = ()  # from left to right


@dataclass(frozen=True, slots=True)
class SavedWorkspace:
    """The chats of every open and closed tab, without their turns: `load_turns` has those."""

    tabs: Tabs = field(default_factory=Tabs)
    chats: dict[str, SavedChat] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """A line of the list of all chats. Times in seconds since the epoch."""

    id: str
    title: str  # as shown
    folder: str
    is_pinned: bool
    created_at: float
    updated_at: float
    num_turns: int


@dataclass(frozen=True, slots=True)
class SearchHit:
    chat_id: str
    turn_id: str
    title: str
    snippet: str  # with the found words between FOUND_START and FOUND_END
    created_at: float


FOUND_START, FOUND_END = "\x02", "\x03"


class ChatStore:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="storage")
        self._connection: sqlite3.Connection | None = None

    # The GUI's loop.

    async def open(self) -> str:
        """Call once, first. Returns what the user should know, mostly nothing.

        Where nothing can be kept on disk, chats are kept until the end of this run.
        """
        return await self._call(self._open)

    async def load(self) -> SavedWorkspace:
        """The tabs of the last run. Raises StorageError."""
        return await self._call(self._read, _load_workspace)

    async def load_chat(self, chat_id: str) -> SavedChat | None:
        """Without its turns; None if there is no such chat. Raises StorageError."""
        return await self._call(self._read, lambda connection: _load_chat(connection, chat_id))

    async def load_turns(self, saved: SavedChat) -> SavedTurns:
        """Raises StorageError."""
        return await self._call(
            self._read, lambda connection: read_turns(connection, saved.chat.id, saved.leaf_id)
        )

    async def summaries(self) -> tuple[ChatSummary, ...]:
        """All chats, the one written last first. Raises StorageError."""
        return await self._call(self._read, _summaries)

    async def search(self, text: str, limit: int = 200) -> tuple[SearchHit, ...]:
        """Messages in which all words of `text` are, the newest first. Raises StorageError."""
        return await self._call(self._read, lambda connection: _search(connection, text, limit))

    async def folders(self) -> tuple[str, ...]:
        """In the user's order. Raises StorageError."""
        return await self._call(self._read, _folders)

    async def save(self, changes: Sequence[ChatChange], tabs: Tabs | None = None) -> None:
        """Writes all of it or, with a StorageError, nothing. Chats without turns, title and draft go."""
        await self._call(self._save, tuple(changes), tabs)

    async def save_folders(self, names: Sequence[str]) -> None:
        """The folders there are, in this order. Chats of others are in none. Raises StorageError."""
        await self._call(self._write, lambda connection: _write_folders(connection, tuple(names)))

    async def place(
        self,
        chat_id: str,
        *,
        title: str | None = None,
        folder: str | None = None,
        is_pinned: bool | None = None,
    ) -> None:
        """Renames, moves or pins a chat that is not open; None leaves it as it is. Raises StorageError."""
        given = {"title": title, "folder": folder, "is_pinned": is_pinned}
        columns = {name: value for name, value in given.items() if value is not None}
        await self._call(self._write, lambda connection: _update_chat(connection, chat_id, columns))

    async def delete(self, chat_ids: Sequence[str]) -> None:
        """They are seen no more, can be undeleted in this run, and are gone after the next start.

        Raises StorageError.
        """
        await self._call(self._write, lambda connection: _set_deleted(connection, chat_ids, time.time()))

    async def undelete(self, chat_ids: Sequence[str]) -> None:
        """Raises StorageError."""
        await self._call(self._write, lambda connection: _set_deleted(connection, chat_ids, None))

    async def import_chats(self, changes: Sequence[ChatChange]) -> None:
        """All of them, as new ones, or with a StorageError none."""
        await self._call(self._save, tuple(changes), None)

    async def close(self) -> None:
        await self._call(self._close)
        self._thread.shutdown()

    async def _call(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    # The storage thread only.

    def _open(self) -> str:
        try:
            self._connection, notice = _open_or_start_anew(self._path)
        except StorageError as error:
            self._connection = open_database(IN_MEMORY)
            notice = f"{error} What you write now is lost when Skein ends."
        self._write(_tidy)
        return notice

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        assert self._connection
        try:
            return work(self._connection)
        except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
            raise StorageError(f"The chats could not be read: {error}. They stay on disk.") from error

    def _save(self, changes: tuple[ChatChange, ...], tabs: Tabs | None) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for change in changes:
                write_chat(connection, change)
            if tabs:
                _write_tabs(connection, tabs)
            connection.execute(_DELETE_BLANK_CHATS)

        self._write(work)

    def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        assert self._connection
        try:
            with transaction(self._connection):
                work(self._connection)
        except sqlite3.Error as error:
            raise StorageError(_why_not_saved(error, self._path)) from error

    def _close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None


def _open_or_start_anew(path: Path) -> tuple[sqlite3.Connection, str]:
    try:
        return open_database(path), ""
    except DatabaseDamagedError:
        kept = move_aside(path)
        notice = f"The chats database was damaged and is kept as {kept}. A new one was started."
        return open_database(path), notice


_DELETE_BLANK_CHATS = """
    DELETE FROM chats WHERE title = '' AND draft = '' AND draft_attachments = '[]' AND queue = '[]'
        AND id NOT IN (SELECT chat_id FROM turns)
"""
# A tab whose chat is not kept is not kept either.
_INSERT_OPEN_TAB = """
    INSERT INTO open_tabs (position, chat_id, is_current, is_pinned, shown_at)
        SELECT ?, id, ?, ?, ? FROM chats WHERE id = ?
"""
_INSERT_CLOSED_TAB = "INSERT INTO closed_tabs SELECT ?, id, ? FROM chats WHERE id = ?"


def _tidy(connection: sqlite3.Connection) -> None:
    """Nothing can be streaming yet: what says so was cut off by the end of an earlier run."""
    connection.execute(
        "UPDATE turns SET state = ?, notice = ? WHERE state = ?",
        (TurnState.STOPPED, INTERRUPTED, TurnState.STREAMING),
    )
    delete_chats(connection, "deleted_at IS NOT NULL")


def _write_tabs(connection: sqlite3.Connection, tabs: Tabs) -> None:
    connection.execute("DELETE FROM open_tabs")
    connection.execute("DELETE FROM closed_tabs")
    places = {chat_id: place for place, chat_id in enumerate(tabs.shown, start=1)}
    rows = (
        (position, chat_id == tabs.current, chat_id in tabs.pinned, places.get(chat_id, 0), chat_id)
        for position, chat_id in enumerate(tabs.open)
    )
    connection.executemany(_INSERT_OPEN_TAB, rows)
    closed = ((position, tab.index, tab.chat_id) for position, tab in enumerate(tabs.closed))
    connection.executemany(_INSERT_CLOSED_TAB, closed)


def _load_workspace(connection: sqlite3.Connection) -> SavedWorkspace:
    opened = connection.execute(
        "SELECT chat_id, is_current, is_pinned, shown_at FROM open_tabs ORDER BY position"
    ).fetchall()
    closed = connection.execute("SELECT chat_id, tab_index FROM closed_tabs ORDER BY position").fetchall()
    chats = {
        saved.chat.id: saved
        for saved in read_chats(
            connection,
            "deleted_at IS NULL AND id IN "
            "(SELECT chat_id FROM open_tabs UNION SELECT chat_id FROM closed_tabs)",
        )
    }
    tabs = Tabs(
        open=tuple(chat_id for chat_id, *_ in opened if chat_id in chats),
        current=next((chat_id for chat_id, is_current, *_ in opened if is_current), None),
        closed=tuple(ClosedTab(chat_id, index) for chat_id, index in closed if chat_id in chats),
        pinned=frozenset(chat_id for chat_id, _, is_pinned, _ in opened if is_pinned),
        shown=tuple(chat_id for _, chat_id in sorted((at, chat_id) for chat_id, *_, at in opened if at)),
    )
    return SavedWorkspace(tabs, chats)


def _load_chat(connection: sqlite3.Connection, chat_id: str) -> SavedChat | None:
    return next(read_chats(connection, "id = ?", (chat_id,)), None)


def _summaries(connection: sqlite3.Connection) -> tuple[ChatSummary, ...]:
    rows = connection.execute(
        "SELECT id, CASE title WHEN '' THEN auto_title ELSE title END, folder, is_pinned, created_at, "
        "updated_at, (SELECT count(*) FROM turns WHERE chat_id = chats.id) FROM chats "
        "WHERE deleted_at IS NULL ORDER BY updated_at DESC"
    )
    return tuple(
        ChatSummary(chat_id, title, folder, bool(is_pinned), created_at, updated_at, num_turns)
        for chat_id, title, folder, is_pinned, created_at, updated_at, num_turns in rows
    )


def _search(connection: sqlite3.Connection, text: str, limit: int) -> tuple[SearchHit, ...]:
    """By the index where it can serve: words of fewer than three characters are looked for in all texts."""
    words = text.split()
    if not words:
        return ()
    indexed = [word for word in words if len(word) >= MIN_INDEXED_CHARS]
    short = [word for word in words if len(word) < MIN_INDEXED_CHARS]
    conditions = ["chats.deleted_at IS NULL", "turns.state <> 'streaming'"]
    parameters: list[object] = []
    if indexed:
        conditions.append("turns_found MATCH ?")
        parameters.append(" ".join('"' + word.replace('"', '""') + '"' for word in indexed))
    for word in short:
        conditions.append("instr(lower(turns.text), lower(?)) > 0")
        parameters.append(word)
    snippet = f"snippet(turns_found, 0, '{FOUND_START}', '{FOUND_END}', '…', 48)" if indexed else "turns.text"
    source = "turns_found JOIN turns ON turns.number = turns_found.rowid" if indexed else "turns"
    rows = connection.execute(
        f"SELECT turns.chat_id, turns.id, CASE title WHEN '' THEN auto_title ELSE title END, {snippet}, "
        f"turns.created_at FROM {source} JOIN chats ON chats.id = turns.chat_id "
        f"WHERE {' AND '.join(conditions)} ORDER BY turns.number DESC LIMIT ?",
        (*parameters, limit),
    )
    return tuple(
        SearchHit(chat_id, turn_id, title, found if indexed else _excerpt(found, short[0]), created_at)
        for chat_id, turn_id, title, found, created_at in rows
    )


def _excerpt(text: str, word: str, around: int = 60) -> str:
    at = text.lower().find(word.lower())
    start, end = max(0, at - around), at + len(word)
    before, after = text[start:at], text[end : end + around]
    marked = f"{FOUND_START}{text[at:end]}{FOUND_END}"
    return f"{'…' if start else ''}{before}{marked}{after}{'…' if end + around < len(text) else ''}"


def _folders(connection: sqlite3.Connection) -> tuple[str, ...]:
    return tuple(name for (name,) in connection.execute("SELECT name FROM folders ORDER BY position"))


def _write_folders(connection: sqlite3.Connection, names: tuple[str, ...]) -> None:
    connection.execute("DELETE FROM folders")
    connection.executemany("INSERT INTO folders VALUES (?, ?)", [(name, i) for i, name in enumerate(names)])
    connection.execute("UPDATE chats SET folder = '' WHERE folder NOT IN (SELECT name FROM folders)")


def _update_chat(connection: sqlite3.Connection, chat_id: str, columns: dict[str, Any]) -> None:
    for name, value in columns.items():
        connection.execute(f"UPDATE chats SET {name} = ? WHERE id = ?", (value, chat_id))


def _set_deleted(connection: sqlite3.Connection, chat_ids: Sequence[str], at: float | None) -> None:
    connection.executemany("UPDATE chats SET deleted_at = ? WHERE id = ?", [(at, one) for one in chat_ids])


def _why_not_saved(error: sqlite3.Error, path: Path) -> str:
    if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
        return f"Chats are not being saved: the disk with {path.parent} is full. Free some space."
    return f"Chats are not being saved: {error} ({path}). Check that the folder can be written to."
