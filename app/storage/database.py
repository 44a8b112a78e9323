"""Opens the chats database: private to the user, checked, and migrated to the newest schema.

One connection is the only user: it writes and checkpoints. The storage thread only. Messages have checksums:
SQLite itself does not notice a flipped bit in a text.
"""

import contextlib
import errno
import logging
import os
import re
import shutil
import sqlite3
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path
from urllib.parse import quote

from app.storage.errors import DatabaseDamagedError, NewerSchemaError, StorageError
from app.system import paths
from app.system.files import private_dir, private_file, sync_dir
from app.system.said import said

log = logging.getLogger(__name__)

IN_MEMORY = Path(":memory:")
HEADER_BYTES = 100  # of any SQLite database that is not empty
MIN_FREE_BYTES = 64 * 1024  # the least free space for its log while it is open
CACHE_KIB = 512  # of pages, which the system has in its own cache, too; usually 2 MB, full after a day's work

# What is wrong around a file. Anything else that SQLite says of one is damage.
_TROUBLE_AROUND_IT = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    )
)

# FULL: with NORMAL, a power cut may undo a commit that was already reported.
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA busy_timeout = 5000",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    f"PRAGMA cache_size = -{CACHE_KIB}",
)


def open_database(path: Path, before_update: Callable[[], object] | None = None) -> sqlite3.Connection:
    """A connection in autocommit mode. `before_update` is called before one of an older schema is changed.

    Raises DatabaseDamagedError, NewerSchemaError or StorageError; the file is then as it was.
    """
    try:
        if path != IN_MEMORY:
            _create_private(path)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=True)
    except (OSError, sqlite3.Error) as error:
        raise _explain(error, path) from error
    try:
        _prepare(connection, before_update)
    except (sqlite3.Error, UnicodeDecodeError, StorageError) as error:
        connection.close()
        if isinstance(error, StorageError):
            raise
        raise _explain(error, path) from error
    return connection


def open_copy(path: Path) -> sqlite3.Connection:
    """A temporary copy of a read-only database, deleted when it is closed.

    Raises StorageError.
    """
    copy = sqlite3.connect("", isolation_level=None)
    try:
        with tempfile.TemporaryDirectory() as folder, closing(_open_unwritable(path, Path(folder))) as source:
            source.backup(copy)
        _prepare(copy)
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        copy.close()
        raise _explain(error, path) from error
    except StorageError:
        copy.close()
        raise
    return copy


def _open_unwritable(path: Path, scratch: Path) -> sqlite3.Connection:
    """A non-empty log can only be read by merging it into the database, here into a copy."""
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return sqlite3.connect(uri(path, "immutable=1"), uri=True)
    for part in (path, log):
        shutil.copyfile(part, scratch / part.name)
    return sqlite3.connect(scratch / path.name)


def move_aside(path: Path) -> Path:
    """Renames a damaged database, with its log, in its folder. Raises StorageError."""
    kept = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}")
    try:
        for suffix in ("-wal", "-shm", ""):
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.replace(kept.with_name(kept.name + suffix))
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(
            said("{path} is damaged and could not be moved aside: {reason}.", path=path, reason=reason)
        ) from error
    return kept


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors roll back by themselves
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
    private_dir(path.parent)
    is_new = not path.exists()
    # Created before SQLite does: its own file would follow the umask, and -wal and -shm copy the mode.
    private_file(path)
    if is_new:
        sync_dir(path.parent)


def _prepare(connection: sqlite3.Connection, before_update: Callable[[], object] | None = None) -> None:
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    _check_writable(connection)
    check(connection)
    _check_indexes(connection)
    update(connection, before_update)


def _check_writable(connection: sqlite3.Connection) -> None:
    """SQLite opens what it can only read, and says so at the first write, not even at BEGIN IMMEDIATE."""
    connection.execute("BEGIN")
    try:
        connection.execute(f"PRAGMA user_version = {_version(connection)}")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def check(connection: sqlite3.Connection) -> None:
    """Raises DatabaseDamagedError if its pages do not fit together."""
    _raise_if_any(connection.execute("PRAGMA quick_check(1)"))


def _check_indexes(connection: sqlite3.Connection) -> None:
    """A row that is missing in an index would not be found through it."""
    tables = connection.execute(
        "SELECT DISTINCT tbl_name FROM sqlite_schema WHERE type = 'index' "
        "AND tbl_name NOT LIKE 'turns_found%'"  # the search index is checked when it is used
        "AND tbl_name <> 'media'"  # it is large, and what is read of it is compared with its checksum
    ).fetchall()
    for (table,) in tables:
        try:
            _raise_if_any(connection.execute(f"PRAGMA integrity_check({table})"))
        except DatabaseDamagedError as error:
            log.warning("The indexes of %s are made anew: %s", table, error)
            connection.execute(f"REINDEX {table}")
            _raise_if_any(connection.execute(f"PRAGMA integrity_check({table})"))


def update(connection: sqlite3.Connection, before_update: Callable[[], object] | None = None) -> None:
    """Brings a database of any version to the newest schema.

    Raises DatabaseDamagedError or NewerSchemaError; then it is as it was.
    """
    _check_version(connection)
    if before_update and 0 < _version(connection) < len(migrations()):
        before_update()
    migrate(connection)


def _check_version(connection: sqlite3.Connection) -> None:
    """Nothing checks the tables' text and the version's number, which can be damaged like any other.

    Each version has tables of its own, so they tell the number where it is wrong.
    """
    tables, version, newest = _schema(connection), _version(connection), len(migrations())
    if 0 <= version <= newest and tables == _schema_of(version):
        return
    actual = next((number for number in range(newest, -1, -1) if tables == _schema_of(number)), None)
    if actual is not None:
        log.warning("The database calls itself version %d and is version %d.", version, actual)
        connection.execute(f"PRAGMA user_version = {actual}")
    elif version > newest:
        raise NewerSchemaError(
            said("These chats were saved by a newer version of Skein. Update Skein to open them.")
        )
    else:
        raise DatabaseDamagedError("its tables are not as Skein makes them")


def _schema_of(version: int) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(IN_MEMORY, isolation_level=None)) as new:
        migrate(new, version)
        return _schema(new)


def _schema(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Without what SQLite adds by itself."""
    return set(
        connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'turns\\_found\\_%' "
            "ESCAPE '\\'"
        )
    )


def _raise_if_any(problems: Iterable[tuple[str]]) -> None:
    first = next(iter(problems), ("ok",))[0]
    if first != "ok":
        raise DatabaseDamagedError(first)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(connection: sqlite3.Connection, to: int | None = None) -> None:
    """Brings a sound database to the newest schema, or to an older one."""
    version = _version(connection)
    for number, step in enumerate(migrations()[version:to], start=version + 1):
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


def _has_no_room(folder: Path) -> bool:
    """SQLite has several errors for a full disk, depending on the operation."""
    try:
        return shutil.disk_usage(folder).free < MIN_FREE_BYTES
    except OSError:
        return False


def _explain(error: OSError | sqlite3.Error | UnicodeDecodeError, path: Path) -> StorageError:
    if _is_damage(error, path):
        return DatabaseDamagedError(str(error))
    code = _code(error)
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    is_full = code == sqlite3.SQLITE_FULL or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    if is_full or _has_no_room(path.parent):
        return StorageError(
            said(
                "Chats cannot be saved: the disk with {folder} is full. Free some space, then restart Skein.",
                folder=path.parent,
            )
        )
    if code == sqlite3.SQLITE_BUSY:
        return StorageError(said("Another program is using {path}. Close it, then restart Skein.", path=path))
    if code == sqlite3.SQLITE_IOERR:
        return StorageError(
            said(
                "Chats cannot be saved in {path}: {reason}. Check the disk, then restart Skein.",
                path=path,
                reason=reason,
            )
        )
    return StorageError(
        said(
            "Chats cannot be saved in {path}: {reason}. Make the folder writable, then restart Skein.",
            path=path,
            reason=reason,
        )
    )


def _is_damage(error: OSError | sqlite3.Error | UnicodeDecodeError, path: Path) -> bool:
    if path.is_dir():
        return True
    if isinstance(error, OSError):
        return False
    if _code(error) == sqlite3.SQLITE_READONLY:  # so says a file, too, that asks for a later SQLite
        return paths.may(path, os.W_OK) and paths.may(path.parent, os.W_OK)
    return _code(error) not in _TROUBLE_AROUND_IT


def _code(error: Exception) -> int:
    """The primary one. Zero if it is not SQLite's: Python cannot read all that a damaged file says."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def sync_file(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def uri(path: Path, options: str) -> str:
    """For sqlite3.connect(…, uri=True)."""
    return f"file:{quote(str(path))}?{options}"


NO_ROUNDS = "[]"


def checksum(
    turn_id: str, parent_id: str, role: str, text: str, attachments: str, rounds: str = NO_ROUNDS
) -> int:
    """CRC-32 of a message: text, chat, role, attachments and rounds of calls (JSON as stored)."""
    parts = [turn_id, parent_id, role, text, attachments]
    parts += [] if rounds == NO_ROUNDS else [rounds]  # those without were written before there were any
    return zlib.crc32("\0".join(parts).encode("utf-8", "replace"))


def damaged_turn_ids(connection: sqlite3.Connection) -> list[str]:
    """The damaged turns of all chats: none where there are no checksums, as in old databases."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(turns)")}
    if "checksum" not in columns:
        return []
    connection.text_factory = bytes  # damaged text may be invalid UTF-8
    try:
        rounds = "rounds" if "rounds" in columns else f"'{NO_ROUNDS}'"
        rows = connection.execute(
            f"SELECT checksum, id, parent_id, role, text, attachments, {rounds} FROM turns"
        )
        return [
            parts[0].decode("utf-8", "replace")
            for expected, *parts in rows
            if expected is not None and expected != zlib.crc32(_joined(parts))
        ]
    finally:
        connection.text_factory = str


def _joined(parts: list[bytes]) -> bytes:
    return b"\0".join(parts[:-1] if parts[-1] == NO_ROUNDS.encode() else parts)
