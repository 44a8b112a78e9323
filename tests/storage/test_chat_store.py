import asyncio
import copy
import os
import sqlite3
import stat
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chats.attachment import Attachment
from app.chats.chat import Chat, QueuedMessage, Turn, TurnState
from app.chats.project import Fact, Project
from app.chats.summary import CUT_OFF, Summary
from app.protocol.output import Usage
from app.protocol.request import Overflow, Role
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import INTERRUPTED, ChatStore
from app.storage.database import migrations
from app.storage.errors import StorageError
from app.storage.list_rows import TRASH_DAYS, ClosedTab, SavedWorkspace, Tabs
from app.storage.search import FOUND_END, FOUND_START


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[ChatStore]:
    store = ChatStore(path)
    try:
        assert await store.open() == ""
        yield store
    finally:
        await store.close()


async def load(path: Path) -> SavedWorkspace:
    """With the turns of every chat."""
    async with opened(path) as store:
        return await load_from(store)


async def load_from(store: ChatStore) -> SavedWorkspace:
    saved = await store.load()
    for kept in saved.chats.values():
        turns = await store.load_turns(kept)
        kept.chat.turns, kept.chat.asides = turns.shown, turns.asides
    return saved


def sums() -> Chat:
    answer = Turn(Role.ASSISTANT, "34 + 21 = 55", model="starter", usage=Usage(3, num_generated_tokens=9))
    return Chat("sums", system_prompt="Be short.", turns=[Turn(Role.USER, "What is 34 + 21?"), answer])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "skein" / "chats.db"


async def test_a_chat_comes_back_as_it_was(path) -> None:
    chat = sums()
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, "half a thou")], Tabs(("sums",), "sums"))
    saved = await load(path)

    assert saved.chats["sums"].chat == chat
    assert saved.chats["sums"].draft == "half a thou"
    assert saved.tabs == Tabs(("sums",), "sums")


async def test_what_is_saved_without_the_loop_is_on_disk_behind_what_was_asked_for_before(path) -> None:
    chat = sums()
    async with opened(path) as store:
        before = asyncio.ensure_future(store.save([ChatChange.of(chat, "half")]))
        await asyncio.sleep(0)  # it is on its way
        store.save_and_wait([ChatChange.of(chat, "half a thou")])
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT draft FROM chats").fetchall() == [("half a thou",)]
        await before


async def test_a_change_of_a_chats_limits_comes_back(path) -> None:
    chat = sums()
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, "")], Tabs(("sums",)))
        chat.overflow, chat.max_context_tokens = Overflow.ROLLING_WINDOW, 2048
        chat.turns[1].overflowed = True
        await store.save([ChatChange.of(chat, "")])
    assert (await load(path)).chats["sums"].chat == chat


async def test_chats_of_the_first_schema_are_read_with_the_limits_of_a_new_chat(path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(migrations()[0])
        connection.execute("INSERT INTO chats VALUES ('sums', '', 'Be short.', 'half a thou', 1.5, 2.5)")
        for position, turn in enumerate((("u", "user", "2+2="), ("a", "assistant", "4"))):
            connection.execute(
                "INSERT INTO turns VALUES (?, 'sums', ?, ?, ?, 'done', '', 'starter', '{}', 3.5)",
                (turn[0], position, *turn[1:]),
            )
        connection.execute("INSERT INTO open_tabs VALUES (0, 'sums', 1)")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    saved = await load(path)

    turns = [
        Turn(Role.USER, "2+2=", model="starter", id="u", created_at=3.5),
        Turn(Role.ASSISTANT, "4", model="starter", id="a", created_at=3.5),
    ]
    chat = Chat("sums", "", "Be short.", turns, 1.5, Overflow.STOP, 0, auto_title="2+2=")
    assert saved.chats["sums"].chat == chat
    assert saved.tabs == Tabs(("sums",), "sums")
    async with opened(path) as store:
        chat.overflow = Overflow.TRUNCATE_MIDDLE
        await store.save([ChatChange.of(chat, "")])
    assert (await load(path)).chats["sums"].chat == chat


async def test_only_the_turns_given_are_written_and_the_others_stay(path) -> None:
    chat = sums()
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, "")], Tabs(("sums",)))
        chat.add(Turn(Role.USER, "and 1?"), Turn(Role.ASSISTANT, "", TurnState.STREAMING))
        await store.save([ChatChange.of(chat, "", turns=chat.turns[2:])])
        chat.turns[3].text, chat.turns[3].state = "56", TurnState.DONE
        await store.save([ChatChange.of(chat, "", turns=chat.turns[3:])])
    assert (await load(path)).chats["sums"].chat == chat


def test_a_change_is_a_copy() -> None:
    chat = sums()
    change = ChatChange.of(chat, "")
    chat.turns[1].text = "something else"
    chat.title = "something else"
    assert change.turns[1].text == "34 + 21 = 55"
    assert change.chat.title == ""


async def test_tab_order_current_and_the_reopen_stack_come_back(path) -> None:
    chats = [Chat(name, turns=[Turn(Role.USER, name)]) for name in "abcd"]
    tabs = Tabs(("c", "a"), "a", (ClosedTab("d", 2), ClosedTab("b", 0)))
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, "") for chat in chats], Tabs(("a", "b", "c", "d"), "b"))
        await store.save([], tabs)
    saved = await load(path)

    assert saved.tabs == tabs
    assert set(saved.chats) == {"a", "b", "c", "d"}


async def test_a_closed_chat_stays_in_the_database(path) -> None:
    async with opened(path) as store:
        await store.save([ChatChange.of(sums(), "")], Tabs(("sums",)))
        await store.save([], Tabs())
    assert (await load(path)).chats == {}
    assert rows(path, "SELECT text FROM turns ORDER BY number") == [
        ("What is 34 + 21?",),
        ("34 + 21 = 55",),
    ]


async def test_an_empty_never_used_chat_is_not_kept(path) -> None:
    async with opened(path) as store:
        blank, draft = Chat("blank"), Chat("draft")
        changes = [ChatChange.of(blank, " \n"), ChatChange.of(draft, "an idea"), ChatChange.of(sums(), "")]
        await store.save(changes, Tabs(("blank", "draft", "sums"), "blank", (ClosedTab("nobody", 3),)))
        saved = await store.load()
        assert saved.tabs == Tabs(("draft", "sums"), None)

        await store.save([ChatChange.of(draft, "")])
        assert (await store.load()).tabs.open == ("sums",)
    assert rows(path, "SELECT id FROM chats") == [("sums",)]


async def test_an_answer_cut_off_by_the_end_of_the_program_comes_back_as_stopped(path) -> None:
    chat = Chat("a", turns=[Turn(Role.USER, "count"), Turn(Role.ASSISTANT, "1 2 3", TurnState.STREAMING)])
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, "")], Tabs(("a",)))
        assert store.cut_off == ()
        await store.save([ChatChange.of(replace(chat, id="b", turns=[Turn(Role.ASSISTANT, "1")]))])
    async with opened(path) as store:
        assert store.cut_off == ("a",)
    async with opened(path) as store:
        assert store.cut_off == ()  # it is told once
    answer = (await load(path)).chats["a"].chat.turns[1]
    assert (answer.text, answer.state, answer.notice) == ("1 2 3", TurnState.STOPPED, INTERRUPTED)


async def test_a_summary_cut_off_by_the_end_of_the_program_is_none_and_all_turns_are_there(path) -> None:
    chat = Chat("a", turns=[Turn(Role.USER, "count"), Turn(Role.ASSISTANT, "1 2 3"), Turn(Role.USER, "on")])
    chat.turns[1].summary = Summary("- coun", is_growing=True)
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)], Tabs(("a",)))
    before = copy.deepcopy(chat)
    before.turns[1].summary = None
    assert (await load(path)).chats["a"].chat == before
    assert chat.turns[1].summary.is_growing  # it goes on, if the program does


async def test_summaries_come_back_whether_they_are_used_or_not(path) -> None:
    chat = Chat(
        "a", turns=[Turn(Role.USER, "count"), Turn(Role.ASSISTANT, "1 2 3"), Turn(Role.ASSISTANT, "4")]
    )
    chat.turns[1].summary = Summary("- counted", "", False, "starter", 3.5, 20, 1_000)
    chat.turns[2].summary = Summary("- count", CUT_OFF)
    chat.put_aside(2)
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)], Tabs(("a",)))
        assert (await load_from(store)).chats["a"].chat == chat
        chat.turns[1].summary = replace(chat.turns[1].summary, text="- by hand")
        await store.save([ChatChange.of(chat, turns=chat.turns[1:])])
        assert (await load_from(store)).chats["a"].chat == chat
        chat.turns[1].summary = None
        await store.save([ChatChange.of(chat, turns=chat.turns[1:])])
    assert (await load(path)).chats["a"].chat == chat


async def test_an_answer_cut_off_while_it_was_continued_is_found_with_all_it_has(path) -> None:
    chat = Chat("a", turns=[Turn(Role.USER, "count"), Turn(Role.ASSISTANT, "one two")])
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)], Tabs(("a",)))
        chat.turns[1].text, chat.turns[1].state = "one two three", TurnState.STREAMING
        await store.save([ChatChange.of(chat)])
    async with opened(path) as store:
        assert [hit.turn_id for hit in await store.search("two three")] == [chat.turns[1].id]


async def test_saves_are_done_in_the_order_they_were_asked_for(path) -> None:
    import asyncio

    async with opened(path) as store:
        await asyncio.gather(
            *(store.save([ChatChange.of(Chat("a", title=str(number)), "")]) for number in range(50))
        )
    assert rows(path, "SELECT title FROM chats") == [("49",)]


async def test_a_save_is_all_or_nothing(path) -> None:
    twice = Turn(Role.USER, "x")
    async with opened(path) as store:
        good, bad = sums(), Chat("bad", turns=[twice, Turn(Role.USER, "y", id="other")])
        await store.save([ChatChange.of(bad, "")])
        clash = ChatChange.of(Chat("bad", turns=[Turn("nobody", "said this")]))
        with pytest.raises(StorageError, match="CHECK"):
            await store.save([ChatChange.of(good, ""), clash], Tabs(("sums",)))
        assert (await store.load()).tabs == Tabs()
        await store.save([ChatChange.of(good, "")], Tabs(("sums",)))
        assert "sums" in (await store.load()).chats


async def test_text_no_database_can_encode_is_replaced(path) -> None:
    chat = Chat("a", title="\ud800", turns=[Turn(Role.USER, "x\udfffy\0z")])
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, "\ud83d")], Tabs(("a",)))
    kept = (await load(path)).chats["a"]
    assert (kept.chat.title, kept.chat.turns[0].text, kept.draft) == ("?", "x?y\0z", "?")


@settings(max_examples=40)
@given(texts=st.lists(st.text(), min_size=1, max_size=6), title=st.text(max_size=20))
def test_any_text_comes_back(texts, title) -> None:
    import asyncio
    import tempfile

    chat = Chat("a", title, turns=[Turn(Role.USER, text) for text in texts])

    async def round_trip(path: Path) -> Chat:
        async with opened(path) as store:
            await store.save([ChatChange.of(chat, "")], Tabs(("a",)))
            return (await load_from(store)).chats["a"].chat

    with tempfile.TemporaryDirectory() as folder:
        assert asyncio.run(round_trip(Path(folder) / "chats.db")) == chat


async def test_nobody_else_can_read_the_chats(path) -> None:
    former = os.umask(0)
    try:
        async with opened(path) as store:
            await store.save([ChatChange.of(sums(), "")])
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(former)
    assert modes == {"chats.db": 0o600, "chats.db-wal": 0o600, "chats.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def overwrite_header(path: Path) -> None:
    path.write_bytes(b"These are not the chats you are looking for. " * 100)


def overwrite_pages(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [overwrite_header, overwrite_pages, truncate, replace_by_folder])
async def test_a_damaged_database_is_kept_aside_and_a_new_one_started(
    path, damage: Callable[[Path], None]
) -> None:
    async with opened(path) as store:
        await store.save([ChatChange.of(sums(), "")], Tabs(("sums",)))
    damage(path)
    damaged = path.read_bytes() if path.is_file() else None

    store = ChatStore(path)
    notice = await store.open()
    (kept,) = path.parent.glob("chats.damaged-*.db")
    assert str(kept) in notice
    assert damaged is None or kept.read_bytes() == damaged
    assert (await store.load()).tabs == Tabs()
    await store.save([ChatChange.of(sums(), "")], Tabs(("sums",)))
    await store.close()
    assert "sums" in (await load(path)).chats


async def test_an_empty_file_is_a_new_database(path) -> None:
    path.parent.mkdir()
    path.touch()
    assert await load(path) == SavedWorkspace()


async def test_a_database_of_a_newer_skein_is_left_alone(path) -> None:
    async with opened(path) as store:
        await store.save([ChatChange.of(sums(), "")], Tabs(("sums",)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE of_a_later_skein (x)")
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()

    store = ChatStore(path)
    notice = await store.open()
    assert "newer version of Skein" in notice
    assert "lost when Skein quits" in notice
    await store.save([ChatChange.of(Chat("new", "new"), "")], Tabs(("new",)))
    assert (await store.load()).tabs.open == ("new",)
    await store.close()
    assert path.read_bytes() == before


async def test_without_a_place_on_disk_chats_are_kept_for_this_run(tmp_path) -> None:
    (tmp_path / "file").touch()
    store = ChatStore(tmp_path / "file" / "chats.db")
    notice = await store.open()
    assert str(tmp_path / "file") in notice
    await store.save([ChatChange.of(sums(), "")], Tabs(("sums",)))
    assert (await store.load()).tabs.open == ("sums",)
    await store.close()


async def test_a_full_disk_is_told_in_words_and_saving_can_go_on_later(path) -> None:
    async with opened(path) as store:
        connection = store._connection
        assert connection
        pages = await store._call(lambda: connection.execute("PRAGMA page_count").fetchone()[0])
        await store._call(lambda: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone())
        big = Chat("big", turns=[Turn(Role.USER, "x" * 100_000)])
        with pytest.raises(StorageError, match="full"):
            await store.save([ChatChange.of(big, "")], Tabs(("big",)))
        await store._call(lambda: connection.execute("PRAGMA max_page_count = 1000000").fetchone())
        await store.save([ChatChange.of(big, "")], Tabs(("big",)))
    assert (await load(path)).chats["big"].chat == big


async def test_commits_survive_a_power_cut(path) -> None:
    async with opened(path) as store:
        connection = store._connection
        assert connection

        def pragmas() -> list[object]:
            names = ("journal_mode", "synchronous", "foreign_keys")
            return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

        assert await store._call(pragmas) == ["wal", 2, 1]  # 2 is FULL


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        found = connection.execute(query).fetchall()
        connection.commit()
        return found
    finally:
        connection.close()


async def test_the_chat_and_its_settings_come_back(path) -> None:
    document = Attachment("notes.txt", "one\n```\ntwo", "text")
    chat = replace(
        sums(),
        auto_title="Sums",
        folder="Work",
        is_pinned=True,
        sampling={"temperature": 0.5},
        max_tokens=99,
        model_path="/m/starter.gguf",
        is_notebook=True,
        queue=[QueuedMessage("and then?", (document,))],
    )
    chat.turns[0].attachments = (document,)
    chat.turns[1].thinking_s = 4.2
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, "", (document,))], Tabs(("sums",)))
    saved = (await load(path)).chats["sums"]
    assert (saved.chat, saved.draft_attachments) == (chat, (document,))


async def test_all_versions_and_the_path_that_is_shown_come_back(path) -> None:
    chat = sums()
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)], Tabs(("sums",)))
        chat.put_aside(1)
        chat.add(Turn(Role.ASSISTANT, "It is 55."), Turn(Role.USER, "Thanks"))
        await store.save([ChatChange.of(chat, turns=chat.turns[1:])])
    saved = (await load(path)).chats["sums"].chat
    assert saved == chat
    saved.show_version(saved.versions_of(saved.turns[1])[0])
    assert [turn.text for turn in saved.turns] == ["What is 34 + 21?", "34 + 21 = 55"]

    async with opened(path) as store:
        await store.save([ChatChange.of(saved, turns=())])
    assert (await load(path)).chats["sums"].chat == saved


async def test_a_removed_turn_is_gone_and_what_followed_it_moves_up(path) -> None:
    chat = sums()
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)], Tabs(("sums",)))
        removed = chat.remove(chat.turns[0])
        gone = [turn.id for turn in removed.turns]
        await store.save([ChatChange.of(chat, turns=removed.moved_up, removed=gone)])
    assert (await load(path)).chats["sums"].chat == chat
    assert [turn.text for turn in chat.turns] == ["34 + 21 = 55"]


async def test_a_turn_whose_predecessor_is_lost_is_still_shown(path) -> None:
    chat = sums()
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, turns=chat.turns[1:])], Tabs(("sums",)))
    assert [turn.text for turn in (await load(path)).chats["sums"].chat.turns] == ["34 + 21 = 55"]


async def test_every_chat_is_in_the_list_whether_it_is_open_or_not(path) -> None:
    older = replace(sums(), auto_title="Sums")
    named = Chat("b", "Named", turns=[Turn(Role.USER, "x")], folder="Work", is_pinned=True)
    async with opened(path) as store:
        await store.save([ChatChange.of(older)])
        await store.save([ChatChange.of(named)])
        await store.save([ChatChange.of(older, "a draft makes no chat newer", turns=())])
        assert [
            (one.id, one.title, one.folder, one.is_pinned, one.num_turns) for one in await store.summaries()
        ] == [
            ("b", "Named", "Work", True, 1),
            ("sums", "Sums", "", False, 2),
        ]
        await store.place("sums", title="Adding", folder="Work")
        summary = next(one for one in await store.summaries() if one.id == "sums")
        assert (summary.title, summary.folder) == ("Adding", "Work")
        assert (await store.load_chat("sums")).chat.title == "Adding"
        assert await store.load_chat("nobody") is None


async def test_a_deleted_chat_is_in_the_trash_for_thirty_days(path) -> None:
    async with opened(path) as store:
        await store.save([ChatChange.of(sums())], Tabs(("sums",), "sums"))
        await store.delete(["sums"])
        assert await store.summaries() == ()
        assert await store.search("34") == ()
        assert (await store.load()).tabs.open == ()
        await store.undelete(["sums"])
        assert [one.id for one in await store.summaries()] == ["sums"]
        await store.delete(["sums"])
    almost = time.time() - (TRASH_DAYS * 24 - 1) * 3600
    rows(path, f"UPDATE chats SET deleted_at = {almost}")
    async with opened(path) as store:
        assert await store.summaries() == ()
        assert [one.id for one in await store.trash()] == ["sums"]
        await store.undelete(["sums"])
        assert await store.search("34") != ()
        await store.delete(["sums"])
    rows(path, f"UPDATE chats SET deleted_at = {almost - 2 * 3600}")
    async with opened(path) as store:
        assert await store.trash() == ()
    assert rows(path, "SELECT count(*) FROM chats") == rows(path, "SELECT count(*) FROM turns") == [(0,)]


async def test_only_what_is_in_the_trash_can_be_purged(path) -> None:
    async with opened(path) as store:
        await store.save([ChatChange.of(sums())], Tabs(("sums",), "sums"))
        await store.purge(["sums"])
        assert [one.id for one in await store.summaries()] == ["sums"]
        await store.delete(["sums"])
        await store.purge(["sums"])
        assert await store.trash() == ()
    assert rows(path, "SELECT count(*) FROM turns_found") == [(0,)]


async def test_folders_keep_their_order_and_one_with_a_chat_in_it_is_never_lost(path) -> None:
    async with opened(path) as store:
        await store.save_folders(["Work", "Home"])
        await store.save([ChatChange.of(replace(sums(), folder="Home"))])
        assert await store.folders() == ("Work", "Home")
        await store.save_folders(["Work"])
        assert await store.folders() == ("Work", "Home")
        await store.place("sums", folder="")
        assert await store.folders() == ("Work",)


async def test_a_project_is_saved_renamed_and_deleted(path) -> None:
    boat = Project("Boat", instructions="Be brief.", facts=(Fact("It is 9 m long.", chat_id="sums"),))
    house = Project("House")
    async with opened(path) as store:
        await store.save_project("Boat", boat)
        await store.save_project("House", house)
    async with opened(path) as store:
        assert await store.projects() == (boat, house)
        assert await store.folders() == ("Boat", "House"), "no project is hidden"
        ship = replace(boat, folder="Ship")
        await store.save_project("Boat", ship)
        assert await store.projects() == (house, ship)
        await store.save_project("House", None)
        backup = await store.back_up()
        await store.save_project("Ship", None)
        assert await store.projects() == ()
        await store.restore(backup)
        assert await store.projects() == (ship,)


async def test_a_damaged_project_does_not_hide_the_others(path) -> None:
    async with opened(path) as store:
        await store.save_project("Boat", Project("Boat"))
        await store.save_project("House", Project("House"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE projects SET project = CAST(X'7b22ff' AS TEXT) WHERE folder = 'Boat'")
    async with opened(path) as store:
        assert [one.folder for one in await store.projects()] == ["Boat", "House"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("34 +", ["34 + 21 = 55", "What is 34 + 21?"]),
        ("WHAT", ["What is 34 + 21?"]),
        ("21 55", ["34 + 21 = 55"]),
        ("hat i", ["What is 34 + 21?"]),
        ("上下", ["共享的上下文"]),
        ("上下文", ["共享的上下文"]),
        ("100%", []),
        ('"', []),
        ("", []),
    ],
)
async def test_search_finds_messages_by_parts_of_words_in_any_script(path, wanted, found) -> None:
    chat = sums()
    chat.add(Turn(Role.USER, "共享的上下文"), Turn(Role.ASSISTANT, "What", TurnState.STREAMING))
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)])
        hits = await store.search(wanted)
    texts = {turn.id: turn.text for turn in chat.turns}
    assert sorted(texts[hit.turn_id] for hit in hits) == sorted(found)
    assert all(FOUND_START in hit.snippet and FOUND_END in hit.snippet for hit in hits)


async def test_an_answer_is_found_when_it_is_done_and_as_it_is_then(path) -> None:
    chat = Chat("a", turns=[Turn(Role.USER, "say it"), Turn(Role.ASSISTANT, "elephant", TurnState.STREAMING)])
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)])
        assert await store.search("elephant") == ()
        chat.turns[1].text, chat.turns[1].state = "an elephant", TurnState.DONE
        await store.save([ChatChange.of(chat, turns=chat.turns[1:])])
        assert len(await store.search("elephant")) == 1
        chat.turns[1].text = "a mouse"
        await store.save([ChatChange.of(chat, turns=chat.turns[1:])])
        assert await store.search("elephant") == ()
        assert len(await store.search("mouse")) == 1


async def test_turns_that_have_grown_leave_their_chat_as_it_is(path) -> None:
    chat = sums()
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, "half a thou")], Tabs(("sums",)))
        chat.turns[1].text += "!"
        await store.save([ChatChange.of_turns(chat, chat.turns[1:])])
    kept = (await load(path)).chats["sums"]
    assert (kept.chat, kept.draft) == (chat, "half a thou")


async def test_the_end_of_a_chat_comes_without_the_rest(path) -> None:
    chat = Chat("long", turns=[Turn(Role.USER, str(number)) for number in range(50)])
    chat.put_aside(40)
    chat.add(Turn(Role.USER, "another"), Turn(Role.USER, "way"))
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)], Tabs(("long",)))
        saved = (await store.load()).chats["long"]
        assert await store.load_end(saved, 4) == chat.turns[-4:]
        assert await store.load_end(saved, 1_000) == chat.turns


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[[1]]", '[{"name": 1}]', "[3]"])
async def test_what_is_no_list_of_attachments_costs_neither_the_chat_nor_the_others(path, deep: str) -> None:
    chat = sums()
    async with opened(path) as store:
        await store.save([ChatChange.of(chat, "half")], Tabs(("sums",)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE chats SET queue = ?, draft_attachments = ?, sampling = ?", (deep,) * 3)
        connection.execute("UPDATE turns SET attachments = ?, usage = ?", (deep, deep))
        connection.commit()
    saved = await load(path)
    assert [turn.text for turn in saved.chats["sums"].chat.turns] == [turn.text for turn in chat.turns]
    assert saved.chats["sums"].draft == "half"


async def test_a_sampling_setting_of_an_earlier_version_is_ignored(path) -> None:
    chat = replace(sums(), sampling={"seed": 7, "repeatable": True})
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)], Tabs(("sums",)))
    assert (await load(path)).chats["sums"].chat.sampling == {"seed": 7}


async def test_an_answer_is_written_as_it_grows_and_ends_and_never_taken_back(path) -> None:
    asked = Turn(Role.USER, "count", id="q")
    chat = Chat("c", turns=[asked, Turn(Role.ASSISTANT, "", TurnState.STREAMING, id="a")])
    gone = Turn(Role.ASSISTANT, "of a chat that is not there", TurnState.STREAMING, id="gone")
    async with opened(path) as store:
        await store.save([ChatChange.of(chat)])
        answer = chat.turns[1]
        for text in ("1 2 3", "1 2"):
            answer.text = text
            store.write_answers([answer, gone])
        (saved,) = await store.summaries()
        assert await end_of(store, saved.id) == ("1 2 3", TurnState.STREAMING)
        answer.text, answer.state = "1 2 3 4", TurnState.DONE
        store.write_answers([answer])
        assert await end_of(store, saved.id) == ("1 2 3 4", TurnState.DONE)
        assert [hit.turn_id for hit in await store.search("2 3 4")] == ["a"]
        answer.text = "1 2 3 4 5"
        store.write_answers([answer])
        assert await end_of(store, saved.id) == ("1 2 3 4", TurnState.DONE)
    store.write_answers([answer])  # it is closed: nothing is written, and nothing fails


async def end_of(store: ChatStore, chat_id: str) -> tuple[str, TurnState]:
    saved = await store.load_chat(chat_id)
    assert saved
    turn = (await store.load_end(saved, 1))[-1]
    assert turn.notice == "", "its checksum is right"
    return turn.text, turn.state
