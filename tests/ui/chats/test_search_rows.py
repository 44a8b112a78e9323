from datetime import UTC, datetime

import pytest

from app.look import marks
from app.storage.list_rows import ChatSummary
from app.storage.search import FOUND_END, FOUND_START, SearchHit
from app.ui.chats.search_rows import (
    MAX_TITLES,
    FoundMessages,
    Heading,
    day_text,
    hit_rows,
    pieces_of,
    title_rows,
)


def chat(chat_id: str, title: str, at: float = 0) -> ChatSummary:
    return ChatSummary(chat_id, title, "", False, at, at, 1)


def found(rows: list[Heading | FoundMessages]) -> list[str]:
    return [row.text + ":" if isinstance(row, Heading) else row.plain_title for row in rows]


def test_titles_that_begin_with_the_words_come_first_then_the_newest() -> None:
    chats = [
        chat("1", "Kept caches", 9),
        chat("2", "Precached", 10),
        chat("3", "Cache, old", 1),
        chat("4", "Cache, new", 2),
        chat("5", "Sums"),
    ]
    assert found(title_rows("CACHE", chats, {})) == [
        "Chats:",
        "Cache, new",
        "Cache, old",
        "Kept caches",
        "Precached",
    ]


def test_all_words_are_wanted_in_any_order_and_marked() -> None:
    (_, row) = title_rows("kv cache", [chat("1", "The cache of KV"), chat("2", "KV only")], {})
    assert isinstance(row, FoundMessages)
    assert row.title == (("The ", False), ("cache", True), (" of ", False), ("KV", True))


def test_a_title_that_folding_makes_longer_is_found_and_not_marked() -> None:
    (_, row) = title_rows("strasse", [chat("1", "Die Straße")], {})
    assert isinstance(row, FoundMessages)
    assert row.title == (("Die Straße", False),)


def test_chinese_titles_are_found_by_two_characters() -> None:
    assert found(title_rows("缓存", [chat("1", "键值缓存是什么")], {}))[1] == "键值缓存是什么"


def test_there_is_room_left_for_messages() -> None:
    chats = [chat(str(number), f"cache {number}") for number in range(50)]
    assert len(title_rows("cache", chats, {})) == MAX_TITLES + 1


def test_without_words_the_open_chats_are_listed_as_their_tabs_stand_then_the_newest() -> None:
    chats = [chat("1", "One", 1), chat("2", "Two", 2), chat("3", "Three", 3), chat("4", "Four", 4)]
    rows = title_rows(" ", chats, {"3": marks.IDLE, "1": marks.UNREAD})
    assert found(rows) == ["Open chats:", "Three", "One", "Other chats:", "Four", "Two"]
    assert [row.mark for row in rows if isinstance(row, FoundMessages)] == [
        marks.IDLE,
        marks.UNREAD,
        None,
        None,
    ]


def test_a_message_shows_its_chat_and_the_words_in_what_was_said() -> None:
    snippet = f"…the {FOUND_START}KV cache{FOUND_END}\nof a\x1b chat"
    (heading, row) = hit_rows([SearchHit("1", "t", "Sums", snippet, 7.0)], {"1": marks.COMPUTING})
    assert heading == Heading("Messages")
    assert row == FoundMessages(
        "1",
        (("Sums", False),),
        7.0,
        "t",
        (("…the ", False), ("KV cache", True), (" of a chat", False)),
        marks.COMPUTING,
    )


@pytest.mark.parametrize(
    ("snippet", "pieces"),
    [
        ("", ()),
        ("plain", (("plain", False),)),
        (f"{FOUND_START}all{FOUND_END}", (("all", True),)),
        (f"a {FOUND_START}never ends", (("a ", False), ("never ends", True))),
    ],
)
def test_a_snippet_is_taken_apart_at_its_marks(snippet: str, pieces: tuple[tuple[str, bool], ...]) -> None:
    assert pieces_of(snippet) == pieces


def test_of_today_the_time_is_shown_and_else_the_day() -> None:
    now = datetime(2026, 11, 21, 15, 30, tzinfo=UTC).timestamp()
    assert ":" in day_text(now - 60, now)
    assert "26" in day_text(now - 3 * 86_400, now)
    assert ":" not in day_text(now - 3 * 86_400, now)
