"""Full-text search in messages. The storage thread only; excerpts are pure functions.

A trigram index: it finds parts of words in any script, but nothing below three characters. Shorter words are
searched for in the texts themselves, newest first, until enough is found: a piece of them at a time.
"""

import json
import re
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product

from app.chats.titles import without_markup
from app.chats.tool_json import rounds_of
from app.protocol.request import Role
from app.storage.database import NO_ROUNDS

MIN_INDEXED_CHARS = 3
MAX_FOUND = 20_000  # characters of a tool's result
MAX_WORDS, MAX_WORD_CHARS = 16, 200  # of a search: each is looked for in all texts, and others wait meanwhile
PIECE_S = 0.02  # whoever needs the thread meanwhile waits about so long
FIRST_PIECE = 64  # texts
FOUND_START, FOUND_END = "\x02", "\x03"
_BEFORE, _AFTER = 40, 160  # characters of an excerpt around its first match
_PHRASE_OR_WORD = re.compile(r'"([^"]*)"?|([^\s"]+)')
_COLUMNS = (
    "turns.chat_id, turns.id, CASE title WHEN '' THEN auto_title ELSE title END, turns.text, turns.rounds, "
    "turns.created_at, turns.role"
)


# Bytes: a flipped bit may have made them no UTF-8, and Python would not get them then.
SEARCHED = (
    "CASE turns.rounds WHEN '[]' THEN turns.text "
    "ELSE searched(CAST(turns.text AS BLOB), CAST(turns.rounds AS BLOB)) END"
)

_CONTAINS = f"instr(lower({SEARCHED}), lower(?)) > 0"


@dataclass(frozen=True, slots=True)
class SearchHit:
    chat_id: str
    turn_id: str
    title: str
    snippet: str  # with the found words between FOUND_START and FOUND_END
    created_at: float


class Search:
    """For messages with all words of a text. Words in quotes must be adjacent.

    Beyond `limit`, messages written to the database last are found: that is indexed, the date is not.
    """

    def __init__(self, text: str, limit: int) -> None:
        self._words = words_of(text)
        self._indexed = [word for word in self._words if len(word) >= MIN_INDEXED_CHARS]
        self._short = [word for word in self._words if len(word) < MIN_INDEXED_CHARS]
        self._limit = limit
        self._below: int | None = None  # only texts with smaller numbers are still to be looked at
        self._piece = FIRST_PIECE
        self._hits: tuple[SearchHit, ...] = ()
        self.is_done = not self._words

    @property
    def hits(self) -> list[SearchHit]:
        """The newest first."""
        return sorted(self._hits, key=lambda hit: hit.created_at, reverse=True)

    def look_further(self, connection: sqlite3.Connection) -> None:
        """Through all texts where the index tells which; else through some."""
        began = time.perf_counter()
        below = self._below
        if below is None:
            (newest,) = connection.execute("SELECT max(number) FROM turns").fetchone()
            below = (newest or 0) + 1
        first = max(0, below - self._piece) if self._short else 0
        self._hits += tuple(self._found(connection, first, below))
        self._below = first
        self._piece = max(1, self._piece * 2 if time.perf_counter() - began < PIECE_S else self._piece // 2)
        self.is_done = first == 0 or len(self._hits) >= self._limit

    def _found(self, connection: sqlite3.Connection, first: int, below: int) -> list[SearchHit]:
        """In texts with these numbers."""
        # By rowid: SQLite would have to read all matches to sort them otherwise.
        source = (
            "turns_found CROSS JOIN turns ON turns.number = turns_found.rowid" if self._indexed else "turns"
        )
        number = "turns_found.rowid" if self._indexed else "turns.number"
        conditions = ["chats.deleted_at IS NULL", "turns.state <> 'streaming'", f"{number} BETWEEN ? AND ?"]
        conditions += ["turns_found MATCH ?"] if self._indexed else []
        forms = [_forms(word) for word in self._short]
        conditions += [f"({' OR '.join([_CONTAINS] * len(each))})" for each in forms]
        add_function(connection)
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM {source} CROSS JOIN chats ON chats.id = turns.chat_id "
            f"WHERE {' AND '.join(conditions)} ORDER BY {number} DESC LIMIT ?",
            (
                *(first, below - 1),
                *([_match(self._indexed)] if self._indexed else []),
                *(form for each in forms for form in each),
                self._limit - len(self._hits),
            ),
        )
        return [
            SearchHit(
                chat_id,
                turn_id,
                title,
                excerpt(searched(said, rounds), self._words, is_markdown=role != Role.USER),
                created_at,
            )
            for chat_id, turn_id, title, said, rounds, created_at, role in rows
        ]


def add_function(connection: sqlite3.Connection) -> None:
    """What SEARCHED calls."""

    def of_bytes(text: bytes, rounds: bytes) -> str:
        return searched(text.decode("utf-8", "replace"), rounds.decode("utf-8", "replace"))

    connection.create_function("searched", 2, of_bytes, deterministic=True)


def searched(text: str, rounds: str) -> str:
    """What is found of a message: its text, and its calls of tools with their results. `rounds` as stored."""
    if rounds == NO_ROUNDS:
        return text
    try:
        found = rounds_of(json.loads(rounds))
    except (ValueError, RecursionError):  # damaged
        return text
    parts = [text] if text else []
    for each in found:
        parts += [
            each.content,
            *(f"{use.tool} {use.arguments}\n{use.result[:MAX_FOUND]}" for use in each.uses),
        ]
    return "\n".join(filter(None, parts))


def words_of(text: str) -> list[str]:
    """Words, and phrases in double quotes. A quote is looked for where there is nothing else."""
    pairs = (found.groups("") for found in _PHRASE_OR_WORD.finditer(text))
    found = (phrase.strip() or word for phrase, word in pairs)
    words = [each[:MAX_WORD_CHARS] for each in islice(filter(None, found), MAX_WORDS)]
    return words or ['"'] * ('"' in text)


def excerpt(text: str, words: Sequence[str], *, is_markdown: bool = False) -> str:
    """The text around the first match, with all matches marked. Markdown loses its marks, if none matches."""
    pattern = re.compile(
        "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)), re.IGNORECASE
    )
    # Not by the pattern, which compares all words anew at each letter: 12 s for 2 MB of one letter.
    lowered = _lower(text)
    places = [(at, -len(word)) for word in words if (at := lowered.find(_lower(word))) >= 0]
    first, length = min(places, default=(0, 0))
    start = max(0, first - _BEFORE)
    end = min(len(text), first + max(_AFTER, -length))
    shown = text[start:end]
    if is_markdown and pattern.search(plain := without_markup(shown)):
        shown = plain
    marked = pattern.sub(lambda match: f"{FOUND_START}{match[0]}{FOUND_END}", shown)
    return f"{'…' if start else ''}{marked}{'…' if end < len(text) else ''}"


def _lower(text: str) -> str:
    """The same length as `text`: this is the only letter that becomes two."""
    return text.replace("İ", "i").lower()


def _forms(word: str) -> list[str]:
    """In small and capital letters: SQLite's `lower` knows those of ASCII alone."""
    letters = [{letter, letter.lower(), letter.upper()} if letter > "\x7f" else {letter} for letter in word]
    return ["".join(form) for form in product(*letters)]


def _match(words: Sequence[str]) -> str:
    """Each word as a quoted string of FTS5's query language."""
    return " ".join('"' + word.replace('"', '""') + '"' for word in words)
