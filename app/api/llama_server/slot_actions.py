"""POST /slots/N?action=save|restore|erase: the state of a slot to a file, back, or gone.

A prompt finds what was restored by its beginning, in whatever slot it is: `id_slot` of an answer tells which
slot it used.
"""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from aiohttp import web

from app.api.errors import ApiError, invalid
from app.api.json_body import Body, json_response, read_fields
from app.api.state import client_of, take_model
from app.protocol.commands import EraseSlot, FillSlot, SaveSlot
from app.protocol.errors import InvalidRequestError
from app.protocol.report import SavedState
from app.system.files import replacing

SLOT_FOLDER = web.AppKey("slot_folder", Path)
NO_FOLDER = "This server saves no slots. Start `skein serve` with --slot-save-path."


class FileFields(Body):
    filename: str


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_post("/slots/{id}", act)


async def act(request: web.Request) -> web.Response:
    seq_id, action = request.match_info["id"], request.query.get("action", "")
    if not seq_id.isdecimal() or len(seq_id) > 9:
        raise invalid("A slot is named by its number.")
    if action == "erase":
        await take_model(request)
        query = EraseSlot(uuid.uuid4().hex, int(seq_id))
        answer = await client_of(request).ask(query)
        return json_response({"id_slot": int(seq_id), "n_erased": answer.num_tokens})
    if action not in ("save", "restore"):
        raise invalid("action: save, restore or erase.")
    folder = request.app.get(SLOT_FOLDER)
    if folder is None:
        raise ApiError(501, NO_FOLDER)
    path = path_of(folder, (await read_fields(request, FileFields)).filename)
    await take_model(request)
    try:
        body = await (_save if action == "save" else _restore)(request, int(seq_id), path)
    except OSError as error:
        raise ApiError(500, f"{path.name}: {error.strerror or error}") from error
    return json_response({"id_slot": int(seq_id), "filename": path.name} | body)


async def _save(request: web.Request, seq_id: int, path: Path) -> dict[str, Any]:
    started = time.perf_counter()
    answer = await client_of(request).ask(SaveSlot(uuid.uuid4().hex, seq_id))
    assert answer.saved
    num_bytes = await asyncio.to_thread(write, path, answer.saved)
    return {"n_saved": answer.num_tokens, "n_written": num_bytes, "timings": {"save_ms": _since(started)}}


async def _restore(request: web.Request, seq_id: int, path: Path) -> dict[str, Any]:
    started = time.perf_counter()
    saved, num_bytes = await asyncio.to_thread(read, path)
    answer = await client_of(request).ask(FillSlot(uuid.uuid4().hex, seq_id, saved))
    return {"n_restored": answer.num_tokens, "n_read": num_bytes, "timings": {"restore_ms": _since(started)}}


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


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
