"""Finds the messages of a chat in which most of the words asked for are. Any thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing

from app.chats.chat import Turn
from app.protocol.request import Role
from app.shelves.passages import indexed, passages, query_words

_SPEAKERS = {Role.USER: "User", Role.ASSISTANT: "Assistant"}


def recalled(turns: Iterable[Turn], query: str, limit: int) -> list[str]:
    """Passages of the messages, the best first, each with who said it in which message, counted from one."""
    found = list(_passages(turns))
    words = query_words(query)
    if not words:
        return []
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE found USING fts5 (words)")
        rows = ((number, indexed(text)) for number, (_who, text) in enumerate(found))
        connection.executemany("INSERT INTO found (rowid, words) VALUES (?, ?)", rows)
        best = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY bm25(found), rowid LIMIT ?"
        numbers = [number for (number,) in connection.execute(best, (" OR ".join(words), limit))]
    return [f"{who}: {text.strip()}" for who, text in (found[number] for number in numbers)]


def _passages(turns: Iterable[Turn]) -> Iterator[tuple[str, str]]:
    for number, turn in enumerate(turns, start=1):
        said = turn.split.answer if turn.role is Role.ASSISTANT else turn.message_text
        results = (use.result for round_ in turn.rounds for use in round_.uses)
        for text in filter(None, (said, *results)):
            for start, end in passages(text):
                yield f"{_SPEAKERS.get(turn.role, turn.role)}, message {number}", text[start:end]
