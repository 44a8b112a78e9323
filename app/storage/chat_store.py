"""Keeps chats, folders and tabs in SQLite.

Called on the GUI's loop; one thread owns the only connection and executes the calls in order, each in one
transaction. Nothing mutable crosses: changes are copies, loaded chats are new objects.
"""

import asyncio
import contextlib
import errno
import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from app.chats.chat import Turn, TurnState
from app.chats.project import Project
from app.media.reading import Pixels
from app.storage.backups import Backup, BackupReason, Backups, bring_back, verify, write_anew
from app.storage.chat_rows import (
    ChatChange,
    SavedChat,
    SavedTurns,
    adopt_orphans,
    delete_chats,
    index_anew,
    index_messages,
    name_anew,
    read_chats,
    read_end,
    read_turns,
    write_chat,
    write_grown,
)
from app.storage.database import HEADER_BYTES, IN_MEMORY, open_copy, open_database, transaction
from app.storage.errors import DatabaseDamagedError, NewerSchemaError, StorageError
from app.storage.list_rows import (
    TRASH_DAYS,
    ChatSummary,
    SavedWorkspace,
    Tabs,
    import_chats,
    purge,
    read_folders,
    read_projects,
    read_summaries,
    read_workspace,
    set_deleted,
    update_chat,
    write_drafts,
    write_folders,
    write_project,
    write_tabs,
)
from app.storage.media_rows import (
    NO_THUMBNAIL,
    delete_unused,
    read_media,
    read_thumbnail,
    write_media,
    write_thumbnail,
)
from app.storage.repair import finish_repair, repair
from app.storage.search import Search, SearchHit
from app.system.said import said, together

T = TypeVar("T")
Drafts = Mapping[tuple[str, str], str]
NO_DRAFTS: Drafts = MappingProxyType({})

log = logging.getLogger(__name__)

LOST_AT_THE_END = said("What you write now will be lost when Skein quits.")
DAMAGED_DATABASE = said("Chats are not being saved: the database is damaged. Restart Skein to repair it.")
MAX_WAIT_S = 3.0  # in `save_and_wait`; Windows gives a program 5 s
INTERRUPTED = said("Skein quit while this was being written.")


class ChatStore:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="storage")
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None  # device and inode of the open file; None: a copy
        self._backups = Backups(path)
        self._backing_up = asyncio.Lock()
        # Chats in which the last run was writing an answer when it ended. Known once `open` has returned.
        self.cut_off: tuple[str, ...] = ()

    @property
    def backups_dir(self) -> Path:
        return self._backups.folder

    # The GUI's loop.

    async def open(self) -> str:
        """Call once, first. Returns a message for the user, mostly empty.

        If the disk cannot be used, chats are kept in memory for this run.
        """
        return await self._call(self._open)

    async def load(self) -> SavedWorkspace:
        """The tabs of the last run. Raises StorageError."""
        return await self._call(self._read, read_workspace)

    async def load_chat(self, chat_id: str) -> SavedChat | None:
        """Without its turns; None if there is no such chat. Raises StorageError."""
        return await self._call(self._read, lambda connection: _load_chat(connection, chat_id))

    async def load_end(self, saved: SavedChat, num_turns: int) -> list[Turn]:
        """The newest turns of the shown path: those visible first. Raises StorageError."""
        return await self._call(
            self._read, lambda connection: read_end(connection, saved.chat.id, saved.leaf_id, num_turns)
        )

    async def load_turns(self, saved: SavedChat) -> SavedTurns:
        """Raises StorageError."""
        return await self._call(
            self._read, lambda connection: read_turns(connection, saved.chat.id, saved.leaf_id)
        )

    async def summaries(self) -> tuple[ChatSummary, ...]:
        """All chats, most recently written first. Raises StorageError."""
        return await self._call(self._read, read_summaries)

    async def search(self, text: str, limit: int = 200) -> tuple[SearchHit, ...]:
        """Messages in which all words of `text` are, the newest first. Raises StorageError."""
        search = Search(text, limit)
        while not search.is_done:
            await self._call(self._read, search.look_further)
        return tuple(search.hits)

    async def folders(self) -> tuple[str, ...]:
        """In the user's order. Raises StorageError."""
        return await self._call(self._read, read_folders)

    async def save(
        self, changes: Sequence[ChatChange], tabs: Tabs | None = None, drafts: Drafts = NO_DRAFTS
    ) -> None:
        """Writes all or, with a StorageError, nothing.

        Deletes chats without turns, title and draft that are not to be kept. `drafts` are those of other text
        fields; an empty one is deleted.
        """
        await self._call(self._save, tuple(changes), tabs, drafts)

    def save_and_wait(
        self, changes: Sequence[ChatChange], tabs: Tabs | None = None, drafts: Drafts = NO_DRAFTS
    ) -> None:
        """Like `save`, but blocking, for when the event loop may not run again. Earlier calls come first.

        Raises StorageError, or TimeoutError when it takes longer than a system waits for an ending program.
        """
        self._thread.submit(self._save, tuple(changes), tabs, drafts).result(MAX_WAIT_S)

    def write_answers(self, answers: Sequence[Turn]) -> None:
        """Saves answers that are on disk as being written, and have grown or ended. Any thread, which waits.

        Raises StorageError.
        """
        try:
            writing = self._thread.submit(
                self._write, lambda connection: write_grown(connection, tuple(answers))
            )
        except RuntimeError:  # it is closed, and all that has ended was saved before
            return
        writing.result()

    async def keep_media(self, data: bytes, thumbnail: Pixels = NO_THUMBNAIL) -> None:
        """A file's bytes, under their SHA-256, before any message refers to them. Raises StorageError."""
        await self._call(self._write, lambda connection: write_media(connection, data, thumbnail))

    async def keep_thumbnail(self, sha256: str, thumbnail: Pixels) -> None:
        """Keeps the thumbnail of a file that is kept already. Raises StorageError."""
        await self._call(self._write, lambda connection: write_thumbnail(connection, sha256, thumbnail))

    async def media(self, sha256: str) -> bytes | None:
        """None if it is lost or damaged. Raises StorageError."""
        return await self._call(self._read, lambda connection: read_media(connection, sha256))

    async def thumbnail(self, sha256: str) -> Pixels | None:
        """None if there is none yet. Raises StorageError."""
        return await self._call(self._read, lambda connection: read_thumbnail(connection, sha256))

    async def save_folders(self, names: Sequence[str]) -> None:
        """Saves the list of folders, in this order. Raises StorageError."""
        await self._call(self._write, lambda connection: write_folders(connection, tuple(names)))

    async def projects(self) -> tuple[Project, ...]:
        """Raises StorageError."""
        return await self._call(self._read, read_projects)

    async def save_project(self, folder: str, project: Project | None) -> None:
        """In the place of that of `folder`; None: it is a folder only. Raises StorageError."""
        await self._call(self._write, lambda connection: write_project(connection, folder, project))

    async def place(
        self,
        chat_id: str,
        *,
        title: str | None = None,
        folder: str | None = None,
        is_pinned: bool | None = None,
    ) -> None:
        """Renames, moves or pins a chat that is not open; None leaves it as it is. Raises StorageError."""
        given = {"title": title, "folder": folder, "is_pinned": is_pinned}
        columns = {name: value for name, value in given.items() if value is not None}
        await self._call(self._write, lambda connection: update_chat(connection, chat_id, columns))

    async def delete(self, chat_ids: Sequence[str]) -> None:
        """Moves them to the trash: they can be undeleted for TRASH_DAYS. Raises StorageError."""
        await self._call(self._write, lambda connection: set_deleted(connection, chat_ids, time.time()))

    async def undelete(self, chat_ids: Sequence[str]) -> None:
        """Raises StorageError."""
        await self._call(self._write, lambda connection: set_deleted(connection, chat_ids, None))

    async def trash(self) -> tuple[ChatSummary, ...]:
        """Deleted chats, the newest deletion first. Raises StorageError."""
        return await self._call(self._read, lambda connection: read_summaries(connection, is_deleted=True))

    async def purge(self, chat_ids: Sequence[str]) -> None:
        """Deletes for good those of them that are in the trash. Raises StorageError."""
        await self._call(self._write, lambda connection: purge(connection, chat_ids))

    async def import_chats(self, changes: Sequence[ChatChange]) -> None:
        """Imports all of them as new chats, with their folders, or with a StorageError none."""
        if self._file:
            await self.back_up(BackupReason.IMPORT)
        await self._call(self._write, lambda connection: import_chats(connection, tuple(changes)))

    async def backups(self) -> list[Backup]:
        """Newest first."""
        return await asyncio.to_thread(self._backups.all)

    async def back_up(self, reason: BackupReason = BackupReason.ASKED) -> Backup:
        """Saving goes on meanwhile. Raises StorageError."""
        async with self._backing_up:
            if not self._file:
                raise StorageError(
                    said("There is no backup: the chats of this session are not kept on disk.")
                )
            return await asyncio.to_thread(self._backups.make, reason)

    async def back_up_if_due(self, max_age: timedelta) -> Backup | None:
        """If something has changed and the newest is older than that. Raises StorageError."""
        if self._file is None or not await self._call(self._read, _has_chats):
            return None
        is_due: bool = await asyncio.to_thread(self._backups.is_due, max_age)
        return await self.back_up(BackupReason.REGULAR) if is_due else None

    async def restore(self, backup: Backup) -> None:
        """Restores all chats of the backup; the present ones are kept as another backup.

        Raises StorageError; then nothing has changed.
        """
        await asyncio.to_thread(verify, backup.path)
        await self.back_up(BackupReason.RESTORE)
        await self._call(self._restore, backup)

    async def close(self) -> None:
        await self._call(self._close)
        self._thread.shutdown()

    async def _call(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    # The storage thread only.

    def _open(self) -> str:
        try:
            notice = self._open_or_repair()
        except NewerSchemaError as error:
            self._connection = open_database(IN_MEMORY)
            notice = together(str(error), LOST_AT_THE_END)
        except StorageError as error:
            self._connection = _copy_of(self._path)
            notice = together(str(error), LOST_AT_THE_END)
        try:
            self.cut_off = self._read(_cut_off)
            self._write(_tidy)
        except StorageError as error:
            return together(notice, str(error))
        return notice

    def _open_or_repair(self) -> str:
        notice = ""
        try:
            finish_repair(self._path)
            self._check_not_emptied()
            self._reopen()
        except DatabaseDamagedError:
            notice = repair(self._path, self._backups)
            self._reopen()
        except OSError as error:
            raise StorageError(_why_not_saved(error, self._path)) from error
        return notice

    def _check_not_emptied(self) -> None:
        """SQLite would take a file that was cut off before anything stands in it for a new one."""
        is_empty = self._path.is_file() and self._path.stat().st_size < HEADER_BYTES
        if is_empty and self._backups.all():
            raise DatabaseDamagedError("it is empty")

    def _reopen(self) -> sqlite3.Connection:
        self._connection = open_database(self._path, lambda: self._backups.make(BackupReason.UPDATE))
        self._file = _identity(self._path)
        return self._connection

    def _open_again(self) -> sqlite3.Connection:
        """Reconnects after `_give_up_connection`. Creates no new file: the old one may reappear."""
        try:
            if _identity(self._path) != self._file:
                raise FileNotFoundError(2, "the file is not there", str(self._path))
            return self._reopen()
        except OSError as error:
            raise StorageError(_why_not_saved(error, self._path)) from error
        except DatabaseDamagedError as error:
            raise StorageError(DAMAGED_DATABASE) from error

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection or self._open_again()
        try:
            try:
                return work(connection)
            except sqlite3.OperationalError as error:
                if "decode" not in str(error):
                    raise
            return _with_any_text(connection, work)
        except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
            raise StorageError(
                said("The chats could not be read: {reason}. They stay on disk.", reason=str(error))
            ) from error

    def _save(self, changes: tuple[ChatChange, ...], tabs: Tabs | None, drafts: Drafts) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for change in changes:
                write_chat(connection, change)
            if tabs:
                write_tabs(connection, tabs)
            write_drafts(connection, drafts)
            touched = [(one.chat.id,) for one in changes if one.is_chat_itself and not one.is_kept]
            connection.executemany(_DELETE_IF_BLANK, touched)

        self._write(work)

    def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        connection = self._connection or self._open_again()
        self._stay_where_it_was(connection)
        try:
            self._commit(work)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if _code(error) & 0xFF == sqlite3.SQLITE_IOERR:
                self._give_up_connection()
            raise StorageError(_why_not_saved(error, self._path)) from error

    def _commit(self, work: Callable[[sqlite3.Connection], None]) -> None:
        assert self._connection
        try:
            with transaction(self._connection):
                work(self._connection)
        except sqlite3.DatabaseError as error:
            if _code(error) != sqlite3.SQLITE_CORRUPT_VTAB:
                raise
            log.warning("The index for the search is damaged and is made anew.")
            with transaction(self._connection):
                index_anew(self._connection)
                work(self._connection)

    def _give_up_connection(self) -> None:
        """After a disk error, the system's cache may differ from the disk."""
        if self._file and self._connection:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _stay_where_it_was(self, connection: sqlite3.Connection) -> None:
        """Detects a replaced file: SQLite would continue writing to one that has no name any more."""
        if self._file is None:
            return
        try:
            now = _identity(self._path)
            if now is None:
                log.warning("%s is gone and is written anew.", self._path)
                write_anew(connection, self._path)
                connection.close()
                self._reopen()
        except (OSError, sqlite3.Error) as error:
            raise StorageError(_why_not_saved(error, self._path)) from error
        if now not in (None, self._file):
            raise StorageError(
                said(
                    "Chats are not being saved: {path} has been replaced by another file. Restart Skein.",
                    path=self._path,
                )
            )

    def _restore(self, backup: Backup) -> None:
        connection = self._connection or self._open_again()
        try:
            bring_back(backup, connection)
        except sqlite3.Error as error:
            raise StorageError(_why_not_saved(error, self._path)) from error

    def _close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None


def _copy_of(path: Path) -> sqlite3.Connection:
    """A copy in memory, so that chats can at least be read, searched and exported."""
    try:
        if path.exists():
            return open_copy(path)
    except (OSError, StorageError) as error:
        log.warning("%s cannot even be read: %s", path, error)
    return open_database(IN_MEMORY)


def _code(error: Exception) -> int:
    """SQLite's error code; 0 for other errors."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code


def _identity(path: Path) -> tuple[int, int] | None:
    """None if there is no such file. Raises OSError."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _with_any_text(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """A flipped bit may make text invalid UTF-8."""
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        return work(connection)
    finally:
        connection.text_factory = str


_DELETE_IF_BLANK = """
    DELETE FROM chats WHERE id = ? AND title = '' AND draft = '' AND draft_attachments = '[]' AND queue = '[]'
        AND NOT EXISTS (SELECT 1 FROM turns WHERE chat_id = chats.id)
"""


def _tidy(connection: sqlite3.Connection) -> None:
    """Marks streaming answers as stopped: they were interrupted by the end of an earlier run."""
    adopt_orphans(connection)
    name_anew(connection)
    cut_off = (TurnState.STREAMING,)
    connection.execute(
        "DELETE FROM turns_found WHERE rowid IN (SELECT number FROM turns WHERE state = ?)", cut_off
    )
    index_messages(connection, f"state = '{TurnState.STREAMING}'")
    connection.execute(
        "UPDATE turns SET state = ?, notice = ? WHERE state = ?",
        (TurnState.STOPPED, INTERRUPTED, TurnState.STREAMING),
    )
    delete_chats(connection, f"deleted_at < {time.time() - TRASH_DAYS * 24 * 3600}")
    delete_unused(connection)
    connection.execute("DELETE FROM drafts WHERE owner <> '' AND owner NOT IN (SELECT id FROM chats)")


def _cut_off(connection: sqlite3.Connection) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT DISTINCT chat_id FROM turns JOIN chats ON chats.id = chat_id "
        "WHERE state = ? AND deleted_at IS NULL",
        (TurnState.STREAMING,),
    )
    return tuple(chat_id for (chat_id,) in rows)


def _has_chats(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM chats LIMIT 1").fetchone() is not None


def _load_chat(connection: sqlite3.Connection, chat_id: str) -> SavedChat | None:
    return next(read_chats(connection, "id = ?", (chat_id,)), None)


def _why_not_saved(error: sqlite3.Error | OSError | UnicodeDecodeError, path: Path) -> str:
    if _code(error) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return DAMAGED_DATABASE
    if _code(error) == sqlite3.SQLITE_FULL or getattr(error, "errno", None) == errno.ENOSPC:
        return said(
            "Chats are not being saved: the disk with {folder} is full. Free some space.", folder=path.parent
        )
    return said(
        "Chats are not being saved: {reason} ({path}). Check that the folder is writable.",
        reason=getattr(error, "strerror", None) or str(error),
        path=path,
    )
