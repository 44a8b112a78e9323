"""ChatGPT's data export: `conversations.json`, alone or in the .zip it comes in. Any thread.

A conversation is a `mapping` from ids to nodes with a parent; `current_node` is the last one shown.
"""

from collections.abc import Iterator
from typing import Any

from app.chats.attachment import Attachment, fenced
from app.chats.imports.media import FindFile, from_file
from app.chats.imports.sketch import Node, Sketch, fields_of, id_of, items_of, name_of, seconds_of, text_of
from app.protocol.request import Role

NAME = "ChatGPT"

_PROGRAM_OUTPUT = "execution_output"
_NOT_SAID = frozenset({"user_editable_context", "model_editable_context", "tether_browsing_display"})


def is_mine(entry: dict[str, Any]) -> bool:
    return isinstance(entry.get("mapping"), dict)


def sketch(entry: dict[str, Any], find: FindFile) -> Sketch:
    """`find` knows the files that came with it."""
    result = Sketch(
        source_id=id_of(entry.get("conversation_id")) or id_of(entry.get("id")),
        title=name_of(entry.get("title")),
        created_at=seconds_of(entry.get("create_time")),
        current=id_of(entry.get("current_node")),
    )
    for node_id, stored in _in_order(fields_of(entry.get("mapping"))):
        message = fields_of(stored.get("message"))
        node = _node(node_id, id_of(stored.get("parent")), message)
        node.attachments = tuple(_pictures(message, find))
        result.nodes.append(node)
        result.num_left_out += _num_files(message) - len(node.attachments)
    if system := next((node for node in result.nodes if node.role == Role.SYSTEM and node.text), None):
        system.is_message = False
        result.system_prompt = system.text
    return result


def _in_order(mapping: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """As `children` has them: oldest version first."""
    place = {
        id_of(child): index
        for stored in mapping.values()
        for index, child in enumerate(items_of(fields_of(stored).get("children")))
    }
    for node_id in sorted(mapping, key=lambda node_id: place.get(node_id, 0)):
        yield id_of(node_id), fields_of(mapping[node_id])


def _node(node_id: str, parent: str, message: dict[str, Any]) -> Node:
    content, metadata = fields_of(message.get("content")), fields_of(message.get("metadata"))
    kind = text_of(content.get("content_type"))
    role = text_of(fields_of(message.get("author")).get("role"))
    is_hidden = metadata.get("is_visually_hidden_from_conversation") is True
    node = Node(node_id, parent, role, created_at=seconds_of(message.get("create_time")))
    if not message or is_hidden or kind in _NOT_SAID:
        node.is_message = False
        return node
    node.model = name_of(metadata.get("model_slug"))
    if kind == "thoughts":
        node.thinking = _thoughts(content)
    elif kind in ("code", _PROGRAM_OUTPUT):
        node.text = _code(content)
    elif kind != "reasoning_recap":  # "Thought for 8 seconds"
        node.text = _said(content)
    if role == Role.TOOL:  # part of the answer it belongs to; what it fetched from the web is not
        node.role, node.is_message = Role.ASSISTANT, kind == _PROGRAM_OUTPUT
    return node


def _said(content: dict[str, Any]) -> str:
    parts = [text_of(part) or text_of(fields_of(part).get("text")) for part in items_of(content.get("parts"))]
    return "\n\n".join(part for part in parts if part) or text_of(content.get("text"))


def _thoughts(content: dict[str, Any]) -> str:
    thoughts = [fields_of(thought) for thought in items_of(content.get("thoughts"))]
    told = [
        "\n\n".join(filter(None, (text_of(each.get("summary")), text_of(each.get("content")))))
        for each in thoughts
    ]
    return "\n\n".join(filter(None, told))


def _code(content: dict[str, Any]) -> str:
    """What the model ran, or what came of it."""
    language = name_of(content.get("language"))
    text = text_of(content.get("text"))
    return fenced(text, "" if language == "unknown" else language) if text else ""


def _pictures(message: dict[str, Any], find: FindFile) -> Iterator[Attachment]:
    """`asset_pointer` is "file-service://file-…" or "sediment://file_…"; a file's name begins with its id."""
    told = [fields_of(one) for one in items_of(fields_of(message.get("metadata")).get("attachments"))]
    names = {id_of(one.get("id")): name_of(one.get("name")) for one in told}
    for part in items_of(fields_of(message.get("content")).get("parts")):
        file_id = text_of(fields_of(part).get("asset_pointer")).rpartition("://")[2]
        if file_id and (picture := from_file(find(file_id), names.get(file_id, ""))):
            yield picture


def _num_files(message: dict[str, Any]) -> int:
    parts = items_of(fields_of(message.get("content")).get("parts"))
    pictures = sum("asset_pointer" in fields_of(part) for part in parts)
    return pictures or len(items_of(fields_of(message.get("metadata")).get("attachments")))
