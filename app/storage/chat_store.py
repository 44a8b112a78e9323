"""Keeps chats and tabs in SQLite.

Called on the GUI's loop; the work is done by one thread that owns the only connection, in the order of the
calls, each in one transaction. Nothing mutable crosses: changes are copies, loaded chats are new objects.
"""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from app.chats.chat import Chat, Turn, TurnState
from app.chats.text import valid_unicode
from app.engine.types import Overflow, Role, Usage
from app.storage.database import IN_MEMORY, move_aside, open_database, transaction
from app.storage.errors import DatabaseDamagedError, StorageError

T = TypeVar("T")

INTERRUPTED = "Skein ended while this was being written."


@dataclass(frozen=True, slots=True)
class ChatChange:
    """What has to be written of one chat: itself and its turns from `first_turn` on."""

    chat: Chat  # a copy without turns
    draft: str
    first_turn: int
    turns: tuple[Turn, ...]  # copies

    @classmethod
    def of(cls, chat: Chat, draft: str, first_turn: int = 0) -> Self:
        turns = tuple(replace(turn) for turn in chat.turns[first_turn:])
        return cls(replace(chat, turns=[]), draft, first_turn, turns)


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


@dataclass(frozen=True, slots=True)
class SavedChat:
    chat: Chat
    draft: str


@dataclass(frozen=True, slots=True)
class SavedWorkspace:
    tabs: Tabs = field(default_factory=Tabs)
    chats: dict[str, SavedChat] = field(default_factory=dict)  # of every open and closed tab


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
        return await self._call(self._load)

    async def save(self, changes: Sequence[ChatChange], tabs: Tabs | None = None) -> None:
        """Writes all of it or, with a StorageError, nothing. Chats without turns, title and draft go."""
        await self._call(self._save, tuple(changes), tabs)

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
        self._write(_mark_interrupted)
        return notice

    def _load(self) -> SavedWorkspace:
        assert self._connection
        try:
            return _load_workspace(self._connection)
        except (sqlite3.Error, ValueError) as error:
            raise StorageError(f"The chats could not be read: {error}. They stay on disk.") from error

    def _save(self, changes: tuple[ChatChange, ...], tabs: Tabs | None) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for change in changes:
                _write_chat(connection, change)
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


_UPSERT_CHAT = """
    INSERT INTO chats (id, title, system_prompt, draft, overflow, max_context_tokens, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET title = excluded.title, system_prompt = excluded.system_prompt,
        draft = excluded.draft, overflow = excluded.overflow,
        max_context_tokens = excluded.max_context_tokens, updated_at = excluded.updated_at
"""
_UPSERT_TURN = """
    INSERT INTO turns (id, chat_id, position, role, text, state, notice, model, usage, overflowed, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET text = excluded.text, state = excluded.state, notice = excluded.notice,
        model = excluded.model, usage = excluded.usage, overflowed = excluded.overflowed
"""
_DELETE_BLANK_CHATS = """
    DELETE FROM chats WHERE title = '' AND draft = '' AND id NOT IN (SELECT chat_id FROM turns)
"""
# A tab whose chat is not kept is not kept either.
_INSERT_OPEN_TAB = "INSERT INTO open_tabs SELECT ?, id, ? FROM chats WHERE id = ?"
_INSERT_CLOSED_TAB = "INSERT INTO closed_tabs SELECT ?, id, ? FROM chats WHERE id = ?"


def _mark_interrupted(connection: sqlite3.Connection) -> None:
    """Nothing can be streaming yet: what says so was cut off by the end of an earlier run."""
    connection.execute(
        "UPDATE turns SET state = ?, notice = ? WHERE state = ?",
        (TurnState.STOPPED, INTERRUPTED, TurnState.STREAMING),
    )


def _write_chat(connection: sqlite3.Connection, change: ChatChange) -> None:
    chat = change.chat
    draft = change.draft if change.draft.strip() else ""
    words = (chat.id, chat.title, chat.system_prompt, draft)
    limits = (chat.overflow, chat.max_context_tokens)
    connection.execute(_UPSERT_CHAT, _storable((*words, *limits, chat.created_at, time.time())))
    for position, turn in enumerate(change.turns, start=change.first_turn):
        connection.execute(_UPSERT_TURN, _storable(_turn_row(chat.id, position, turn)))


def _turn_row(chat_id: str, position: int, turn: Turn) -> tuple[object, ...]:
    usage = json.dumps(asdict(turn.usage))
    state = (turn.text, turn.state, turn.notice, turn.model, usage, turn.overflowed)
    return (turn.id, chat_id, position, turn.role, *state, turn.created_at)


def _storable(row: Iterable[object]) -> tuple[Any, ...]:
    return tuple(valid_unicode(str(value)) if isinstance(value, str) else value for value in row)


def _write_tabs(connection: sqlite3.Connection, tabs: Tabs) -> None:
    connection.execute("DELETE FROM open_tabs")
    connection.execute("DELETE FROM closed_tabs")
    for position, chat_id in enumerate(tabs.open):
        connection.execute(_INSERT_OPEN_TAB, (position, chat_id == tabs.current, chat_id))
    for position, tab in enumerate(tabs.closed):
        connection.execute(_INSERT_CLOSED_TAB, (position, tab.index, tab.chat_id))


def _load_workspace(connection: sqlite3.Connection) -> SavedWorkspace:
    opened = connection.execute("SELECT chat_id, is_current FROM open_tabs ORDER BY position").fetchall()
    closed = connection.execute("SELECT chat_id, tab_index FROM closed_tabs ORDER BY position").fetchall()
    tabs = Tabs(
        open=tuple(chat_id for chat_id, _ in opened),
        current=next((chat_id for chat_id, is_current in opened if is_current), None),
        closed=tuple(ClosedTab(chat_id, index) for chat_id, index in closed),
    )
    wanted = [*tabs.open, *(tab.chat_id for tab in tabs.closed)]
    return SavedWorkspace(tabs, {chat_id: _load_chat(connection, chat_id) for chat_id in wanted})


def _load_chat(connection: sqlite3.Connection, chat_id: str) -> SavedChat:
    title, system_prompt, draft, overflow, max_context_tokens, created_at = connection.execute(
        "SELECT title, system_prompt, draft, overflow, max_context_tokens, created_at "
        "FROM chats WHERE id = ?",
        (chat_id,),
    ).fetchone()
    rows = connection.execute(
        "SELECT role, text, state, notice, model, usage, id, created_at, overflowed FROM turns "
        "WHERE chat_id = ? ORDER BY position",
        (chat_id,),
    )
    turns = [
        Turn(Role(role), text, TurnState(state), notice, model, _load_usage(usage), turn_id, at, bool(full))
        for role, text, state, notice, model, usage, turn_id, at, full in rows
    ]
    limits = (Overflow(overflow), max_context_tokens)
    return SavedChat(Chat(chat_id, title, system_prompt, turns, created_at, *limits), draft)


def _load_usage(text: str) -> Usage:
    """A later version may know other figures."""
    known = {known_field.name for known_field in fields(Usage)}
    return Usage(**{name: value for name, value in json.loads(text).items() if name in known})


def _why_not_saved(error: sqlite3.Error, path: Path) -> str:
    if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
        return f"Chats are not being saved: the disk with {path.parent} is full. Free some space."
    return f"Chats are not being saved: {error} ({path}). Check that the folder can be written to."
