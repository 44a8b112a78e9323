"""Chats in the database: converts chats and turns to rows and back. The storage thread only."""

import json
import sqlite3
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self, TypeVar

from app.chats.attachment import Attachment, as_json, from_json, valid_unicode
from app.chats.chat import FIRST, Chat, QueuedMessage, Turn, TurnState
from app.chats.options import NAMES
from app.chats.summary import as_json as summary_as_json
from app.chats.summary import from_json as summary_of
from app.chats.tool_json import as_text, reading_as_json, reading_of, rounds_of, tools_of
from app.chats.tool_use import ToolRound
from app.protocol.output import NO_USAGE, Usage
from app.protocol.request import Overflow, Role
from app.storage.database import NO_ROUNDS, checksum
from app.storage.search import SEARCHED, add_function, searched
from app.system.said import from_text, said, to_text

J = TypeVar("J")

RECOVERED = said("Recovered chat")
DAMAGED = said("This message was damaged on disk.")


@dataclass(frozen=True, slots=True)
class ChatChange:
    """The changes of one chat to write: itself, and its new or changed turns."""

    chat: Chat  # a copy without turns
    leaf_id: str  # the last turn that is shown
    draft: str = ""
    draft_attachments: tuple[Attachment, ...] = ()
    turns: tuple[Turn, ...] = ()  # copies
    removed: tuple[str, ...] = ()  # ids of turns
    is_chat_itself: bool = True  # False: only its turns are written
    is_kept: bool = False  # also without turns, title and draft

    @classmethod
    def of_turns(cls, chat: Chat, turns: Iterable[Turn]) -> Self:
        """For a chat on disk: only these turns, whose text has grown."""
        return cls(Chat(chat.id), "", turns=tuple(turn.copied() for turn in turns), is_chat_itself=False)

    @classmethod
    def of(
        cls,
        chat: Chat,
        draft: str = "",
        draft_attachments: tuple[Attachment, ...] = (),
        turns: Iterable[Turn] | None = None,
        removed: Iterable[str] = (),
        leaf_id: str | None = None,
        *,
        is_kept: bool = False,
    ) -> Self:
        """With all its turns if none are named. `leaf_id` is for a chat whose turns are not loaded."""
        return cls(
            replace(chat, turns=[], asides={}, queue=list(chat.queue), sampling=dict(chat.sampling)),
            leaf_id or (chat.turns[-1].id if chat.turns else ""),
            draft,
            draft_attachments,
            tuple(turn.copied() for turn in (chat.all_turns() if turns is None else turns)),
            tuple(removed),
            is_kept=is_kept,
        )


@dataclass(frozen=True, slots=True)
class SavedChat:
    """`leaf_id` and `num_turns` describe turns that are not loaded yet."""

    chat: Chat
    draft: str = ""
    draft_attachments: tuple[Attachment, ...] = ()
    leaf_id: str = ""
    num_turns: int = 0


@dataclass(frozen=True, slots=True)
class SavedTurns:
    """All turns of one chat: the shown ones, oldest first, and the others by parent."""

    shown: list[Turn] = field(default_factory=list)
    asides: dict[str, list[Turn]] = field(default_factory=dict)


# Columns that hold an attribute as it is.
_PLAIN_OF_CHAT = (
    *("id", "title", "system_prompt", "created_at", "max_context_tokens", "auto_title", "folder"),
    *("max_tokens", "model_path", "shelf_id"),
)
_CHAT_COLUMNS = (
    *_PLAIN_OF_CHAT,
    *("overflow", "is_pinned", "sampling", "queue", "draft", "draft_attachments", "leaf_id"),
    *("is_notebook", "tools"),
)
_PLAIN_OF_TURN = "text", "model", "id", "created_at", "parent_id", "thinking_s"
_TURN_COLUMNS = (
    *_PLAIN_OF_TURN,
    *(
        "role",
        "state",
        "notice",
        "usage",
        "overflowed",
        "attachments",
        "rounds",
        "reading",
        "summary",
        "checksum",
    ),
)


def _upsert(table: str, columns: Sequence[str], unchanging: Collection[str]) -> str:
    """Takes the values of a row by the names of their columns."""
    values = ", ".join(f":{name}" for name in columns)
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in unchanging)
    names = ", ".join(columns)
    return f"INSERT INTO {table} ({names}) VALUES ({values}) ON CONFLICT (id) DO UPDATE SET {changes}"


_UPSERT_CHAT = (
    _upsert("chats", (*_CHAT_COLUMNS, "updated_at"), ("id", "created_at", "updated_at"))
    + ", updated_at = max(updated_at, excluded.updated_at)"
)
_UPSERT_TURN = (
    _upsert("turns", (*_TURN_COLUMNS, "chat_id"), ("id", "role", "created_at", "chat_id"))
    + " RETURNING number"
)
_SELECTED_TURN = ", ".join(f"turns.{name}" for name in _TURN_COLUMNS)

Row = Mapping[str, Any]


_FORGET_TURN = "DELETE FROM turns_found WHERE rowid = (SELECT number FROM turns WHERE id = ?)"


def write_chat(connection: sqlite3.Connection, change: ChatChange) -> None:
    if change.is_chat_itself:
        connection.execute(_UPSERT_CHAT, _storable(_chat_row(change)))
    for turn_id in change.removed:
        connection.execute(_FORGET_TURN, (turn_id,))
        connection.execute("DELETE FROM turns WHERE id = ?", (turn_id,))
    for turn in change.turns:
        _write_turn(connection, change.chat.id, turn)


def write_grown(connection: sqlite3.Connection, answers: Iterable[Turn]) -> None:
    """Answers that are on disk as being written. What was written meanwhile, and is newer, stays."""
    for turn in answers:
        known = connection.execute(
            "SELECT chat_id, text, rounds FROM turns WHERE id = ? AND state = ?",
            (turn.id, TurnState.STREAMING),
        ).fetchone()
        if known and not _has_more(known[1], known[2], turn):
            _write_turn(connection, known[0], turn)


def _has_more(text: str, rounds: str, turn: Turn) -> bool:
    """What is on disk was written after `turn`."""
    if rounds == as_text(turn.rounds):
        return len(text) > len(turn.text)
    return _progress(text, rounds_of(_from_json(rounds, []))) > _progress(turn.text, turn.rounds)


def _progress(text: str, rounds: Sequence[ToolRound]) -> tuple[int, ...]:
    """The order of states of an answer; what was written later is never less."""
    last = rounds[-1] if rounds else ToolRound()
    size = sum(len(use.arguments) + len(use.result) for use in last.uses)
    return len(rounds), len(last.text), size, len(text)


def index_anew(connection: sqlite3.Connection) -> None:
    """Rebuilds the search index from the messages, whatever its state."""
    ((how,),) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'turns_found'").fetchall()
    connection.execute("DROP TABLE turns_found")
    connection.execute(how)
    index_messages(connection, "state <> 'streaming'")


def index_messages(connection: sqlite3.Connection, where: str) -> None:
    """Puts those that are not there into the search index."""
    add_function(connection)
    connection.execute(
        f"INSERT INTO turns_found (rowid, text) SELECT number, {SEARCHED} FROM turns WHERE {where}"
    )


def adopt_orphans(connection: sqlite3.Connection) -> None:
    """Gives messages without a chat a new one: a flipped bit may have changed either id."""
    connection.execute(
        "INSERT INTO chats (id, title, system_prompt, draft, created_at, updated_at) "
        "SELECT chat_id, ?, '', '', min(created_at), max(created_at) FROM turns "
        "WHERE chat_id NOT IN (SELECT id FROM chats) GROUP BY chat_id",
        (str(RECOVERED),),
    )


def name_anew(connection: sqlite3.Connection) -> None:
    """A chat whose id is no text any more could be listed, but not opened. In a transaction."""
    connection.text_factory = bytes
    try:
        ids = [chat_id for (chat_id,) in connection.execute("SELECT id FROM chats")]
    finally:
        connection.text_factory = str
    connection.execute("PRAGMA defer_foreign_keys = ON")
    for chat_id in ids:
        try:
            chat_id.decode()
        except UnicodeDecodeError:
            name = (uuid.uuid4().hex, chat_id)
            connection.execute("UPDATE chats SET id = ? WHERE CAST(id AS BLOB) = ?", name)
            for table in ("turns", "open_tabs", "closed_tabs"):
                connection.execute(f"UPDATE {table} SET chat_id = ? WHERE CAST(chat_id AS BLOB) = ?", name)


def delete_chats(connection: sqlite3.Connection, where: str) -> None:
    """For good, with their turns."""
    connection.execute(
        "DELETE FROM turns_found WHERE rowid IN "
        f"(SELECT number FROM turns JOIN chats ON chats.id = chat_id WHERE {where})"
    )
    connection.execute(f"DELETE FROM chats WHERE {where}")


def _newest(change: ChatChange) -> float:
    """A chat's date is that of its newest message: a draft, a name or a pin does not change it."""
    return max((turn.created_at for turn in change.turns), default=change.chat.created_at)


def read_chats(
    connection: sqlite3.Connection, where: str, parameters: Sequence[object] = ()
) -> Iterator[SavedChat]:
    """Without their turns."""
    rows = connection.execute(
        f"SELECT {', '.join(_CHAT_COLUMNS)}, (SELECT count(*) FROM turns WHERE chat_id = chats.id) "
        f"FROM chats WHERE {where}",
        parameters,
    )
    for *row, num_turns in rows:
        yield _saved_chat(dict(zip(_CHAT_COLUMNS, row, strict=True)), num_turns)


def read_turns(connection: sqlite3.Connection, chat_id: str, leaf_id: str) -> SavedTurns:
    """The path to `leaf_id`, or to the turn written last if that is missing."""
    rows = connection.execute(
        f"SELECT {_SELECTED_TURN} FROM turns WHERE chat_id = ? ORDER BY number", (chat_id,)
    )
    turns = [_read_turn(dict(zip(_TURN_COLUMNS, row, strict=True))) for row in rows]
    return arrange(turns, leaf_id)


def read_end(connection: sqlite3.Connection, chat_id: str, leaf_id: str, num_turns: int) -> list[Turn]:
    """The last turns of the path to `leaf_id`, oldest first."""
    rows = connection.execute(
        f"WITH RECURSIVE path (number, parent_id, depth) AS ("
        f"SELECT number, parent_id, 1 FROM turns WHERE id = ? AND chat_id = ? UNION ALL "
        f"SELECT turns.number, turns.parent_id, depth + 1 FROM path JOIN turns ON turns.id = path.parent_id "
        f"WHERE depth < ?) "
        f"SELECT {_SELECTED_TURN} FROM path JOIN turns ON turns.number = path.number ORDER BY depth DESC",
        (leaf_id, chat_id, num_turns),
    )
    return [_read_turn(dict(zip(_TURN_COLUMNS, row, strict=True))) for row in rows]


def arrange(turns: Sequence[Turn], leaf_id: str) -> SavedTurns:
    """Separates the shown path from the rest. A turn whose parent is missing becomes a root."""
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


def _write_turn(connection: sqlite3.Connection, chat_id: str, turn: Turn) -> None:
    """An answer that is being written is not indexed: doing that with every save would take too long."""
    row = _storable(_turn_row(turn)) | {"chat_id": chat_id}
    row["checksum"] = _checksum(row)
    ((number,),) = connection.execute(_UPSERT_TURN, row).fetchall()
    if turn.state is not TurnState.STREAMING:
        connection.execute("DELETE FROM turns_found WHERE rowid = ?", (number,))
        connection.execute(
            "INSERT INTO turns_found (rowid, text) VALUES (?, ?)",
            (number, searched(row["text"], row["rounds"])),
        )


def _checksum(row: Row) -> int:
    return checksum(*(row[name] for name in ("id", "parent_id", "role", "text", "attachments", "rounds")))


def _chat_row(change: ChatChange) -> Row:
    chat = change.chat
    return {name: getattr(chat, name) for name in _PLAIN_OF_CHAT} | {
        "overflow": chat.overflow,
        "is_pinned": chat.is_pinned,
        "sampling": json.dumps(chat.sampling),
        "queue": json.dumps([_queued(message) for message in chat.queue]),
        "draft": change.draft if change.draft.strip() else "",
        "draft_attachments": _to_json(change.draft_attachments),
        "leaf_id": change.leaf_id,
        "is_notebook": chat.is_notebook,
        "tools": json.dumps(chat.tools),
        "updated_at": _newest(change),
    }


def _saved_chat(row: Row, num_turns: int) -> SavedChat:
    chat = Chat(
        **{name: row[name] for name in _PLAIN_OF_CHAT},
        overflow=_OVERFLOWS.get(row["overflow"], Overflow.STOP),
        is_pinned=bool(row["is_pinned"]),
        sampling=_sampling(_from_json(row["sampling"], {})),
        queue=_queue(_from_json(row["queue"], [])),
        is_notebook=bool(row["is_notebook"]),
        tools=tools_of(_from_json(row["tools"], [])),
    )
    attachments = _draft_attachments(row["draft_attachments"])
    return SavedChat(chat, row["draft"], attachments, row["leaf_id"], num_turns)


def _sampling(stored: dict[str, Any]) -> dict[str, Any]:
    """Without settings that only another version knows."""
    return {name: stored[name] for name in NAMES & stored.keys()}


def _draft_attachments(stored: str) -> tuple[Attachment, ...]:
    try:
        return _attachments(_from_json(stored, []))
    except (TypeError, LookupError):
        return ()


def _queued(message: QueuedMessage) -> dict[str, Any]:
    return {"text": message.text, "attachments": [as_json(each) for each in message.attachments]}


def _queue(stored: list[dict[str, Any]]) -> list[QueuedMessage]:
    try:
        return [QueuedMessage(message["text"], _attachments(message["attachments"])) for message in stored]
    except (TypeError, LookupError):
        return []


def _turn_row(turn: Turn) -> Row:
    reading, summary = reading_as_json(turn), summary_as_json(turn.summary)
    return {name: getattr(turn, name) for name in _PLAIN_OF_TURN} | {
        "role": turn.role,
        "state": turn.state,
        "notice": to_text(turn.notice),
        "usage": json.dumps(asdict(turn.usage)) if turn.usage != NO_USAGE else "",
        "overflowed": turn.overflowed,
        "attachments": _to_json(turn.attachments),
        "rounds": as_text(turn.rounds),
        "reading": json.dumps(reading) if reading else "",
        "summary": json.dumps(summary) if summary else "",
    }


def _read_turn(row: Row) -> Turn:
    try:
        return _turn(row)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # of a bit flipped anywhere
        return _what_is_left(row)


def _what_is_left(row: Row) -> Turn:
    return Turn(
        _ROLES.get(row["role"], Role.ASSISTANT),
        str(row["text"]),
        _STATES.get(row["state"], TurnState.STOPPED),
        DAMAGED,
        id=row["id"],
        created_at=row["created_at"],
        parent_id=row["parent_id"],
        rounds=rounds_of(_from_json(row["rounds"], [])),
    )


def _turn(row: Row) -> Turn:
    is_damaged = row["checksum"] is not None and row["checksum"] != _checksum(row)
    attachments, rounds, reading, summary = (
        row[name] for name in ("attachments", "rounds", "reading", "summary")
    )
    return Turn(
        **{name: row[name] for name in _PLAIN_OF_TURN},
        role=_ROLES[row["role"]],
        state=_STATES[row["state"]],
        notice=DAMAGED if is_damaged else from_text(row["notice"]),
        usage=_usage(row["usage"]) if row["usage"] else NO_USAGE,
        overflowed=bool(row["overflowed"]),
        attachments=_attachments(json.loads(attachments)) if attachments != "[]" else (),
        rounds=rounds_of(_from_json(rounds, [])) if rounds != NO_ROUNDS else [],
        reading=reading_of(_from_json(reading, {})) if reading else None,
        summary=summary_of(_from_json(summary, {})) if summary else None,
    )


_OVERFLOWS = {str(overflow): overflow for overflow in Overflow}
_ROLES = {str(role): role for role in Role}
_STATES = {str(state): state for state in TurnState}
_USAGE_FIELDS = {known_field.name for known_field in fields(Usage)}


def _usage(text: str) -> Usage:
    """A later version may have other fields."""
    return Usage(**{name: value for name, value in json.loads(text).items() if name in _USAGE_FIELDS})


def _from_json(text: str, default: J) -> J:
    """Returns the default for damaged data, to save the rest of the chat."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return default
    return value if isinstance(value, type(default)) else default


def _to_json(attachments: Iterable[Attachment]) -> str:
    return json.dumps([as_json(attachment) for attachment in attachments])


def _attachments(stored: Iterable[dict[str, Any]]) -> tuple[Attachment, ...]:
    return tuple(map(from_json, stored))


def _storable(row: Row) -> dict[str, Any]:
    return {
        name: valid_unicode(str(value)) if isinstance(value, str) else value for name, value in row.items()
    }
