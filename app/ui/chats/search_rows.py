"""The rows of the search: titles, best match first, then messages, newest first. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QDateTime, QLocale

from app.look.marks import Mark
from app.look.plain_text import one_line
from app.look.words import locale, tr
from app.storage.list_rows import ChatSummary
from app.storage.search import FOUND_END, FOUND_START, SearchHit
from app.ui.base.titles import shown_title

MAX_TITLES = 5  # above the messages
MAX_NEWEST = 8
MAX_OPEN = 1_000  # without words: every tab


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True)
class FoundMessages:
    """`pieces` are what is shown below the title: text, and whether it is what was looked for."""

    chat_id: str
    title: tuple[tuple[str, bool], ...]
    at: float  # seconds since the epoch
    turn_id: str = ""  # "": the chat itself
    pieces: tuple[tuple[str, bool], ...] = ()
    mark: Mark | None = None  # None: it is not open

    @property
    def plain_title(self) -> str:
        return "".join(text for text, _ in self.title)

    @property
    def excerpt(self) -> str:
        return "".join(text for text, _ in self.pieces)


def title_rows(
    words: str, chats: Sequence[ChatSummary], marks: Mapping[str, Mark]
) -> list[Heading | FoundMessages]:
    """Matches of titles or, without words, the open chats in tab order, then the newest others."""
    if not words.strip():
        return _open_and_newest(chats, marks)
    wanted = words.casefold().split()
    ranked = []
    for chat in chats:
        title = shown_title(chat.title)
        folded = title.casefold()
        if all(word in folded for word in wanted):
            ranked.append((_rank(folded, wanted), -chat.updated_at, title, chat))
    ranked.sort(key=lambda each: each[:2])
    found = [
        FoundMessages(chat.id, _marked(title, wanted), chat.updated_at, mark=marks.get(chat.id))
        for _, _, title, chat in ranked[:MAX_TITLES]
    ]
    return [Heading(tr("Chats")), *found] if found else []


def hit_rows(hits: Sequence[SearchHit], marks: Mapping[str, Mark]) -> list[Heading | FoundMessages]:
    found = [
        FoundMessages(
            hit.chat_id,
            ((shown_title(hit.title), False),),
            hit.created_at,
            hit.turn_id,
            pieces_of(hit.snippet),
            marks.get(hit.chat_id),
        )
        for hit in hits
    ]
    return [Heading(tr("Messages")), *found] if found else []


def pieces_of(snippet: str) -> tuple[tuple[str, bool], ...]:
    """Splits a snippet at the store's marks."""
    pieces: list[tuple[str, bool]] = []
    for number, part in enumerate(snippet.split(FOUND_START)):
        marked, _, plain = part.partition(FOUND_END) if number else ("", "", part)
        pieces += [(_flat(marked), True), (_flat(plain), False)]
    return tuple((text, is_marked) for text, is_marked in pieces if text)


def day_text(at: float, now: float) -> str:
    """The time if it was today, else the date, in the user's locale."""
    moment, today = QDateTime.fromSecsSinceEpoch(int(at)), QDateTime.fromSecsSinceEpoch(int(now)).date()
    if moment.date() == today:
        return locale().toString(moment.time(), QLocale.FormatType.ShortFormat)
    return locale().toString(moment.date(), QLocale.FormatType.ShortFormat)


def _flat(text: str) -> str:
    """One line, with the spaces at its ends: the next piece follows at once."""
    flat = one_line(text)
    before = " " if text[:1].isspace() and flat else ""
    after = " " if text[-1:].isspace() and flat else ""
    return f"{before}{flat}{after}" if flat else (" " if text else "")


def _open_and_newest(
    chats: Sequence[ChatSummary], marks: Mapping[str, Mark]
) -> list[Heading | FoundMessages]:
    by_id = {chat.id: chat for chat in chats}
    open_chats = [by_id[chat_id] for chat_id in marks if chat_id in by_id][:MAX_OPEN]
    others = sorted(
        (chat for chat in chats if chat.id not in marks), key=lambda chat: chat.updated_at, reverse=True
    )
    rows: list[Heading | FoundMessages] = []
    for heading, group in ((tr("Open chats"), open_chats), (tr("Other chats"), others[:MAX_NEWEST])):
        if group:
            rows.append(Heading(heading))
            rows += [
                FoundMessages(
                    chat.id, ((shown_title(chat.title), False),), chat.updated_at, mark=marks.get(chat.id)
                )
                for chat in group
            ]
    return rows


def _rank(title: str, words: Sequence[str]) -> int:
    """A title that begins with the words, then words that begin with them, then the rest."""
    if title.startswith(words[0]):
        return 0
    return 1 if any(each.startswith(words[0]) for each in title.split()) else 2


def _marked(title: str, words: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """The places of the words. Case folding may change a title's length: then nothing is marked."""
    folded = title.casefold()
    if len(folded) != len(title):
        return ((title, False),)
    is_marked = [False] * len(title)
    for word in words:
        start = folded.find(word)
        while start >= 0:
            is_marked[start : start + len(word)] = [True] * len(word)
            start = folded.find(word, start + len(word))
    pieces: list[tuple[str, bool]] = []
    for char, marked in zip(title, is_marked, strict=True):
        if pieces and pieces[-1][1] == marked:
            pieces[-1] = (pieces[-1][0] + char, marked)
        else:
            pieces.append((char, marked))
    return tuple(pieces)
