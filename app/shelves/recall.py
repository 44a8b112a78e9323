"""Finds the messages of a chat in which most of the words asked for are. Any thread."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import islice
from typing import NamedTuple

from app.chats.attachment import IS_FOUND, RECALLED, Attachment, with_attachments
from app.chats.chat import Turn
from app.protocol.request import Role
from app.shelves.passages import MAX_QUERY_WORDS, listed_words, passages

MAX_RECALLED = 3  # passages that come with one message
MAX_COMMON = 4  # a word in more than one of so many passages says nothing of what is asked for
MIN_COMMON = 2  # passages that any word may be in
MIN_WORDS = 2  # of the question's that a passage has; one where no more than two are to be found
STEM_CHARS = 5  # of a word are compared: "settle" finds "settled", in most languages
_SPEAKERS = {Role.USER: "User", Role.ASSISTANT: "Assistant"}


class Said(NamedTuple):
    place: str  # who said it in which message, counted from one
    text: str


def said_in(turns: Iterable[Turn]) -> list[Said]:
    """Passages of all messages, in their order."""
    found = []
    for number, turn in enumerate(turns, start=1):
        place = f"{_SPEAKERS.get(turn.role, turn.role)}, message {number}"
        own = (one for one in turn.attachments if one.kind not in IS_FOUND)
        said = turn.split.answer if turn.role is Role.ASSISTANT else with_attachments(turn.text, own)
        results = (use.result for round_ in turn.rounds for use in round_.uses)
        for text in filter(None, (said, *results)):
            found += [Said(place, text[start:end].strip()) for start, end in passages(text)]
    return found


def recalled(known: Sequence[Said], query: str, limit: int) -> list[Said]:
    """The passages that a search for `query` finds, the best first."""
    best = _ranked([_stems(one.text) for one in known], _stems(query), limit)
    return [known[index] for index in best]


def recalled_for(known: Sequence[Said], text: str, limit: int) -> tuple[Attachment, ...]:
    """What goes with a message: the passages that have the words by which it differs, in their order."""
    stems = [_stems(one.text) for one in known]
    num_with = Counter(stem for each in stems for stem in each)
    most = max(MIN_COMMON, len(known) // MAX_COMMON)
    rare = {stem: None for stem in _stems(text) if 0 < num_with[stem] <= most}
    least = min(MIN_WORDS, (len(rare) + 1) // 2)
    found = (index for index in _ranked(stems, rare, limit) if len(stems[index].keys() & rare) >= least)
    return tuple(Attachment(*known[index], RECALLED) for index in sorted(found))


def _stems(text: str) -> dict[str, None]:
    """Each once, in their order."""
    return dict.fromkeys(word[:STEM_CHARS] for word in listed_words(text))


def _ranked(stems: Sequence[Iterable[str]], wanted: Iterable[str], limit: int) -> list[int]:
    """Indices of those that have any of them, the best first."""
    query = " OR ".join(f'"{stem}"' for stem in islice(wanted, MAX_QUERY_WORDS))
    if not query:
        return []
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE found USING fts5 (stems)")
        rows = ((index, " ".join(each)) for index, each in enumerate(stems))
        connection.executemany("INSERT INTO found (rowid, stems) VALUES (?, ?)", rows)
        best = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY bm25(found), rowid LIMIT ?"
        return [index for (index,) in connection.execute(best, (query, limit))]
