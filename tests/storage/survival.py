"""What must be there after a power cut, a kill or a full disk: looks at what `recorded` has left behind."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from app.settings.settings import Settings
from app.storage.backups import Backups, verify
from app.storage.chat_store import ChatStore
from app.storage.database import damaged_turn_ids
from app.storage.errors import StorageError
from tests.storage.recorded import answer, chats_file, question, settings_file


@dataclass
class Found:
    """Of one folder."""

    notice: str = ""  # what the program says when it opens it
    problems: list[str] = field(default_factory=list)  # damage
    lost: list[str] = field(default_factory=list)  # what was called safe and is not there


def look(folder: Path, acknowledged: Iterable[str]) -> Found:
    """Starts the store on what is in `folder`, as the program would."""
    found = Found(notice=asyncio.run(_open(chats_file(folder))))
    texts = _texts(chats_file(folder), found)
    for word in acknowledged:
        kind, *numbers = word.split(":")
        if not _is_there(kind, [int(number) for number in numbers], texts, folder):
            found.lost.append(word)
    return found


async def _open(path: Path) -> str:
    store = ChatStore(path)
    try:
        notice = await store.open()
        await store.load()
    finally:
        await store.close()
    return notice


def _texts(path: Path, found: Found) -> dict[str, str]:
    """By turn id."""
    if not path.exists():
        return {}
    with closing(sqlite3.connect(path)) as connection:
        found.problems += [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        found.problems += damaged_turn_ids(connection)
        return dict(connection.execute("SELECT id, text FROM turns"))


def _is_there(kind: str, numbers: list[int], texts: dict[str, str], folder: Path) -> bool:
    if kind == "question":
        return texts.get(f"q{numbers[0]}") == question(numbers[0])
    if kind == "answer":
        number, num_parts = numbers
        return texts.get(f"a{number}", "").startswith(answer(number, num_parts))
    if kind == "settings":
        return Settings.load(settings_file(folder)).n_ctx >= numbers[0]
    return kind != "backup" or _has_good_backup(chats_file(folder))


def _has_good_backup(path: Path) -> bool:
    made = Backups(path).all()
    try:
        verify(made[0].path)
    except (IndexError, StorageError):
        return False
    return True
