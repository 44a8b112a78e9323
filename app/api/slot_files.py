"""States of slots in files: tokens and state, with the fingerprint of the engine they are valid for.

Readable by their owner only, but not encrypted: who can write to the folder is trusted. Any thread.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import xxhash

from app.protocol.errors import InvalidRequestError
from app.protocol.report import SavedState
from app.system.files import replacing

MAGIC = b"skein slot 1\n"
MAX_NAME_CHARS = 200
HEAD_NUMBERS = 4  # checksum of all that follows, bytes of the fingerprint, tokens, bytes of the state
DAMAGED = "This file is no saved slot, or it is damaged."


def path_of(folder: Path, name: str) -> Path:
    """Raises InvalidRequestError: it is a name, no path."""
    is_name = name.isprintable() and not name.startswith(".") and not set(name) & set('/\\:*?"<>|')
    if not is_name or not 0 < len(name) <= MAX_NAME_CHARS:
        raise InvalidRequestError("filename: the name of a file, without a folder.")
    return folder / name


def write(path: Path, saved: SavedState) -> int:
    """How many bytes it has. What was there is replaced once all is on disk. Raises OSError."""
    fingerprint = saved.fingerprint.encode()
    tokens = np.array(saved.token_ids, "<i4")
    checksum = xxhash.xxh3_64()
    for part in (fingerprint, tokens.data, saved.state.data):
        checksum.update(part)
    sizes = np.array([checksum.intdigest(), len(fingerprint), tokens.size, saved.state.nbytes], "<u8")
    with replacing(path) as file:
        for part in (MAGIC, sizes.data, fingerprint, tokens.data, saved.state.data):
            file.buffer.write(part)
        return file.buffer.tell()


def read(path: Path) -> tuple[SavedState, int]:
    """And how many bytes it has. Raises InvalidRequestError and OSError."""
    if not path.is_file():  # to open a pipe would wait for its writer
        raise InvalidRequestError(f"There is no saved slot of the name {path.name}.")
    with path.open("rb") as file:
        head = file.read(len(MAGIC) + 8 * HEAD_NUMBERS)
        if not head.startswith(MAGIC) or len(head) < len(MAGIC) + 8 * HEAD_NUMBERS:
            raise InvalidRequestError(DAMAGED)
        checksum, *sizes = np.frombuffer(head[len(MAGIC) :], "<u8").tolist()
        num_fingerprint, num_tokens, num_state = sizes
        rest = os.fstat(file.fileno()).st_size - len(head)
        if rest != num_fingerprint + 4 * num_tokens + num_state:
            raise InvalidRequestError(DAMAGED)
        content = np.fromfile(file, np.uint8, rest)
    if content.nbytes != rest or xxhash.xxh3_64_intdigest(content.data) != checksum:
        raise InvalidRequestError(DAMAGED)
    fingerprint, tokens, state = np.split(content, np.cumsum([num_fingerprint, 4 * num_tokens]))
    token_ids = tuple(np.frombuffer(tokens.tobytes(), "<i4").tolist())
    text = fingerprint.tobytes().decode("utf-8", "replace")
    return SavedState(token_ids, state.copy(), text), len(head) + rest
