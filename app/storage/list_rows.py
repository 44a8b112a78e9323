"""The lists of chats in the database: all of them, their folders, the open tabs. The storage thread only."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.chats.attachment import valid_unicode
from app.chats.project import Project, as_json, project_of
from app.storage.chat_rows import ChatChange, SavedChat, read_chats, write_chat
from app.storage.errors import StorageError
from app.storage.media_rows import delete_unused, referred_to


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


TRASH_DAYS = 30  # that deleted chats are kept


def read_summaries(connection: sqlite3.Connection, is_deleted: bool = False) -> tuple[ChatSummary, ...]:
    """The chats, or the trash: the most recently written or deleted ones first."""
    rows = connection.execute(
        "SELECT id, CASE title WHEN '' THEN auto_title ELSE title END, folder, is_pinned, created_at, "
        "updated_at, (SELECT count(*) FROM turns WHERE chat_id = chats.id) FROM chats "
        f"WHERE (deleted_at IS NOT NULL) = {is_deleted:d} ORDER BY deleted_at DESC, updated_at DESC"
    )
    return tuple(
        ChatSummary(chat_id, title, folder, bool(is_pinned), created_at, updated_at, num_turns)
        for chat_id, title, folder, is_pinned, created_at, updated_at, num_turns in rows
    )


def read_folders(connection: sqlite3.Connection) -> tuple[str, ...]:
    """A folder that only a chat or a project refers to comes last, so that none is hidden."""
    known = [name for (name,) in connection.execute("SELECT name FROM folders ORDER BY position")]
    named = connection.execute(
        "SELECT folder FROM chats WHERE folder <> '' AND deleted_at IS NULL UNION SELECT folder FROM projects"
    )
    return (*known, *sorted({name for (name,) in named} - set(known)))


def write_folders(connection: sqlite3.Connection, names: tuple[str, ...]) -> None:
    connection.execute("DELETE FROM folders")
    connection.executemany("INSERT INTO folders VALUES (?, ?)", [(name, i) for i, name in enumerate(names)])


def read_projects(connection: sqlite3.Connection) -> tuple[Project, ...]:
    rows = connection.execute("SELECT folder, project FROM projects ORDER BY rowid")
    return tuple(project_of(*row) for row in rows)


def write_project(connection: sqlite3.Connection, folder: str, project: Project | None) -> None:
    """In the place of that of `folder`, if that is one. None: it is none any more."""
    connection.execute("DELETE FROM projects WHERE folder = ?", (folder,))
    if project:
        row = (valid_unicode(project.folder), as_json(project))
        connection.execute("INSERT OR REPLACE INTO projects VALUES (?, ?)", row)


def import_chats(connection: sqlite3.Connection, changes: tuple[ChatChange, ...]) -> None:
    """Never replaces an existing chat, except one that was deleted in this run."""
    ids = [(change.chat.id,) for change in changes]
    connection.executemany("DELETE FROM chats WHERE id = ? AND deleted_at IS NOT NULL", ids)
    for (chat_id,) in ids:
        if connection.execute("SELECT 1 FROM chats WHERE id = ?", (chat_id,)).fetchone():
            raise StorageError("Nothing was imported: a chat of it came in meanwhile. Import the file again.")
    folders = dict.fromkeys(change.chat.folder for change in changes if change.chat.folder)
    connection.executemany(
        "INSERT INTO folders SELECT ?, (SELECT count(*) FROM folders) "
        "WHERE NOT EXISTS (SELECT 1 FROM folders WHERE name = ?)",
        [(name, name) for name in folders],
    )
    for change in changes:
        write_chat(connection, change)


def update_chat(connection: sqlite3.Connection, chat_id: str, columns: dict[str, Any]) -> None:
    for name, value in columns.items():
        connection.execute(f"UPDATE chats SET {name} = ? WHERE id = ?", (value, chat_id))


def purge(connection: sqlite3.Connection, chat_ids: Sequence[str]) -> None:
    for chat_id in chat_ids:
        where, its = "chats.id = ? AND deleted_at IS NOT NULL", (chat_id,)
        media = referred_to(connection, where, its)
        connection.execute(
            "DELETE FROM turns_found WHERE rowid IN "
            f"(SELECT number FROM turns JOIN chats ON chats.id = chat_id WHERE {where})",
            its,
        )
        connection.execute(f"DELETE FROM chats WHERE {where}", its)
        delete_unused(connection, media)


def set_deleted(connection: sqlite3.Connection, chat_ids: Sequence[str], at: float | None) -> None:
    connection.executemany("UPDATE chats SET deleted_at = ? WHERE id = ?", [(at, one) for one in chat_ids])


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
    drafts: dict[tuple[str, str], str] = field(default_factory=dict)  # by chat id or "", and field


# A tab without a saved chat is not saved.
_INSERT_OPEN_TAB = """
    INSERT INTO open_tabs (position, chat_id, is_current, is_pinned, shown_at)
        SELECT ?, id, ?, ?, ? FROM chats WHERE id = ?
"""
_INSERT_CLOSED_TAB = "INSERT INTO closed_tabs SELECT ?, id, ? FROM chats WHERE id = ?"


def write_tabs(connection: sqlite3.Connection, tabs: Tabs) -> None:
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


def read_workspace(connection: sqlite3.Connection) -> SavedWorkspace:
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
    drafts = connection.execute("SELECT owner, field, text FROM drafts")
    return SavedWorkspace(tabs, chats, {(owner, name): text for owner, name, text in drafts})


def write_drafts(connection: sqlite3.Connection, drafts: Mapping[tuple[str, str], str]) -> None:
    """An empty one is deleted."""
    rows = [(*key, valid_unicode(text)) for key, text in drafts.items() if text]
    connection.executemany("DELETE FROM drafts WHERE owner = ? AND field = ?", drafts)
    connection.executemany("INSERT INTO drafts VALUES (?, ?, ?)", rows)
