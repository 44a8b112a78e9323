"""What the store does when the disk does not. Every write: `python -m tests.benchmarks durability`."""

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from app.chats.chat import Chat, Turn
from app.protocol.request import Role
from app.storage.backups import BackupReason
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.storage.list_rows import Tabs
from tests.read_only import foreign_folder, read_only
from tests.storage.power_cuts import ROOT


def change(number: int = 0) -> ChatChange:
    return ChatChange.of(Chat(f"chat{number}", turns=[Turn(Role.USER, f"message {number}", id=f"t{number}")]))


async def begun(path: Path) -> ChatStore:
    """With a first chat."""
    store = ChatStore(path)
    await store.open()
    await store.save([change(0)])
    return store


async def texts_in(path: Path) -> set[str]:
    """What the next start finds; it must have nothing to say."""
    store = ChatStore(path)
    assert await store.open() == ""
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        return {text for (text,) in connection.execute("SELECT text FROM turns")}


def test_a_disk_that_is_full_at_any_write_loses_nothing_that_was_called_saved(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.storage.full_disk", str(tmp_path / "work"), "2", "9"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    assert result["num_good"] >= 20


async def test_after_an_error_of_the_disk_the_file_is_opened_again(path, monkeypatch) -> None:
    """What the system has in memory after a failed fsync may be other than what is on the disk."""
    store = await begun(path)
    first = store._connection
    assert first
    failing = _Failing(first, sqlite3.SQLITE_IOERR_FSYNC)
    store._connection = failing  # type: ignore[assignment]
    with pytest.raises(StorageError, match="not being saved"):
        await store.save([change(1)])
    await store.save([change(1)])
    assert store._connection not in (failing, first, None)
    await store.close()
    assert await texts_in(path) == {"message 0", "message 1"}


class _Failing:
    """A connection whose next commit fails as a disk does."""

    def __init__(self, connection: sqlite3.Connection, code: int) -> None:
        self._connection = connection
        self._code = code

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def execute(self, statement: str, *parameters: object) -> object:
        if statement == "COMMIT":
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = self._code
            raise error
        return self._connection.execute(statement, *parameters)


async def test_a_disk_that_is_gone_is_not_replaced_by_an_empty_database(path) -> None:
    store = await begun(path)
    assert store._connection
    store._connection = _Failing(store._connection, sqlite3.SQLITE_IOERR_WRITE)  # type: ignore[assignment]
    with pytest.raises(StorageError):
        await store.save([change(1)])
    away = path.parent.rename(path.parent.with_name("away"))
    path.parent.mkdir()
    with pytest.raises(StorageError, match="not being saved"):
        await store.save([change(1)])
    with pytest.raises(StorageError):
        await store.summaries()
    assert not path.exists()
    path.parent.rmdir()
    away.rename(path.parent)
    await store.save([change(1)])
    await store.close()
    assert await texts_in(path) == {"message 0", "message 1"}


async def test_a_folder_that_vanishes_is_made_again_with_all_that_was_in_it(path) -> None:
    store = ChatStore(path)
    await store.open()
    await store.save([change(0)], Tabs(("chat0",)))
    shutil.rmtree(path.parent)
    await store.save([change(1)])
    assert len(await store.summaries()) == 2
    await store.close()
    assert await texts_in(path) == {"message 0", "message 1"}


async def test_while_the_folder_cannot_be_made_again_nothing_is_called_saved(path) -> None:
    store = await begun(path)
    shutil.rmtree(path.parent)
    path.parent.touch()
    for _ in range(2):
        with pytest.raises(StorageError, match="not being saved"):
            await store.save([change(1)])
    path.parent.unlink()
    await store.save([change(1)])
    await store.close()
    assert await texts_in(path) == {"message 0", "message 1"}


async def test_a_file_that_somebody_put_in_its_place_is_not_written_over(path) -> None:
    store = await begun(path)
    other = path.with_name("other.db")
    other.write_bytes(b"another file")
    other.replace(path)
    with pytest.raises(StorageError, match="has been replaced by another file"):
        await store.save([change(1)])
    await store.close()
    assert path.read_bytes() == b"another file"


@pytest.fixture
def folder() -> Iterator[Path]:
    with foreign_folder() as folder:
        yield folder


@pytest.mark.parametrize("log", ["empty", "full"])
async def test_in_a_read_only_folder_the_chats_can_be_read_and_that_is_said(folder, log: str) -> None:
    path = folder / "chats.db"
    store = ChatStore(path)
    await store.open()
    await store.save([change(0), change(1)], Tabs(("chat0", "chat1"), "chat1"))
    if log == "full":
        kept = {part.name: part.read_bytes() for part in folder.iterdir()}
    await store.close()
    if log == "full":
        for name, content in kept.items():
            (folder / name).write_bytes(content)
    before = {part.name: part.read_bytes() for part in folder.iterdir()}

    with read_only(folder):
        store = ChatStore(path)
        notice = await store.open()
        assert "Make the folder writable" in notice
        assert "lost when Skein quits" in notice
        saved = await store.load()
        assert saved.tabs.open == ("chat0", "chat1")
        assert [turn.text for turn in (await store.load_turns(saved.chats["chat1"])).shown] == ["message 1"]
        assert [hit.turn_id for hit in await store.search("message 0")] == ["t0"]
        await store.save([change(2)])
        assert len(await store.summaries()) == 3
        with pytest.raises(StorageError, match="not kept on disk"):
            await store.back_up(BackupReason.ASKED)
        assert await store.back_up_if_due(timedelta()) is None
        await store.close()
    assert {part.name: part.read_bytes() for part in folder.iterdir()} == before


async def test_a_start_on_a_full_disk_can_be_read_from(path, monkeypatch) -> None:
    """What is tidied at the start cannot be written; what can be saved later, is."""
    store = await begun(path)
    await store.close()

    def fail(_connection: sqlite3.Connection) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr("app.storage.chat_store._tidy", fail)
    store = ChatStore(path)
    assert "is full" in await store.open()
    assert len(await store.summaries()) == 1
    await store.save([change(1)])
    await store.close()
    monkeypatch.undo()
    assert await texts_in(path) == {"message 0", "message 1"}


async def test_before_an_import_there_is_a_backup(path) -> None:
    store = await begun(path)
    await store.import_chats([change(1)])
    (backup,) = await store.backups()
    assert backup.reason is BackupReason.IMPORT
    await store.close()
    assert await texts_in(backup.path) == {"message 0"}


async def test_a_new_database_is_not_worth_a_backup(path) -> None:
    store = ChatStore(path)
    await store.open()
    assert await store.back_up_if_due(timedelta()) is None
    await store.save([change(0)])
    assert await store.back_up_if_due(timedelta()) is not None
    await store.close()


async def test_a_backup_that_is_restored_can_be_taken_back(path) -> None:
    store = ChatStore(path)
    await store.open()
    await store.save([change(0)], Tabs(("chat0",)))
    backup = await store.back_up()
    await store.save([change(1)], Tabs(("chat1",)))
    await store.restore(backup)
    assert (await store.load()).tabs.open == ("chat0",)
    assert [summary.id for summary in await store.summaries()] == ["chat0"]

    former = next(one for one in await store.backups() if one.reason is BackupReason.RESTORE)
    await store.restore(former)
    assert {summary.id for summary in await store.summaries()} == {"chat0", "chat1"}
    await store.close()
    assert await texts_in(path) == {"message 0", "message 1"}


async def test_a_damaged_backup_is_not_restored(path) -> None:
    store = await begun(path)
    backup = await store.back_up()
    backup.path.write_bytes(b"not a database")
    with pytest.raises(StorageError):
        await store.restore(backup)
    assert len(await store.summaries()) == 1
    await store.close()


async def test_saving_goes_on_while_a_backup_is_made(path) -> None:
    store = await begun(path)
    backing_up = store.back_up()
    backup, *_ = await asyncio.gather(backing_up, *(store.save([change(n)]) for n in range(1, 20)))
    await store.close()
    assert "message 0" in await texts_in(backup.path)
    assert len(await texts_in(path)) == 20
