"""Jan's threads: `thread.json` and, beside it, `messages.jsonl` with one message a line. Any thread."""

from pathlib import Path
from typing import Any

from app.chats.imports.entries import MAX_ENTRY_BYTES, entries, parse
from app.chats.imports.media import from_parts
from app.chats.imports.problems import no_messages, not_readable, too_large
from app.chats.imports.sketch import (
    Node,
    Sketch,
    fields_of,
    id_of,
    in_a_row,
    items_of,
    name_of,
    seconds_of,
    text_of,
)
from app.protocol.request import Role

NAME = "Jan"

THREAD, MESSAGES = "thread.json", "messages.jsonl"


def is_mine(entry: dict[str, Any]) -> bool:
    return entry.get("object") == "thread" or "assistants" in entry


def sketch(entry: dict[str, Any], folder: Path) -> Sketch:
    """`folder` holds the messages. Raises BadChatError."""
    assistant = next((fields_of(each) for each in items_of(entry.get("assistants"))), {})
    model = fields_of(assistant.get("model")) or fields_of(entry.get("model"))
    result = Sketch(
        source_id=id_of(entry.get("id")),
        title=name_of(entry.get("title")),
        system_prompt=text_of(assistant.get("instructions")),
        created_at=seconds_of(entry.get("created")),
        is_pinned=fields_of(entry.get("metadata")).get("is_favorite") is True,
    )
    stored = _messages(folder / MESSAGES)
    nodes = [_node(index, message, name_of(model.get("id"))) for index, message in enumerate(stored, start=1)]
    result.nodes = in_a_row(nodes)
    num_taken = sum(len(node.attachments) for node in nodes)
    result.num_left_out = sum(map(_num_files, stored)) - num_taken
    return result


def _messages(path: Path) -> list[dict[str, Any]]:
    try:
        if path.exists() and not path.is_file():
            raise no_messages()
        if path.stat().st_size > MAX_ENTRY_BYTES:
            raise too_large(MAX_ENTRY_BYTES >> 20)
        lines = [line for line in path.read_bytes().split(b"\n") if line.strip()]
    except FileNotFoundError:
        raise no_messages() from None
    except OSError as error:
        raise not_readable(error) from None
    return [parse(line, found) for line in lines for found in entries(line)]


def _node(index: int, message: dict[str, Any], model: str) -> Node:
    role = text_of(message.get("role"))
    parts = [fields_of(part) for part in items_of(message.get("content"))]
    return Node(
        id_of(message.get("id")) or f"#{index}",
        "",
        role,
        "\n\n".join(filter(None, (_text(part) for part in parts if part.get("type") == "text"))),
        thinking="\n\n".join(
            filter(None, (_text(part) for part in parts if part.get("type") == "reasoning"))
        ),
        model=model if role == Role.ASSISTANT else "",
        created_at=seconds_of(message.get("created_at")),
        attachments=tuple(from_parts(items_of(message.get("content")))),
    )


def _text(part: dict[str, Any]) -> str:
    return text_of(fields_of(part.get("text")).get("value"))


def _num_files(message: dict[str, Any]) -> int:
    return sum(fields_of(part).get("type") == "image_url" for part in items_of(message.get("content")))
