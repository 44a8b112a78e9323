"""Checksums of messages: SQLite itself does not notice a flipped bit in a text."""

import sqlite3
import zlib


def checksum(turn_id: str, parent_id: str, role: str, text: str, attachments: str) -> int:
    """CRC-32 of a message: text, chat, role and attachments (JSON as stored)."""
    return zlib.crc32(f"{turn_id}\0{parent_id}\0{role}\0{text}\0{attachments}".encode("utf-8", "replace"))


def damaged_turn_ids(connection: sqlite3.Connection) -> list[str]:
    """Of all chats. Without checksums, as in old databases, none count as damaged."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(turns)")}
    if "checksum" not in columns:
        return []
    connection.text_factory = bytes  # damaged text may be invalid UTF-8
    try:
        rows = connection.execute("SELECT checksum, id, parent_id, role, text, attachments FROM turns")
        return [
            parts[0].decode("utf-8", "replace")
            for expected, *parts in rows
            if expected is not None and expected != zlib.crc32(b"\0".join(parts))
        ]
    finally:
        connection.text_factory = str
