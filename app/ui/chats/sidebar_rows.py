"""The rows of the sidebar: headings, grouping and order. Pure functions."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum, auto
from math import inf
from typing import NamedTuple

from PySide6.QtCore import QDate

from app.look.words import locale, tr
from app.storage.list_rows import ChatSummary
from app.ui.base.chat_title import shown_title

RECENT_DAYS = 7


class RowKind(IntEnum):
    HEADING = auto()
    FOLDER = auto()
    CHAT = auto()


class SidebarRow(NamedTuple):
    """A tuple, because 10,000 of them are created and compared whenever a chat changes."""

    kind: RowKind
    text: str  # heading, folder's name, or title
    chat_id: str = ""
    folder: str = ""  # the folder it is, or is in
    is_pinned: bool = False
    is_open: bool = False  # a folder whose chats are listed
    num_chats: int = 0  # in the folder

    @property
    def key(self) -> tuple[RowKind, str]:
        """Identifies a row that moves or is renamed."""
        return self.kind, self.chat_id or self.text


def local_today() -> date:
    return datetime.now(tz=UTC).astimezone().date()


def rows_of(
    chats: Iterable[ChatSummary],
    folders: Sequence[str],
    today: date,
    wanted: str = "",
    closed: Collection[str] = (),
) -> list[SidebarRow]:
    """Pinned chats, folders, then the rest by age. With `wanted`, only titles that contain it."""
    words = wanted.casefold().split()
    found = [(shown_title(chat.title), chat) for chat in chats]
    if words:
        found = [(title, chat) for title, chat in found if _has_all(f"{title} {chat.folder}", words)]
    found.sort(key=lambda each: each[1].updated_at, reverse=True)
    pinned = [each for each in found if each[1].is_pinned]
    rest = [each for each in found if not each[1].is_pinned]
    return [
        *_section(tr("Pinned"), pinned),
        *_folder_rows(rest, folders, () if words else closed, hides_empty=bool(words)),
        *_rows_by_age([each for each in rest if each[1].folder not in folders], today),
    ]


def _has_all(title: str, words: Iterable[str]) -> bool:
    folded = title.casefold()
    return all(word in folded for word in words)


def _folder_rows(
    found: Sequence[tuple[str, ChatSummary]],
    folders: Sequence[str],
    closed: Collection[str],
    hides_empty: bool,
) -> list[SidebarRow]:
    inside: dict[str, list[tuple[str, ChatSummary]]] = {folder: [] for folder in folders}
    for title, chat in found:
        if chat.folder in inside:
            inside[chat.folder].append((title, chat))
    rows: list[SidebarRow] = []
    for folder, chats in inside.items():
        if hides_empty and not chats:
            continue
        is_open = folder not in closed
        rows.append(SidebarRow(RowKind.FOLDER, folder, folder=folder, is_open=is_open, num_chats=len(chats)))
        rows += [_chat_row(title, chat) for title, chat in chats] if is_open else []
    return [SidebarRow(RowKind.HEADING, tr("Folders")), *rows] if rows else []


def _rows_by_age(found: Sequence[tuple[str, ChatSummary]], today: date) -> list[SidebarRow]:
    midnight = datetime.combine(today, datetime.min.time()).timestamp()
    yesterday = datetime.combine(today - timedelta(days=1), datetime.min.time()).timestamp()
    recent = datetime.combine(today - timedelta(days=RECENT_DAYS), datetime.min.time()).timestamp()
    ages = (
        (tr("Today"), [each for each in found if each[1].updated_at >= midnight]),
        (tr("Yesterday"), [each for each in found if yesterday <= each[1].updated_at < midnight]),
        (tr("Previous 7 days"), [each for each in found if recent <= each[1].updated_at < yesterday]),
    )
    rows = [row for heading, chats in ages for row in _section(heading, chats)]
    month_start = inf
    for title, chat in found:
        if chat.updated_at >= recent:
            continue
        if chat.updated_at < month_start:
            first = datetime.fromtimestamp(chat.updated_at, tz=UTC).astimezone().replace(day=1)
            month_start = datetime.combine(first.date(), datetime.min.time()).timestamp()
            rows.append(SidebarRow(RowKind.HEADING, month_name(first.year, first.month)))
        rows.append(_chat_row(title, chat))
    return rows


def _section(heading: str, found: Sequence[tuple[str, ChatSummary]]) -> list[SidebarRow]:
    return [SidebarRow(RowKind.HEADING, heading), *(_chat_row(*each) for each in found)] if found else []


def _chat_row(title: str, chat: ChatSummary) -> SidebarRow:
    return SidebarRow(RowKind.CHAT, title, chat.id, chat.folder, chat.is_pinned)


def month_name(year: int, month: int) -> str:
    """In the user's language: "November 2026"."""
    name = locale().toString(QDate(year, month, 1), tr("MMMM yyyy"))
    return name[:1].upper() + name[1:]
