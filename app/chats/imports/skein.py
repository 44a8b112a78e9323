"""Skein's own format, as `exports.skein` writes it. Only the ids of turns are lost. Any thread."""

import re
import time
from dataclasses import replace
from typing import Any

from app.chats.attachment import Attachment, media_of
from app.chats.chat import FIRST, Chat, Turn, TurnState
from app.chats.exports.skein import FORMAT, VERSION
from app.chats.imports.entries import BadChatError, bad_value, no_messages
from app.chats.imports.media import from_base64
from app.chats.imports.sketch import (
    MAX_NAME_CHARS,
    Shape,
    SketchNode,
    fields_of,
    id_of,
    items_of,
    leaves,
    name_of,
    seconds_of,
    text_of,
)
from app.chats.imports.tree import arrange, id_from, in_tree_order, role_of
from app.chats.options import BadSamplingError, from_json
from app.chats.summary import from_json as summary_of
from app.chats.titles import MAX_TITLE_CHARS
from app.chats.tool_json import duration_of, reading_of, rounds_of, tools_of, usage_of
from app.protocol.request import Overflow
from app.system.said import said

NAME = "Skein"

MAX_TOKENS = 2**24
MAX_NOTICE_CHARS = 2_000
SHAPE: Shape = {
    **leaves("format version id title auto_title system_prompt created_at folder is_pinned is_notebook"),
    **leaves("overflow max_context_tokens max_tokens sampling tools shown"),
    "turns": {
        **leaves("id parent_id role text state notice model created_at overflowed thinking_s usage"),
        "attachments": {**leaves("name text kind"), "media": leaves("kind sha256 width height seconds file")},
        "reading": leaves("thinking answer"),
        "summary": leaves("text notice model created_at num_tokens num_replaced"),
        "rounds": {
            **leaves("text content reasoning is_whole thinking_s usage"),
            "uses": leaves("id tool arguments state result seconds num_told"),
        },
    },
}
_OWN_ID = re.compile("[0-9a-f]{32}")


def is_mine(entry: dict[str, Any]) -> bool:
    return entry.get("format") == FORMAT


def chat_of(entry: dict[str, Any]) -> Chat:
    """Raises BadChatError."""
    version = entry.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise BadChatError(said("It was written by a newer Skein. Update Skein to import it."))
    stored = [fields_of(turn) for turn in items_of(entry.get("turns"))]
    if not stored:
        raise no_messages()
    in_tree_order([SketchNode(id_of(turn.get("id")), id_of(turn.get("parent_id"))) for turn in stored])
    source_id = id_of(entry.get("id"))
    chat = Chat(
        id=source_id if _OWN_ID.fullmatch(source_id) else id_from(NAME, source_id),
        title=name_of(entry.get("title")),
        system_prompt=text_of(entry.get("system_prompt")),
        created_at=seconds_of(entry.get("created_at")) or time.time(),
        overflow=_overflow(entry.get("overflow")),
        max_context_tokens=_count("max_context_tokens", entry.get("max_context_tokens"), 0) or 0,
        auto_title=name_of(entry.get("auto_title"))[:MAX_TITLE_CHARS],
        folder=name_of(entry.get("folder")),
        is_pinned=entry.get("is_pinned") is True,
        is_notebook=entry.get("is_notebook") is True,
        sampling=_sampling(entry.get("sampling")),
        max_tokens=_count("max_tokens", entry.get("max_tokens"), 1),
        tools=tools_of(entry.get("tools")),
    )
    known = {id_of(turn.get("id")) for turn in stored}
    shown = id_of(entry.get("shown"))
    leaf_id = id_from(chat.id, shown if shown in known else id_of(stored[-1].get("id")))
    arrange(chat, [_turn(turn, chat, known) for turn in stored], leaf_id)
    return chat


def _turn(stored: dict[str, Any], chat: Chat, known: set[str]) -> Turn:
    parent = id_of(stored.get("parent_id"))
    return Turn(
        role=role_of(text_of(stored.get("role"))),
        text=text_of(stored.get("text")),
        state=_state(stored.get("state")),
        notice=text_of(stored.get("notice"))[:MAX_NOTICE_CHARS],
        model=name_of(stored.get("model")),
        usage=usage_of(stored.get("usage")),
        id=id_from(chat.id, id_of(stored.get("id"))),
        created_at=seconds_of(stored.get("created_at")) or chat.created_at,
        overflowed=stored.get("overflowed") is True,
        parent_id=id_from(chat.id, parent) if parent in known else FIRST,
        attachments=tuple(_attachment(fields_of(each)) for each in items_of(stored.get("attachments"))),
        thinking_s=duration_of(stored.get("thinking_s")),
        rounds=rounds_of(stored.get("rounds")),
        reading=reading_of(stored.get("reading")),
        summary=summary_of(stored.get("summary")),
    )


def _attachment(stored: dict[str, Any]) -> Attachment:
    name = text_of(stored.get("name"))[:MAX_NAME_CHARS]
    if media := media_of(stored.get("media")):
        found = from_base64(fields_of(stored.get("media")).get("file"), name)
        read = found.media if found else None
        file = read.file if read and read.sha256 == media.sha256 else b""
        return Attachment(name, "", name_of(stored.get("kind")), replace(media, file=file))
    return Attachment(name, text_of(stored.get("text")), name_of(stored.get("kind")) or "text")


def _state(value: object) -> TurnState:
    """An answer that was in progress at the export counts as stopped."""
    try:
        state = TurnState(text_of(value) or TurnState.DONE)
    except ValueError:
        raise bad_value("state") from None
    return TurnState.STOPPED if state is TurnState.STREAMING else state


def _overflow(value: object) -> Overflow:
    try:
        return Overflow(text_of(value) or Overflow.STOP)
    except ValueError:
        raise bad_value("overflow") from None


def _sampling(value: object) -> dict[str, Any]:
    try:
        return from_json(fields_of(value))
    except BadSamplingError as error:
        raise bad_value(error.name) from None


def _count(name: str, value: object, low: int) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= MAX_TOKENS:
        raise bad_value(name)
    return value
