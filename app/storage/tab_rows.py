"""The open and closed tabs in the database. The storage thread only."""

import sqlite3
from dataclasses import dataclass, field

from app.storage.chat_rows import SavedChat, read_chats


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
    return SavedWorkspace(tabs, chats)
