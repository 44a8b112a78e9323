"""The bytes of pictures and sounds in the database, each once, under its SHA-256. The storage thread only.

Messages refer to them in their attachments. What nothing refers to is deleted with the chat that did, or at
the next start.
"""

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from app.media.reading import Pixels

NO_THUMBNAIL = Pixels(0, 0, b"")
_REFERENCE = re.compile(r'"sha256": "([0-9a-f]{64})"')
_TURNS_WITH_MEDIA = """SELECT attachments FROM turns WHERE instr(attachments, '"sha256"') > 0"""
_CHATS_WITH_MEDIA = """
    SELECT draft_attachments || queue FROM chats
    WHERE (instr(draft_attachments, '"sha256"') > 0 OR instr(queue, '"sha256"') > 0)
"""


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write_media(connection: sqlite3.Connection, data: bytes, thumbnail: Pixels = NO_THUMBNAIL) -> None:
    """A file that is there already gets the thumbnail it may lack."""
    connection.execute(
        "INSERT INTO media (id, data, thumbnail, width) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE "
        "SET thumbnail = excluded.thumbnail, width = excluded.width WHERE media.thumbnail = x''",
        (hash_of(data), data, thumbnail.rgb, thumbnail.width),
    )


def write_thumbnail(connection: sqlite3.Connection, sha256: str, thumbnail: Pixels) -> None:
    connection.execute(
        "UPDATE media SET thumbnail = ?, width = ? WHERE id = ?", (thumbnail.rgb, thumbnail.width, sha256)
    )


def read_media(connection: sqlite3.Connection, sha256: str) -> bytes | None:
    """None if it is not there, or not as it was written."""
    row = connection.execute("SELECT data FROM media WHERE id = ?", (sha256,)).fetchone()
    return row[0] if row and hash_of(row[0]) == sha256 else None


def read_thumbnail(connection: sqlite3.Connection, sha256: str) -> Pixels | None:
    """None if there is none yet."""
    row = connection.execute("SELECT thumbnail, width FROM media WHERE id = ?", (sha256,)).fetchone()
    if not row or not row[0] or row[1] <= 0 or len(row[0]) % (3 * row[1]):
        return None
    return Pixels(row[1], len(row[0]) // (3 * row[1]), row[0])


def referred_to(
    connection: sqlite3.Connection, chats: str = "1", parameters: Sequence[object] = ()
) -> set[str]:
    """What chats refer to, for which a condition on `chats` holds."""
    turns = f"{_TURNS_WITH_MEDIA} AND chat_id IN (SELECT id FROM chats WHERE {chats})"
    drafts = f"{_CHATS_WITH_MEDIA} AND {chats}"
    return {
        sha256
        for query in (turns, drafts)
        for (text,) in connection.execute(query, parameters)
        for sha256 in _REFERENCE.findall(text)
    }


def delete_unused(connection: sqlite3.Connection, among: Iterable[str] | None = None) -> None:
    """All that nothing refers to; or only those of `among`."""
    candidates = set(_all(connection) if among is None else among)
    if candidates:
        unused = candidates - referred_to(connection)
        connection.executemany("DELETE FROM media WHERE id = ?", [(sha256,) for sha256 in unused])


def _all(connection: sqlite3.Connection) -> Iterator[str]:
    return (sha256 for (sha256,) in connection.execute("SELECT id FROM media"))
