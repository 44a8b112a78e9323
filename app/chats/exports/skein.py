"""Skein's own format: JSON with everything a chat has, all versions of its turns, settings and attachments.

A file holds one such object, or a list of them. What is not in it: the draft, and messages that wait to be
sent. Any thread.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from app.chats.attachment import Attachment, as_json, valid_unicode
from app.chats.chat import Chat, Turn, TurnState
from app.chats.options import to_json
from app.chats.summary import as_json as summary_as_json
from app.chats.tool_json import as_objects, filled, reading_as_json
from app.protocol.output import Usage

FORMAT = "skein-chat"
VERSION = 1


def as_text(chat: Chat) -> str:
    return valid_unicode(json.dumps(as_object(chat), ensure_ascii=False, indent=1, allow_nan=False))


def as_object(chat: Chat) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": chat.id,
        "title": chat.title,
        "auto_title": chat.auto_title,
        "system_prompt": chat.system_prompt,
        "created_at": chat.created_at,
        "folder": chat.folder,
        "is_pinned": chat.is_pinned,
        "is_notebook": chat.is_notebook,
        "overflow": chat.overflow,
        "max_context_tokens": chat.max_context_tokens,
        "max_tokens": chat.max_tokens,
        "sampling": to_json(chat.sampling),
        "tools": list(chat.tools),
        "shown": chat.turns[-1].id if chat.turns else "",
        "turns": list(_turns(chat)),
    }


def _turns(chat: Chat) -> Iterator[dict[str, Any]]:
    """The shown turns first; fields with empty values are left out."""
    for turn in chat.all_turns():
        yield {"id": turn.id, "role": turn.role, "text": turn.text} | filled(_fields(turn))


def _fields(turn: Turn) -> dict[str, Any]:
    is_streaming = turn.state is TurnState.STREAMING
    return {
        "parent_id": turn.parent_id,
        "state": "" if turn.state is TurnState.DONE else (TurnState.STOPPED if is_streaming else turn.state),
        "notice": turn.notice,
        "model": turn.model,
        "created_at": turn.created_at,
        "overflowed": turn.overflowed,
        "thinking_s": turn.thinking_s,
        "rounds": as_objects(turn.rounds),
        "reading": reading_as_json(turn),
        "summary": summary_as_json(turn.summary),
        "attachments": [_attachment(attachment) for attachment in turn.attachments],
        "usage": asdict(turn.usage) if turn.usage != Usage() else {},
    }


def _attachment(attachment: Attachment) -> dict[str, Any]:
    """With the file of a picture or a sound, if the chat was given it."""
    fields, media = as_json(attachment), attachment.media
    if media and media.file:
        fields["media"]["file"] = base64.b64encode(media.file).decode()
    return fields
