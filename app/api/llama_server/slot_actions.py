"""POST /slots/N?action=save|restore|erase: the state of a slot to a file, back, or gone.

A prompt finds what was restored by its beginning, in whatever slot it is: `id_slot` of an answer tells which
slot it used.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from pathlib import Path
from typing import Any

from aiohttp import web

from app.api import slot_files
from app.api.errors import ApiError, invalid
from app.api.json_body import Body, json_response, read_fields
from app.api.state import CLIENT
from app.protocol.commands import EraseSlot, FillSlot, SaveSlot

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
        query = EraseSlot(uuid.uuid4().hex, int(seq_id))
        answer = await request.app[CLIENT].ask(query)
        return json_response({"id_slot": int(seq_id), "n_erased": answer.num_tokens})
    if action not in ("save", "restore"):
        raise invalid("action: save, restore or erase.")
    folder = request.app.get(SLOT_FOLDER)
    if folder is None:
        raise ApiError(501, NO_FOLDER)
    path = slot_files.path_of(folder, (await read_fields(request, FileFields)).filename)
    try:
        body = await (_save if action == "save" else _restore)(request, int(seq_id), path)
    except OSError as error:
        raise ApiError(500, f"{path.name}: {error.strerror or error}") from error
    return json_response({"id_slot": int(seq_id), "filename": path.name} | body)


async def _save(request: web.Request, seq_id: int, path: Path) -> dict[str, Any]:
    started = time.perf_counter()
    answer = await request.app[CLIENT].ask(SaveSlot(uuid.uuid4().hex, seq_id))
    assert answer.saved
    num_bytes = await asyncio.to_thread(slot_files.write, path, answer.saved)
    return {"n_saved": answer.num_tokens, "n_written": num_bytes, "timings": {"save_ms": _since(started)}}


async def _restore(request: web.Request, seq_id: int, path: Path) -> dict[str, Any]:
    started = time.perf_counter()
    saved, num_bytes = await asyncio.to_thread(slot_files.read, path)
    answer = await request.app[CLIENT].ask(FillSlot(uuid.uuid4().hex, seq_id, saved))
    return {"n_restored": answer.num_tokens, "n_read": num_bytes, "timings": {"restore_ms": _since(started)}}


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
