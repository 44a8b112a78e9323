import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from app.bridge.engines import Engines
from app.bridge.workspace import Workspace
from app.services import chat_backups
from app.services.chat_backups import ChatBackups
from app.settings.settings import Settings
from app.storage.backups import Backup, BackupReason
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError


class Heard:
    def __init__(self, backups: ChatBackups) -> None:
        self.listed: list[list[Backup]] = []
        self.made: list[Backup] = []
        self.failed: list[str] = []
        self.num_restored = 0
        backups.listed.connect(self.listed.append)
        backups.made.connect(self.made.append)
        backups.failed.connect(self.failed.append)
        backups.restored.connect(self._on_restored)

    def _on_restored(self) -> None:
        self.num_restored += 1


@asynccontextmanager
async def running(path: Path, engine: Engines) -> AsyncIterator[tuple[Workspace, ChatBackups, Heard]]:
    """On a real store."""
    store = ChatStore(path)
    assert await store.open() == ""
    workspace = Workspace(engine, store, Settings())
    await workspace.restore()
    backups = ChatBackups(store, workspace, workspace)
    try:
        yield workspace, backups, Heard(backups)
    finally:
        await workspace.shut_down()
        await store.close()
        workspace.deleteLater()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "skein" / "chats.db"


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0.001)


async def test_a_backup_that_is_asked_for_has_what_was_written_a_moment_ago(qloop, path, engine) -> None:
    async with running(path, engine) as (workspace, backups, heard):
        workspace.sessions[0].draft = "half a thou"
        backups.make()
        await until(lambda: heard.listed)
        assert [one.reason for one in heard.made] == [BackupReason.ASKED]
        assert heard.listed == [heard.made]
        assert heard.made[0].path.parent == backups.folder
        assert b"half a thou" in heard.made[0].path.read_bytes()


async def test_one_is_made_at_the_start_and_whenever_something_changed(
    qloop, path, engine, monkeypatch
) -> None:
    monkeypatch.setattr(chat_backups, "PERIOD", timedelta(milliseconds=20))
    async with running(path, engine) as (workspace, backups, heard):
        workspace.sessions[0].draft = "a thought"
        await workspace.autosave.flush()
        backups.start()
        await until(lambda: heard.listed)
        workspace.sessions[0].draft = "an idea"
        await workspace.autosave.flush()
        await until(lambda: len(heard.listed) > 1)
    assert {one.reason for one in heard.listed[-1]} == {BackupReason.REGULAR}


async def test_a_failure_that_nobody_asked_for_is_told_once(qloop, path, engine, monkeypatch) -> None:
    monkeypatch.setattr(chat_backups, "PERIOD", timedelta(milliseconds=20))
    async with running(path, engine) as (_workspace, backups, heard):
        calls: list[int] = []

        async def fail(_max_age: timedelta) -> None:
            calls.append(1)
            raise StorageError("The disk is full.")

        monkeypatch.setattr(backups._store, "back_up_if_due", fail)
        backups.start()
        await until(lambda: len(calls) > 3)
    assert heard.failed == ["The disk is full."]


async def test_what_is_restored_is_what_the_next_start_finds(qloop, path, engine) -> None:
    async with running(path, engine) as (workspace, backups, heard):
        workspace.sessions[0].draft = "before"
        backups.make()
        await until(lambda: heard.made)
        workspace.sessions[0].draft = "after"
        backups.restore(heard.made[0])
        await until(lambda: heard.num_restored)
        workspace.sessions[0].draft = "too late"
    async with running(path, engine) as (workspace, backups, heard):
        assert [session.draft for session in workspace.sessions] == ["before"]
        backups.refresh()
        await until(lambda: heard.listed)
        assert [one.reason for one in heard.listed[0]] == [BackupReason.RESTORE, BackupReason.ASKED]


async def test_after_a_restore_that_failed_all_goes_on(qloop, path, engine) -> None:
    async with running(path, engine) as (workspace, backups, heard):
        workspace.sessions[0].draft = "before"
        backups.make()
        await until(lambda: heard.made)
        heard.made[0].path.write_bytes(b"not a database")
        backups.restore(heard.made[0])
        await until(lambda: heard.failed)
        workspace.sessions[0].draft = "still here"
    async with running(path, engine) as (workspace, _backups, _heard):
        assert workspace.sessions[0].draft == "still here"
