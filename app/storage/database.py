"""Opens the chats database: closed to other users, checked, and brought to the newest schema.

Whoever opens it stays its only user: one connection writes and checkpoints. The storage thread only.
"""

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from app.storage.errors import DatabaseDamagedError, StorageError

IN_MEMORY = Path(":memory:")

# FULL: with NORMAL a power cut may take back a commit that was already reported.
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA busy_timeout = 5000",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)


def open_database(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode. Raises DatabaseDamagedError or StorageError."""
    try:
        if path != IN_MEMORY:
            _create_private(path)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=True)
    except (OSError, sqlite3.Error) as error:
        raise _explain(error, path) from error
    try:
        _prepare(connection)
    except (sqlite3.Error, StorageError) as error:
        connection.close()
        if isinstance(error, StorageError):
            raise
        raise _explain(error, path) from error
    return connection


def move_aside(path: Path) -> Path:
    """Keeps a damaged database, with its log, beside where it was. Raises StorageError."""
    kept = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}")
    try:
        for suffix in ("-wal", "-shm", ""):
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.replace(kept.with_name(kept.name + suffix))
    except OSError as error:
        raise StorageError(f"{path} is damaged and could not be moved aside: {error.strerror}.") from error
    return kept


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors have rolled it back already
            connection.execute("ROLLBACK")
        raise


def migrations() -> list[str]:
    """The schema's steps; step n brings a database from version n - 1 to n."""
    folder = resources.files("app.storage") / "migrations"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name
    )
    for number, file in enumerate(files, start=1):
        assert file.name.startswith(f"{number:04d}_"), f"{file.name} should be number {number}"
    return [file.read_text(encoding="utf-8") for file in files]


def _create_private(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    if not path.exists():
        # Before SQLite makes it: its own file would follow the umask, and -wal and -shm copy its mode.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _prepare(connection: sqlite3.Connection) -> None:
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    problems = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
    if problems != ["ok"]:
        raise DatabaseDamagedError(problems[0])
    _migrate(connection)


def _migrate(connection: sqlite3.Connection) -> None:
    steps = migrations()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(steps):
        raise StorageError(
            "The chats were kept by a newer Skein and cannot be opened by this one. Update Skein to see them."
        )
    for number, step in enumerate(steps[version:], start=version + 1):
        with transaction(connection):
            for statement in _statements(step):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")


def _statements(script: str) -> Iterator[str]:
    """`executescript` would commit the transaction it is called in, so the script is taken apart."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(re.sub(r"--.*", "", pending)):
            yield pending
            pending = ""


def _explain(error: OSError | sqlite3.Error, path: Path) -> StorageError:
    code = getattr(error, "sqlite_errorcode", None)
    is_a_file = isinstance(error, sqlite3.Error) and path.exists()
    if is_a_file and code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN):
        return DatabaseDamagedError(str(error))
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
    else:
        reason = str(error)
    return StorageError(
        f"Chats cannot be kept in {path}: {reason}. Make the folder writable, then start again."
    )
