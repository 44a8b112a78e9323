"""Tells whether a message is as it was written: SQLite itself does not notice a flipped bit in a text."""

import sqlite3
import zlib


def checksum(role: str, text: str, attachments: str) -> int:
    """CRC-32 of what was said, by whom, and of what came with it (JSON, as it is stored)."""
    return zlib.crc32(f"{role}\0{text}\0{attachments}".encode("utf-8", "replace"))


def damaged_turn_ids(connection: sqlite3.Connection) -> list[str]:
    """Of all chats. A database from before there were checksums has none that are damaged."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(turns)")}
    if "checksum" not in columns:
        return []
    rows = connection.execute("SELECT id, role, text, attachments, checksum FROM turns")
    return [
        turn_id
        for turn_id, role, text, attachments, expected in rows
        if expected is not None and expected != checksum(role, text, attachments)
    ]
