"""Finds the messages of a chat in which most of the words asked for are. Any thread."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Container, Iterable, Sequence
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
MAX_PARTICLE_CHARS = 2
STEM_CHARS = 5  # of a word are compared: "settle" finds "settled", in most languages
# They tell nothing of what is asked for, though a short chat may have them once. Other languages do with
# what is rare in the chat.
_COMMON = frozenset(
    listed_words(
        """
        about after again all also and any are been before but can could did does doing done each either
        else even every for from get give given gives going good had has have her here him his how into
        its just kind know like line little long lot made make makes many may mean might more most
        much must name named need new not now off okay one only other our out over own please put really
        right said same say says see she should show some sorry still such sure take tell than thank
        thanks that the their them then there these they thing things think this those through time today
        told too try two under until use used using very want was way well were what when where which
        while who whom whose why will with without would write written yes yet you your
        """
    )
)
_SPEAKERS = {Role.USER: "User", Role.ASSISTANT: "Assistant"}


class Said(NamedTuple):
    place: str  # who said it in which message, counted from one
    text: str
    asked: str = ""  # to which it is the answer


def said_in(turns: Iterable[Turn]) -> list[Said]:
    """Passages of all messages, in their order. What the user has only asked is found by its answer."""
    found, asked = list[Said](), ""
    for number, turn in enumerate(turns, start=1):
        place = f"{_SPEAKERS.get(turn.role, turn.role)}, message {number}"
        own = (one for one in turn.attachments if one.kind not in IS_FOUND)
        if turn.role is Role.USER:
            asked = turn.text
            said = with_attachments("" if asked.rstrip().endswith(("?", "？")) else asked, own)
        else:
            said = turn.split.answer
        results = (use.result for round_ in turn.rounds for use in round_.uses)
        for text in filter(None, (said, *results)):
            about = asked if text is said and turn.role is Role.ASSISTANT else ""
            for start, end in passages(text):
                found.append(Said(place, text[start:end].strip(), about))
                about = ""  # the first passage answers
    return found


def recalled(known: Sequence[Said], query: str, limit: int) -> list[Said]:
    """The passages that a search for `query` finds, the best first."""
    return [known[index] for index in islice(_ranked(_stems_of(known), _stems(query)), limit)]


def recalled_for(
    known: Sequence[Said], text: str, limit: int, without: Container[str] = ()
) -> tuple[Attachment, ...]:
    """What goes with a message: the passages that have the words by which it differs, in their order.

    `without` these texts: the model has them, or the user does not want them.
    """
    stems = _stems_of(known)
    num_with = Counter(stem for each in stems for stem in each)
    most = max(MIN_COMMON, len(known) // MAX_COMMON)
    rare = {stem: None for stem in _stems(text) if 0 < num_with[stem] <= most}
    least = min(MIN_WORDS, (len(rare) + 1) // 2)
    found = (
        index
        for index in _ranked(stems, rare)
        if len(stems[index].keys() & rare) >= least and known[index].text not in without
    )
    best = (known[index] for index in sorted(islice(found, limit)))
    return tuple(Attachment(one.place, one.text, RECALLED) for one in best)


def _stems_of(known: Sequence[Said]) -> list[dict[str, None]]:
    return [_stems(f"{one.text} {one.asked}") for one in known]


def _stems(text: str) -> dict[str, None]:
    """Each once, in their order."""
    return dict.fromkeys(
        word[:STEM_CHARS] for word in listed_words(text) if word not in _COMMON and not _is_particle(word)
    )


def _is_particle(word: str) -> bool:
    """One or two letters of an alphabet: no noun, in most languages. In other scripts they are a word."""
    return len(word) <= MAX_PARTICLE_CHARS and word.isascii() and word.isalpha()


def _ranked(stems: Sequence[Iterable[str]], wanted: Iterable[str]) -> list[int]:
    """Indices of those that have any of them, the best first."""
    query = " OR ".join(f'"{stem}"' for stem in islice(wanted, MAX_QUERY_WORDS))
    if not query:
        return []
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE found USING fts5 (stems)")
        rows = ((index, " ".join(each)) for index, each in enumerate(stems))
        connection.executemany("INSERT INTO found (rowid, stems) VALUES (?, ?)", rows)
        best = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY bm25(found), rowid"
        return [index for (index,) in connection.execute(best, (query,))]
