"""How a chat stands in the tables: rows from chats and turns, and back. The storage thread only."""

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from app.chats.attachment import Attachment
from app.chats.chat import FIRST, Chat, QueuedMessage, Turn, TurnState
from app.chats.text import valid_unicode
from app.engine.types import Overflow, Role, Usage


@dataclass(frozen=True, slots=True)
class ChatChange:
    """What has to be written of one chat: itself, and those of its turns that are new or changed."""

    chat: Chat  # a copy without turns
    leaf_id: str  # the last turn that is shown
    draft: str = ""
    draft_attachments: tuple[Attachment, ...] = ()
    turns: tuple[Turn, ...] = ()  # copies
    removed: tuple[str, ...] = ()  # ids of turns

    @classmethod
    def of(
        cls,
        chat: Chat,
        draft: str = "",
        draft_attachments: tuple[Attachment, ...] = (),
        turns: Iterable[Turn] | None = None,
        removed: Iterable[str] = (),
    ) -> Self:
        """Of all its turns if none are named."""
        return cls(
            replace(chat, turns=[], asides={}, queue=list(chat.queue), sampling=dict(chat.sampling)),
            chat.turns[-1].id if chat.turns else "",
            draft,
            draft_attachments,
            tuple(replace(turn) for turn in (chat.all_turns() if turns is None else turns)),
            tuple(removed),
        )


@dataclass(frozen=True, slots=True)
class SavedChat:
    """`leaf_id` and `num_turns` tell of turns that are not loaded yet."""

    chat: Chat
    draft: str = ""
    draft_attachments: tuple[Attachment, ...] = ()
    leaf_id: str = ""
    num_turns: int = 0


@dataclass(frozen=True, slots=True)
class SavedTurns:
    """All turns of one chat: those that are shown, oldest first, and the others by what they follow."""

    shown: list[Turn] = field(default_factory=list)
    asides: dict[str, list[Turn]] = field(default_factory=dict)


_CHAT_COLUMNS = (
    "id, title, system_prompt, created_at, overflow, max_context_tokens, auto_title, folder, is_pinned, "
    "sampling, max_tokens, queue, draft, draft_attachments, leaf_id"
)
_TURN_COLUMNS = (
    "role, text, state, notice, model, usage, id, created_at, overflowed, parent_id, attachments, thinking_s"
)
_UPSERT_CHAT = f"""
    INSERT INTO chats ({_CHAT_COLUMNS}, updated_at) VALUES ({", ".join("?" * 16)})
    ON CONFLICT (id) DO UPDATE SET title = excluded.title, system_prompt = excluded.system_prompt,
        overflow = excluded.overflow, max_context_tokens = excluded.max_context_tokens,
        auto_title = excluded.auto_title, folder = excluded.folder, is_pinned = excluded.is_pinned,
        sampling = excluded.sampling, max_tokens = excluded.max_tokens, queue = excluded.queue,
        draft = excluded.draft, draft_attachments = excluded.draft_attachments, leaf_id = excluded.leaf_id,
        updated_at = excluded.updated_at
"""
_UPSERT_TURN = f"""
    INSERT INTO turns ({_TURN_COLUMNS}, chat_id, checksum) VALUES ({", ".join("?" * 14)})
    ON CONFLICT (id) DO UPDATE SET text = excluded.text, state = excluded.state, notice = excluded.notice,
        model = excluded.model, usage = excluded.usage, overflowed = excluded.overflowed,
        parent_id = excluded.parent_id, thinking_s = excluded.thinking_s, checksum = excluded.checksum
    RETURNING number
"""


_FORGET_TURN = "DELETE FROM turns_found WHERE rowid = (SELECT number FROM turns WHERE id = ?)"


def write_chat(connection: sqlite3.Connection, change: ChatChange) -> None:
    connection.execute(_UPSERT_CHAT, _storable((*_chat_row(change), time.time())))
    for turn_id in change.removed:
        connection.execute(_FORGET_TURN, (turn_id,))
        connection.execute("DELETE FROM turns WHERE id = ?", (turn_id,))
    for turn in change.turns:
        _write_turn(connection, change.chat.id, turn)


def delete_chats(connection: sqlite3.Connection, where: str) -> None:
    """For good, with their turns."""
    connection.execute(
        "DELETE FROM turns_found WHERE rowid IN "
        f"(SELECT number FROM turns JOIN chats ON chats.id = chat_id WHERE {where})"
    )
    connection.execute(f"DELETE FROM chats WHERE {where}")


def read_chats(
    connection: sqlite3.Connection, where: str, parameters: Sequence[object] = ()
) -> Iterator[SavedChat]:
    """Without their turns."""
    rows = connection.execute(
        f"SELECT {_CHAT_COLUMNS}, (SELECT count(*) FROM turns WHERE chat_id = chats.id) FROM chats "
        f"WHERE {where}",
        parameters,
    )
    for row in rows:
        yield _saved_chat(row)


def read_turns(connection: sqlite3.Connection, chat_id: str, leaf_id: str) -> SavedTurns:
    """The path to `leaf_id`, or to the turn written last if that one is not there."""
    turns = [
        _turn(row)
        for row in connection.execute(
            f"SELECT {_TURN_COLUMNS} FROM turns WHERE chat_id = ? ORDER BY number", (chat_id,)
        )
    ]
    return arrange(turns, leaf_id)


def arrange(turns: Sequence[Turn], leaf_id: str) -> SavedTurns:
    """Tells the shown path from the rest. A turn whose predecessor is gone starts anew."""
    by_id = {turn.id: turn for turn in turns}
    for turn in turns:
        if turn.parent_id not in by_id:
            turn.parent_id = FIRST
    shown: list[Turn] = []
    turn_id = leaf_id if leaf_id in by_id else turns[-1].id if turns else FIRST
    while turn_id in by_id and len(shown) < len(turns):
        shown.append(by_id[turn_id])
        turn_id = by_id[turn_id].parent_id
    shown.reverse()
    on_path = {turn.id for turn in shown}
    asides: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.id not in on_path:
            asides.setdefault(turn.parent_id, []).append(turn)
    return SavedTurns(shown, asides)


def checksum(turn: Turn) -> int:
    """CRC-32 of what was said and by whom: SQLite itself would not notice a flipped bit."""
    said = f"{turn.role}\0{turn.text}\0{_to_json(turn.attachments)}"
    return zlib.crc32(said.encode("utf-8", "replace"))


def _write_turn(connection: sqlite3.Connection, chat_id: str, turn: Turn) -> None:
    """What is still being written is not searched: to index it anew each time would take too long."""
    row = _storable((*_turn_row(turn), chat_id, checksum(turn)))
    ((number,),) = connection.execute(_UPSERT_TURN, row).fetchall()
    if turn.state is not TurnState.STREAMING:
        connection.execute("DELETE FROM turns_found WHERE rowid = ?", (number,))
        connection.execute("INSERT INTO turns_found (rowid, text) VALUES (?, ?)", (number, row[1]))


def _chat_row(change: ChatChange) -> tuple[object, ...]:
    chat = change.chat
    return (
        chat.id,
        chat.title,
        chat.system_prompt,
        chat.created_at,
        chat.overflow,
        chat.max_context_tokens,
        chat.auto_title,
        chat.folder,
        chat.is_pinned,
        json.dumps(chat.sampling),
        chat.max_tokens,
        json.dumps([asdict(message) for message in chat.queue]),
        change.draft if change.draft.strip() else "",
        _to_json(change.draft_attachments),
        change.leaf_id,
    )


def _saved_chat(row: Sequence[Any]) -> SavedChat:
    (chat_id, title, system_prompt, created_at, overflow, max_context_tokens, auto_title, folder, is_pinned,
     sampling, max_tokens, queue, draft, draft_attachments, leaf_id, num_turns) = row  # fmt: skip
    chat = Chat(
        id=chat_id,
        title=title,
        system_prompt=system_prompt,
        created_at=created_at,
        overflow=Overflow(overflow),
        max_context_tokens=max_context_tokens,
        auto_title=auto_title,
        folder=folder,
        is_pinned=bool(is_pinned),
        sampling=json.loads(sampling),
        max_tokens=max_tokens,
        queue=[
            QueuedMessage(message["text"], _attachments(message["attachments"]))
            for message in json.loads(queue)
        ],
    )
    return SavedChat(chat, draft, _attachments(json.loads(draft_attachments)), leaf_id, num_turns)


def _turn_row(turn: Turn) -> tuple[object, ...]:
    usage = json.dumps(asdict(turn.usage)) if turn.usage != Usage() else ""
    state = (turn.state, turn.notice, turn.model, usage)
    attachments = _to_json(turn.attachments)
    return (
        turn.role, turn.text, *state, turn.id, turn.created_at, turn.overflowed, turn.parent_id, attachments,
        turn.thinking_s,
    )  # fmt: skip


def _turn(row: Sequence[Any]) -> Turn:
    (
        role,
        text,
        state,
        notice,
        model,
        usage,
        turn_id,
        created_at,
        overflowed,
        parent_id,
        attachments,
        thinking_s,
    ) = row
    return Turn(
        _ROLES[role],
        text,
        _STATES[state],
        notice,
        model,
        _usage(usage) if usage else Usage(),
        turn_id,
        created_at,
        bool(overflowed),
        parent_id,
        _attachments(json.loads(attachments)) if attachments != "[]" else (),
        thinking_s,
    )


_ROLES = {str(role): role for role in Role}
_STATES = {str(state): state for state in TurnState}
_USAGE_FIELDS = {known_field.name for known_field in fields(Usage)}


def _usage(text: str) -> Usage:
    """A later version may know other figures."""
    return Usage(**{name: value for name, value in json.loads(text).items() if name in _USAGE_FIELDS})


def _to_json(attachments: Iterable[Attachment]) -> str:
    return json.dumps([asdict(attachment) for attachment in attachments])


def _attachments(stored: Iterable[dict[str, str]]) -> tuple[Attachment, ...]:
    return tuple(Attachment(each["name"], each["text"], each["kind"]) for each in stored)


def _storable(row: Iterable[object]) -> tuple[Any, ...]:
    return tuple(valid_unicode(str(value)) if isinstance(value, str) else value for value in row)
