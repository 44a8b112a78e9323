from datetime import UTC, date, datetime, timedelta

from app.storage.list_rows import ChatSummary
from app.ui.chats.sidebar_model import RowKind, SidebarRow, month_name, rows_of

TODAY = date(2026, 11, 21)


def at(days_ago: float) -> float:
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC).astimezone()
    return (noon - timedelta(days=days_ago)).timestamp()


def chat(chat_id: str, days_ago: float = 0, title: str = "", **values: object) -> ChatSummary:
    given = {"folder": "", "is_pinned": False} | values
    when = at(days_ago)
    return ChatSummary(chat_id, title or chat_id, created_at=when, updated_at=when, num_turns=1, **given)  # type: ignore[arg-type]


def drawn(rows: list[SidebarRow]) -> list[str]:
    """As a list on paper."""
    signs = {RowKind.HEADING: "{}:", RowKind.FOLDER: "[{}]", RowKind.CHAT: "{}"}
    return [signs[row.kind].format(row.text) for row in rows]


def test_chats_stand_under_their_age_the_newest_first() -> None:
    chats = [
        chat("b", 0.2),
        chat("a", 0.1),
        chat("yesterday", 1),
        chat("week", 7),
        chat("two weeks", 14),
        chat("october", 40),
        chat("last year", 400),
    ]
    assert drawn(rows_of(chats, (), TODAY)) == [
        "Today:",
        "a",
        "b",
        "Yesterday:",
        "yesterday",
        "Previous 7 days:",
        "week",
        "November 2026:",
        "two weeks",
        "October 2026:",
        "october",
        "October 2025:",
        "last year",
    ]


def test_pinned_ones_come_first_then_folders_with_theirs() -> None:
    chats = [
        chat("a"),
        chat("pinned", 40, is_pinned=True, folder="Work"),
        chat("w1", 3, folder="Work"),
        chat("w2", 2, folder="Work"),
        chat("lost", folder="a folder that is gone"),
    ]
    rows = rows_of(chats, ("Work", "Empty"), TODAY)
    assert drawn(rows) == [
        "Pinned:",
        "pinned",
        "Folders:",
        "[Work]",
        "w2",
        "w1",
        "[Empty]",
        "Today:",
        "a",
        "lost",
    ]
    assert [row.num_chats for row in rows if row.kind is RowKind.FOLDER] == [2, 0]


def test_a_closed_folder_lists_nothing() -> None:
    chats = [chat("w", folder="Work")]
    assert drawn(rows_of(chats, ("Work",), TODAY, closed={"Work"})) == ["Folders:", "[Work]"]


def test_the_filter_wants_all_words_in_title_or_folder_and_opens_folders() -> None:
    chats = [
        chat("1", title="Release notes", folder="Work"),
        chat("2", title="Notes on caches"),
        chat("3", title="Sums"),
    ]
    assert drawn(rows_of(chats, ("Work", "Empty"), TODAY, "NOTES", closed={"Work"})) == [
        "Folders:",
        "[Work]",
        "Release notes",
        "Today:",
        "Notes on caches",
    ]
    assert drawn(rows_of(chats, ("Work",), TODAY, "work release"))[-1] == "Release notes"
    assert rows_of(chats, ("Work",), TODAY, "nothing has this") == []


def test_a_title_from_outside_is_one_line() -> None:
    assert drawn(rows_of([chat("a", title="two\nlines\u202e")], (), TODAY)) == ["Today:", "two lines"]


def test_a_chat_without_a_title_is_called_new() -> None:
    unnamed = ChatSummary("a", "", "", False, at(0), at(0), 0)
    assert drawn(rows_of([unnamed], (), TODAY)) == ["Today:", "New chat"]


def test_a_month_begins_with_a_capital_in_any_language() -> None:
    assert month_name(2026, 3) == "March 2026"
