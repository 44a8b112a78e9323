"""Jan's threads: `thread.json` and, beside it, `messages.jsonl` with one message a line. Any thread."""

import json
from pathlib import Path
from typing import Any

from app.chats.attachment import Attachment
from app.chats.imports.entries import MAX_ENTRY_BYTES, entries, no_messages, not_readable, parse, too_large
from app.chats.imports.media import from_parts
from app.chats.imports.sketch import (
    Kinds,
    Shape,
    Sketch,
    SketchNode,
    fields_of,
    id_of,
    in_a_row,
    items_of,
    leaves,
    name_of,
    seconds_of,
    text_of,
    unread,
)
from app.chats.imports.tool_calls import Pieces
from app.protocol.request import Role

NAME = "Jan"

THREAD, MESSAGES = "thread.json", "messages.jsonl"

_TEXT: Shape = {"type": None, "text": leaves("value")}
_TOOL_CALL: Shape = leaves("type tool_call_id tool_name input output")
_MESSAGE: Shape = {
    **leaves("id object thread_id assistant_id role status created_at completed_at type error_code"),
    **leaves("attachments tool_call_id"),
    "content": Kinds("type", {"text": _TEXT, "reasoning": _TEXT, "tool_call": _TOOL_CALL, "image_url": None}),
    "metadata": {
        **leaves("tool_calls inline_file_contents usage assistant tokenSpeed parent_id parentId"),
        **leaves("createdAt created_at id model"),
    },
}
_THREAD: Shape = leaves("id object title assistants model created updated metadata order")


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
        unread=unread(entry, _THREAD),
    )
    stored = _messages(folder / MESSAGES)
    nodes = [_node(index, message, name_of(model.get("id"))) for index, message in enumerate(stored, start=1)]
    result.nodes = in_a_row(nodes)
    num_taken = sum(len(node.attachments) for node in nodes)
    result.num_left_out = sum(map(_num_files, stored)) - num_taken
    result.unread += unread(stored, _MESSAGE)
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


def _node(index: int, message: dict[str, Any], model: str) -> SketchNode:
    role = text_of(message.get("role"))
    node = SketchNode(
        id_of(message.get("id")) or f"#{index}",
        "",
        role,
        model=model if role == Role.ASSISTANT else "",
        created_at=seconds_of(message.get("created_at")),
        attachments=(*_files(message), *from_parts(items_of(message.get("content")))),
    )
    pieces = Pieces()
    for called in map(fields_of, items_of(fields_of(message.get("metadata")).get("tool_calls"))):
        tool = fields_of(called.get("tool"))
        function = fields_of(tool.get("function"))
        pieces.call(id_of(tool.get("id")), function.get("name"), function.get("arguments"))
        if text := _result(called.get("response")):
            pieces.result(id_of(tool.get("id")), text)
    for part in map(fields_of, items_of(message.get("content"))):
        match part.get("type"):
            case "text":
                pieces.say(_text(part))
            case "reasoning":
                pieces.think(_text(part))
            case "tool_call":
                pieces.call(id_of(part.get("tool_call_id")), part.get("tool_name"), part.get("input"))
                if text := _result(part.get("output")):
                    pieces.result(id_of(part.get("tool_call_id")), text)
    pieces.put_into(node)
    return node


def _result(output: object) -> str:
    """A text, the parts of an MCP result, or any value, which is files as JSON."""
    parts = [fields_of(part) for part in items_of(fields_of(output).get("content"))]
    text = text_of(output) or "\n".join(filter(None, (text_of(part.get("text")) for part in parts)))
    return text or (json.dumps(output, ensure_ascii=False) if output else "")


def _files(message: dict[str, Any]) -> list[Attachment]:
    files = map(fields_of, items_of(fields_of(message.get("metadata")).get("inline_file_contents")))
    return [
        Attachment(name_of(one.get("name")), text_of(one.get("content")))
        for one in files
        if one.get("content")
    ]


def _text(part: dict[str, Any]) -> str:
    return text_of(fields_of(part.get("text")).get("value"))


def _num_files(message: dict[str, Any]) -> int:
    pictures = [
        part for part in items_of(message.get("content")) if fields_of(part).get("type") == "image_url"
    ]
    return len(pictures) + len(items_of(message.get("attachments"))) + len(_files(message))
