"""Databases of each earlier version, as Skein wrote them, in `old_schemas`."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import database
from app.storage.backups import BackupReason, Backups
from app.storage.chat_store import ChatStore
from app.storage.database import migrations
from app.storage.errors import StorageError
from tests.storage.old_chats import OLD_SCHEMAS, VERSIONS, has_everything, write_old
from tests.storage.power_cuts import Disk, power_cuts, record


def test_there_is_one_of_each_version() -> None:
    assert {file.name for file in OLD_SCHEMAS.iterdir()} == {f"version_{n}.sql" for n in VERSIONS}


@pytest.mark.parametrize("version", VERSIONS)
async def test_everything_of_an_old_version_is_there_in_this_one(path: Path, version: int) -> None:
    write_old(path, version)
    store = ChatStore(path)
    assert await store.open() == ""
    await has_everything(store, version)
    await store.close()


@pytest.mark.parametrize("version", VERSIONS)
async def test_before_it_is_changed_there_is_a_backup(path: Path, version: int) -> None:
    write_old(path, version)
    store = ChatStore(path)
    await store.open()
    await store.close()
    (backup,) = Backups(path).all()
    assert backup.reason is BackupReason.UPDATE
    with closing(sqlite3.connect(backup.path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (9,)


async def test_without_room_for_a_backup_nothing_is_changed_and_the_chats_can_be_read(
    path: Path, monkeypatch
) -> None:
    write_old(path, 2)
    before = path.read_bytes()

    def fail(_path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.storage.backups.sync_file", fail)
    store = ChatStore(path)
    notice = await store.open()
    assert "is full" in notice
    assert "lost when Skein quits" in notice
    await has_everything(store, 2)
    await store.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", VERSIONS)
async def test_one_that_stops_half_way_leaves_the_old_version(path: Path, monkeypatch, version: int) -> None:
    write_old(path, version)
    *sound, last = migrations()
    broken = [*sound, f"{last}\nINSERT INTO nowhere VALUES (1);"]
    monkeypatch.setattr(database, "migrations", lambda: broken)
    with pytest.raises(StorageError, match="nowhere"):
        database.open_database(path)
    monkeypatch.undo()
    store = ChatStore(path)
    assert await store.open() == ""
    await has_everything(store, version)
    await store.close()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [16, 100])
async def test_a_damaged_one_is_read_out_and_brought_up_to_date(path: Path, version: int, size: int) -> None:
    write_old(path, version)
    with path.open("r+b") as file:
        file.write(b"\xa5" * size)
    store = ChatStore(path)
    assert "9 messages in 4 chats" in await store.open()
    assert [hit.turn_id for hit in await store.search("in no tab")] == ["t9"]
    await store.close()


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
async def test_a_power_cut_finds_the_old_version_or_the_new(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_old(work / "chats.db", 2)
    old = (work / "chats.db").read_bytes()
    calls = record("-m", "tests.storage.started", str(work / "chats.db"), folder=tmp_path)
    disk, chance = Disk(work), random.Random(2)
    disk.start_with({"chats.db": old})
    for number, _ in enumerate(power_cuts(calls, disk, 12, chance)):
        left = tmp_path / f"cut{number}" / "chats.db"
        left.parent.mkdir()
        disk.after_power_cut(left.parent, chance)
        store = ChatStore(left)
        assert await store.open() == ""
        await has_everything(store, 2)
        await store.close()
