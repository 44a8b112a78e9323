"""Open WebUI's chat export: a list of chats, each with a tree in `chat.history`. Any thread."""

import html
import re
from typing import Any

from app.chats.attachment import Attachment
from app.chats.imports.media import from_url
from app.chats.imports.sketch import (
    Node,
    Sketch,
    duration_of,
    fields_of,
    id_of,
    in_a_row,
    items_of,
    name_of,
    seconds_of,
    text_of,
)

NAME = "Open WebUI"

_REASONING = re.compile(r'<details type="reasoning"[^>]*>(.*?)</details>\n?', re.DOTALL)
_SUMMARY = re.compile(r"\s*<summary>.*?</summary>\s*", re.DOTALL)
_DURATION = re.compile(r'<details type="reasoning"[^>]*\sduration="(\d{1,6})"')


def is_mine(entry: dict[str, Any]) -> bool:
    chat = _chat(entry)
    return isinstance(fields_of(chat.get("history")).get("messages"), dict)


def sketch(entry: dict[str, Any]) -> Sketch:
    chat = _chat(entry)
    history = fields_of(chat.get("history"))
    stored = fields_of(history.get("messages"))
    result = Sketch(
        source_id=id_of(entry.get("id")) or id_of(chat.get("id")),
        title=name_of(entry.get("title")) or name_of(chat.get("title")),
        system_prompt=text_of(fields_of(chat.get("params")).get("system")) or text_of(chat.get("system")),
        created_at=seconds_of(entry.get("created_at")) or seconds_of(chat.get("timestamp")),
        is_pinned=entry.get("pinned") is True,
        current=id_of(history.get("currentId")),
    )
    if stored:
        result.nodes = [_node(id_of(key), fields_of(message)) for key, message in stored.items()]
    else:  # chats from before there were versions
        rows = [fields_of(message) for message in items_of(chat.get("messages"))]
        result.nodes = in_a_row([_node(str(index), row) for index, row in enumerate(rows, start=1)])
    result.num_left_out = sum(
        len(items_of(fields_of(message).get("files"))) for message in stored.values()
    ) - sum(len(node.attachments) for node in result.nodes)
    return result


def _chat(entry: dict[str, Any]) -> dict[str, Any]:
    """A chat exported alone may lack its metadata."""
    return fields_of(entry.get("chat")) or entry


def _node(node_id: str, message: dict[str, Any]) -> Node:
    content = text_of(message.get("content"))
    thinking = "\n\n".join(_unquoted(found) for found in _REASONING.findall(content))
    duration = _DURATION.search(content)
    return Node(
        node_id,
        id_of(message.get("parentId")),
        text_of(message.get("role")),
        _REASONING.sub("", content).strip() if thinking else content,
        thinking=thinking,
        model=name_of(message.get("model")),
        created_at=seconds_of(message.get("timestamp")),
        thinking_s=duration_of(int(duration[1])) if duration else 0.0,
        attachments=tuple(_attachments(items_of(message.get("files")))),
    )


def _unquoted(details: str) -> str:
    """The thinking is stored there as an escaped quotation."""
    lines = _SUMMARY.sub("", details, count=1).strip("\n").split("\n")
    return "\n".join(html.unescape(re.sub(r"^(?:>|&gt;) ?", "", line)) for line in lines)


def _attachments(files: list[Any]) -> list[Attachment]:
    """The texts of files, and pictures that are in it."""
    found = []
    for each in map(fields_of, files):
        if picture := from_url(each.get("url"), each.get("name")):
            found.append(picture)
            continue
        file = fields_of(each.get("file"))
        if text := text_of(fields_of(file.get("data")).get("content")):
            found.append(Attachment(name_of(file.get("filename")) or name_of(each.get("name")), text))
    return found
