"""What becomes of a damaged database. 300 places and more: `python -m tests.benchmarks durability`."""

import asyncio
import contextlib
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.chats.project import Fact, Project
from app.storage import repair as repair_module
from app.storage.backups import BackupReason, Backups
from app.storage.chat_rows import DAMAGED, ChatChange
from app.storage.chat_store import ChatStore
from app.storage.database import open_database
from app.storage.errors import StorageError
from app.storage.search import SearchHit
from tests.storage.damage import (
    ALL,
    NUM_CHATS,
    NUM_TURNS,
    a_chat,
    fill,
    fill_with_backup,
    flip_bits,
    flipped,
    looks_honest,
    overwrite,
    overwritten,
    start,
    starts_well,
    trunk_offset,
)


@pytest.mark.parametrize("size", [16, 100, 4096])
async def test_without_a_backup_all_that_lies_behind_a_broken_start_is_read_out(path, size: int) -> None:
    await fill(path, *range(NUM_CHATS))
    overwrite(path, 0, size)
    notice, texts, notices = await start(path)

    assert texts == ALL
    assert set(notices.values()) == {""}
    assert "is kept as" in notice
    assert f"{len(ALL)} messages in {NUM_CHATS} chats were recovered" in notice
    assert (await start(path))[0] == ""


async def test_the_newest_good_backup_comes_back_with_what_was_written_since(path, tmp_path) -> None:
    await fill(path, 0, 1)
    Backups(path, lambda: datetime(2026, 11, 21, 12, tzinfo=UTC)).make(BackupReason.REGULAR)
    bad = Backups(path, lambda: datetime(2026, 11, 21, 13, tzinfo=UTC)).make(BackupReason.REGULAR)
    bad.path.write_bytes(b"not a database")
    await fill(path, *range(2, NUM_CHATS))
    overwrite(path, 0, 4096)
    notice, texts, _ = await start(path)

    assert texts == ALL
    assert "the backup of 2026-11-21" in notice
    assert f"plus {(NUM_CHATS - 2) * NUM_TURNS} recovered messages" in notice


async def test_what_cannot_be_read_is_taken_from_the_backup(path) -> None:
    await fill(path, *range(NUM_CHATS))
    Backups(path).make(BackupReason.REGULAR)
    path.write_bytes(b"nothing of it is left" * 1000)
    notice, texts, _ = await start(path)
    assert texts == ALL
    assert "Nothing newer could be recovered" in notice


async def test_projects_are_read_out_and_the_newest_one_wins(path) -> None:
    await fill(path, 0)
    store = ChatStore(path)
    await store.open()
    boat, house = Project("Boat", instructions="Be brief. " * 1000), Project("House", facts=(Fact("Old."),))
    await store.save_project("Boat", boat)
    await store.save_project("House", house)
    await store.back_up()
    newer = house.with_facts([Fact("Newer.")])
    await store.save_project("House", newer)
    await store.close()
    overwrite(path, 0, 4096)
    notice, texts, _ = await start(path)
    assert "was damaged" in notice
    assert len(texts) == NUM_TURNS
    store = ChatStore(path)
    await store.open()
    assert set(await store.projects()) == {boat, newer}
    await store.close()


async def test_what_was_still_in_the_log_is_read_out_too(path) -> None:
    await fill(path, 0)
    with closing(open_database(path)) as connection:  # it stays open, so the log is not moved into the file
        store = ChatStore(path)
        await store.open()
        await store.save([ChatChange.of(a_chat(1))])
        copy = path.parent / "copy" / "chats.db"
        copy.parent.mkdir()
        for part in ("chats.db", "chats.db-wal"):
            (copy.parent / part).write_bytes((path.parent / part).read_bytes())
        await store.close()
        connection.execute("SELECT 1")
    overwrite(copy, 0, 100)
    _, texts, _ = await start(copy)
    assert texts == {name: text for name, text in ALL.items() if name.startswith(("t0-", "t1-"))}


async def test_a_chat_deleted_for_good_does_not_come_back(path) -> None:
    await fill(path, *range(NUM_CHATS))
    store = ChatStore(path)
    await store.open()
    await store.delete(["chat1"])
    await store.close()
    await fill(path)  # the next start removes it
    overwrite(path, 28, 4)  # the number of pages; the list of free ones stays
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.DatabaseError):
        connection.execute("SELECT 1 FROM chats").fetchall()
    _, texts, _ = await start(path)
    assert "t2-3" in texts
    assert not any(name.startswith("t1-") for name in texts)


@pytest.mark.parametrize("is_readable", [True, False])
async def test_messages_whose_chat_is_lost_get_a_new_one(path, is_readable: bool) -> None:
    await fill(path, 0, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM chats WHERE id = 'chat1'")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not is_readable:
        overwrite(path, 0, 16)
    _, texts, _ = await start(path)
    assert len([name for name in texts if name.startswith("t1-")]) == NUM_TURNS


async def test_what_was_read_out_is_found_by_the_search(path) -> None:
    await fill(path, *range(NUM_CHATS))
    overwrite(path, 0, 16)
    await start(path)
    store = ChatStore(path)
    await store.open()
    hits: tuple[SearchHit, ...] = await store.search("turn 11 of chat 3")
    await store.close()
    assert [hit.turn_id for hit in hits] == ["t3-11"]


async def test_a_message_that_is_not_as_it_was_written_is_marked(path) -> None:
    await fill(path, 0)
    content = path.read_bytes()
    at = content.index(b"turn 5 of chat 0")
    path.write_bytes(content[:at] + b"burn" + content[at + 4 :])
    notice, texts, notices = await start(path)
    assert notice == ""
    assert texts["t0-5"].startswith("burn 5")
    assert {name for name, said in notices.items() if said} == {"t0-5"}
    assert notices["t0-5"] == DAMAGED


async def test_a_message_that_has_lost_its_place_is_marked(path) -> None:
    await fill(path, 0)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"t0-5", b"t0-!"))
    _, texts, notices = await start(path)
    assert len(texts) == NUM_TURNS
    assert notices["t0-!"] == DAMAGED


async def test_bytes_that_are_no_text_hide_no_other_message(path) -> None:
    await fill(path, 0)
    content = path.read_bytes()
    at = content.index(b"turn 5 of chat 0")
    path.write_bytes(content[:at] + b"\xff\xfe" + content[at + 2 :])
    _, texts, notices = await start(path)
    assert texts.keys() == {name for name in ALL if name.startswith("t0-")}
    assert notices["t0-5"] == DAMAGED


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_is_flipped_the_store_opens_and_nothing_is_wrong_without_a_word(path, seed) -> None:
    await fill(path, 0, 1, 2)
    flip_bits(path, 1 + seed // 2, random.Random(seed))
    assert await looks_honest(path, num_chats=3) == ""


@pytest.mark.parametrize("chats", [b"chat0t0-4", b"chat0Chat 0", b"chat0"])
async def test_a_chat_whose_id_is_no_text_can_be_opened(path, chats: bytes) -> None:
    """Whether that of a message is damaged, that of the chat itself, or all of them."""
    await fill(path, 0)
    content = path.read_bytes()
    assert chats in content
    path.write_bytes(content.replace(chats, chats.replace(b"chat0", b"ch\xe1t0", 1)))
    _, texts, _ = await start(path)
    assert texts == {name: text for name, text in ALL.items() if name.startswith("t0-")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that is not damaged, and its backup."""
    path: Path = tmp_path_factory.mktemp("whole") / "chats.db"
    asyncio.run(fill_with_backup(path))
    return path


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: flipped(content, 18, 1), id="a later format of writing"),
        pytest.param(lambda content: flipped(content, 47, 128), id="a later format of tables"),
        pytest.param(lambda content: flipped(content, 60, 1), id="a version that is too new"),
        pytest.param(lambda content: flipped(content, 60, 128), id="a version below zero"),
        pytest.param(lambda content: overwritten(content, 63, b"\0"), id="a version that is too old"),
        pytest.param(
            lambda content: content.replace(b"closed_tabs", b"closed_\xf4abs"), id="a name that is no text"
        ),
        pytest.param(lambda content: content[: trunk_offset(content) + 9], id="an end in the free pages"),
        pytest.param(lambda content: b"", id="nothing left"),
    ],
)
async def test_whatever_is_damaged_the_next_start_has_all_chats_again(
    path, whole: Path, damage: Callable[[bytes], bytes]
) -> None:
    shutil.copytree(whole.parent, path.parent)
    path.write_bytes(damage(whole.read_bytes()))
    assert await starts_well(path) == ""


async def test_a_reader_that_fails_costs_no_backup(path, whole: Path, monkeypatch) -> None:
    def fail(_damaged: Path, _into: sqlite3.Connection) -> None:
        raise ZeroDivisionError

    shutil.copytree(whole.parent, path.parent)
    overwrite(path, 0, 16)
    monkeypatch.setattr(repair_module, "salvage", fail)
    assert await starts_well(path) == ""


class Crash(BaseException):
    pass


@pytest.mark.parametrize("step", ["sync_file", "finish_repair", "move_aside"])
async def test_a_repair_that_is_cut_off_is_done_again_or_finished(path, monkeypatch, step: str) -> None:
    await fill(path, *range(NUM_CHATS))
    overwrite(path, 0, 16)

    def crash(*_args: object) -> None:
        raise Crash

    monkeypatch.setattr(repair_module, step, crash)
    store = ChatStore(path)
    with pytest.raises(Crash):
        await store.open()
    store._thread.shutdown()
    monkeypatch.undo()

    assert (await start(path))[1] == ALL
    left = {file.name.partition("-2")[0] for file in path.parent.iterdir()}
    assert left == {"chats.db", "chats.damaged"}


async def test_a_repair_that_cannot_be_written_leaves_the_damaged_database_alone(path, monkeypatch) -> None:
    await fill(path, 0)
    overwrite(path, 0, 16)
    before = path.read_bytes()

    def fail(_path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(repair_module, "sync_file", fail)
    store = ChatStore(path)
    notice = await store.open()
    await store.close()
    assert "could not be repaired" in notice
    assert "lost when Skein quits" in notice
    assert path.read_bytes() == before


async def test_a_repair_that_cannot_be_put_in_its_place_is_told(path, monkeypatch) -> None:
    await fill(path, 0)
    path.with_name("chats.repaired.db").touch()

    def fail(_path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(repair_module, "move_aside", fail)
    store = ChatStore(path)
    assert "Permission denied" in await store.open()
    assert len(await store.summaries()) == 1
    await store.close()


def damaged_index(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE turns_found_data SET block = x'ffffffffffff' WHERE id > 10")


@pytest.mark.parametrize(
    ("said", "damaged"),
    [
        (b"system_prompt TEXT", b"system_prnmpt TEXT"),
        (b"'assistant'", b"'asqistant'"),
        (b"CREATE TABLE chats (", b"CREATE TAB\xd4E \xd4hats ("),
    ],
)
@pytest.mark.parametrize("has_backup", [False, True])
async def test_a_table_that_is_not_said_as_it_was_made_is_damage(
    path, said: bytes, damaged: bytes, has_backup: bool
) -> None:
    await fill(path, 0, 1)
    path.write_bytes(path.read_bytes().replace(said, damaged))
    if has_backup:  # which has the same damage, if it can be made at all
        with contextlib.suppress(StorageError):
            Backups(path).make(BackupReason.REGULAR)
    notice, texts, _ = await start(path)
    assert "was damaged" in notice
    assert len(texts) == 2 * NUM_TURNS
    await fill(path, 2)
    assert len((await start(path))[1]) == 3 * NUM_TURNS


async def test_a_row_that_is_missing_from_an_index_is_not_missed(path, caplog) -> None:
    await fill(path, 0, 1)
    set_end_of_index(path, " WHERE chat_id <> 'chat1'")
    set_end_of_index(path, "", anew=False)
    notice, texts, _ = await start(path)
    assert notice == ""
    assert {name for name in texts if name.startswith("t1-")} == {f"t1-{n}" for n in range(NUM_TURNS)}
    assert "are made anew" in caplog.text


def set_end_of_index(path: Path, end: str, *, anew: bool = True) -> None:
    """Changes which rows are said to be in an index, and whether they are."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        sql = "CREATE INDEX turns_of_chat ON turns (chat_id, number)" + end
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'turns_of_chat'", (sql,))
        connection.commit()
    if anew:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("REINDEX turns_of_chat")
            connection.commit()


async def test_a_damaged_index_of_the_search_keeps_nothing_from_being_saved(path, caplog) -> None:
    await fill(path, 0)
    with closing(sqlite3.connect(path)) as connection:
        damaged_index(connection)
        connection.commit()
    store = ChatStore(path)
    assert await store.open() == ""
    changed = a_chat(0)
    changed.turns[3].text = "another text"
    await store.save([ChatChange.of(changed)])
    assert "made anew" in caplog.text
    assert [hit.turn_id for hit in await store.search("another text")] == ["t0-3"]
    await store.close()
