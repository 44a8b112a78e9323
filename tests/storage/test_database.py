import errno
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.storage import database
from app.storage.database import IN_MEMORY, open_database, transaction
from app.storage.errors import StorageError


def test_a_new_database_has_the_newest_version() -> None:
    connection = open_database(IN_MEMORY)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(database.migrations()),)
    connection.close()


def test_a_connection_caches_half_a_megabyte_at_most() -> None:
    connection = open_database(IN_MEMORY)
    assert connection.execute("PRAGMA cache_size").fetchone() == (-512,)
    connection.close()


def test_each_version_has_tables_of_its_own() -> None:
    """So they tell the version where its number is damaged."""
    schemas = [frozenset(database._schema_of(version)) for version in range(len(database.migrations()) + 1)]
    assert len(set(schemas)) == len(schemas)


def test_only_the_missing_steps_are_taken(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "chats.db"
    open_database(path).close()
    first = database.migrations()
    monkeypatch.setattr(database, "migrations", lambda: [*first, "CREATE TABLE later (x);"])
    for _ in range(2):
        connection = open_database(path)
        assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)
        connection.close()


def test_a_step_that_fails_half_way_leaves_the_old_version(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "chats.db"
    open_database(path).close()
    first = database.migrations()
    broken = "CREATE TABLE later (x);\nINSERT INTO nowhere VALUES (1);"
    monkeypatch.setattr(database, "migrations", lambda: [*first, broken])
    with pytest.raises(Exception, match="nowhere"):
        open_database(path)
    monkeypatch.undo()

    connection = open_database(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(first),)
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("SELECT * FROM later")
    connection.close()


def test_comments_in_a_migration_may_hold_semicolons() -> None:
    script = "CREATE TABLE a (x); -- one; two\nCREATE TABLE b ( -- why; because\n  y\n);\n"
    assert len(list(database._statements(script))) == 2


def test_a_transaction_is_all_or_nothing() -> None:
    connection = open_database(IN_MEMORY)

    def fail_half_way() -> None:
        with transaction(connection):
            connection.execute("CREATE TABLE x (y)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert not connection.in_transaction
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("SELECT * FROM x")
    connection.close()


def test_a_full_disk_is_called_full_whatever_sqlite_calls_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=4096))
    monkeypatch.setattr(sqlite3, "connect", fail_to_connect)
    with pytest.raises(StorageError, match="is full"):
        open_database(tmp_path / "chats.db")


def test_a_file_that_there_is_no_room_for_is_told_as_a_full_disk(tmp_path, monkeypatch) -> None:
    def fail(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(database, "private_file", fail)
    with pytest.raises(StorageError, match="is full"):
        open_database(tmp_path / "chats.db")


def fail_to_connect(*_arguments: object, **_options: object) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    raise error


def test_what_is_wrong_around_the_file_is_told_as_what_it_is(tmp_path, monkeypatch) -> None:
    path = tmp_path / "chats.db"
    open_database(path).close()
    with closing(sqlite3.connect(path)) as other, monkeypatch.context() as patch:
        patch.setattr(database, "_PRAGMAS", ())  # which would have it wait, as would sqlite3 by itself
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0))
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="Another program is using"):
            open_database(path)
    monkeypatch.setattr(sqlite3, "connect", fail_to_connect)
    with pytest.raises(StorageError, match="Check the disk"):
        open_database(path)
