"""Checksums of messages: SQLite itself does not notice a flipped bit in a text."""

import sqlite3
import zlib

NO_ROUNDS = "[]"


def checksum(
    turn_id: str, parent_id: str, role: str, text: str, attachments: str, rounds: str = NO_ROUNDS
) -> int:
    """CRC-32 of a message: text, chat, role, attachments and rounds of calls (JSON as stored)."""
    parts = [turn_id, parent_id, role, text, attachments]
    parts += [] if rounds == NO_ROUNDS else [rounds]  # those without were written before there were any
    return zlib.crc32("\0".join(parts).encode("utf-8", "replace"))


def damaged_turn_ids(connection: sqlite3.Connection) -> list[str]:
    """Of all chats. Without checksums, as in old databases, none count as damaged."""
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
