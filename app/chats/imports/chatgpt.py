"""ChatGPT's data export: `conversations.json`, alone or in the .zip it comes in. Any thread.

A conversation is a `mapping` from ids to nodes with a parent; `current_node` is the last one shown.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from app.chats.attachment import Attachment, fenced
from app.chats.imports.media import FindFile, from_file
from app.chats.imports.sketch import (
    ANY,
    MAX_NAME_CHARS,
    Shape,
    Sketch,
    SketchNode,
    fields_of,
    id_of,
    items_of,
    leaves,
    name_of,
    paragraphs,
    says,
    seconds_of,
    text_of,
    unread,
)
from app.protocol.request import Role

NAME = "ChatGPT"

_PROGRAM_OUTPUT = frozenset({"execution_output", "system_error"})
_HIDDEN = "is_visually_hidden_from_conversation"
_NOT_SAID = frozenset({"user_editable_context", "model_editable_context", "tether_browsing_display"})
_MESSAGE: Shape = {
    **leaves("id create_time update_time status end_turn weight recipient channel content metadata"),
    "author": leaves("role name metadata"),
}
_SAID_KINDS = frozenset(
    {"text", "multimodal_text", "code", "execution_output", "thoughts", "reasoning_recap"}
)
_CONTENT: Shape = {
    **leaves("content_type text language response_format_name source_analysis_msg_id content thoughts"),
    "parts": {
        **leaves("content_type text asset_pointer audio_asset_pointer metadata format direction decoding_id"),
        **leaves("expiry_datetime video_container_asset_pointer frames_asset_pointers"),
    },
}
_SHAPE: Shape = {
    "mapping": {ANY: {**leaves("id parent children"), "message": _MESSAGE}},
    **leaves("id conversation_id title create_time update_time current_node default_model_slug is_archived"),
    **leaves(
        "moderation_results plugin_ids conversation_template_id gizmo_id gizmo_type safe_urls blocked_urls"
    ),
    **leaves("conversation_origin voice async_status disabled_tool_ids memory_scope sugar_item_id owner"),
    **leaves("context_scopes workspace_id"),
}
# What the page shows as a link or a name: U+E200, kind, U+E202, values, U+E201.
_MARK = re.compile("\ue200([^\ue200-\ue202]*)(?:\ue202([^\ue200\ue201]*))?\ue201")
_MARK_CHARS = re.compile("[\ue200-\ue206]")


def is_mine(entry: dict[str, Any]) -> bool:
    return isinstance(entry.get("mapping"), dict)


def sketch(entry: dict[str, Any], find: FindFile) -> Sketch:
    """`find` knows the files that came with it."""
    result = Sketch(
        source_id=id_of(entry.get("conversation_id")) or id_of(entry.get("id")),
        title=name_of(entry.get("title")),
        created_at=seconds_of(entry.get("create_time")),
        current=id_of(entry.get("current_node")),
        unread=unread(entry, _SHAPE),
    )
    default_model = name_of(entry.get("default_model_slug"))
    default_model = "" if default_model == "auto" else default_model
    for node_id, stored in _in_order(fields_of(entry.get("mapping"))):
        message = fields_of(stored.get("message"))
        node = _node(node_id, id_of(stored.get("parent")), message)
        if node.is_message:
            node.attachments = tuple(_pictures(message, find))
        result.nodes.append(node)
        result.num_left_out += _num_files(message) - len(node.attachments)
        result.unread += _left_out(node, message)
        if node.role == Role.ASSISTANT:
            node.model = node.model or default_model
    if system := next((node for node in result.nodes if node.role == Role.SYSTEM and node.text), None):
        system.is_message = False
        result.system_prompt = system.text
    return result


def _in_order(mapping: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The order of `children`, or by date: oldest version first."""
    place = {
        id_of(child): index
        for stored in mapping.values()
        for index, child in enumerate(items_of(fields_of(stored).get("children")))
    }

    def order(node_id: str) -> tuple[int, float]:
        message = fields_of(fields_of(mapping[node_id]).get("message"))
        return place.get(node_id, 0), seconds_of(message.get("create_time"))

    for node_id in sorted(mapping, key=order):
        yield id_of(node_id), fields_of(mapping[node_id])


def _node(node_id: str, parent: str, message: dict[str, Any]) -> SketchNode:
    content, metadata = fields_of(message.get("content")), fields_of(message.get("metadata"))
    kind = text_of(content.get("content_type"))
    role = text_of(fields_of(message.get("author")).get("role"))
    node = SketchNode(node_id, parent, role, created_at=seconds_of(message.get("create_time")))
    if not message or _is_hidden(message) or kind in _NOT_SAID:
        node.is_message = False
        return node
    node.model = name_of(metadata.get("model_slug"))
    if role == Role.TOOL:  # part of the answer it belongs to; what it fetched from the web is not
        node.role = Role.ASSISTANT
        node.text = _code(content) if kind in _PROGRAM_OUTPUT else ""
    elif kind == "thoughts":
        node.thinking = _thoughts(content)
    elif kind == "code":
        node.text = _code(content)
    elif kind != "reasoning_recap":  # "Thought for 8 seconds"
        node.text = _without_marks(_said(content), items_of(metadata.get("content_references")))
    return node


def _is_hidden(message: dict[str, Any]) -> bool:
    return fields_of(message.get("metadata")).get(_HIDDEN) is True


def _left_out(node: SketchNode, message: dict[str, Any]) -> Counter[str]:
    """The kind of a message that says something of which nothing is taken; else what of it is not taken."""
    content = fields_of(message.get("content"))
    kind = name_of(content.get("content_type"))
    parts = [part for part in items_of(content.get("parts")) if not _pointer(part)]
    is_taken = node.text or node.thinking or (node.attachments and not says(parts))
    if is_taken or kind == "reasoning_recap":
        return unread(content, _CONTENT) if kind in _SAID_KINDS else Counter()
    others = [value for key, value in content.items() if key not in ("content_type", "parts", "language")]
    if not says([others, parts]):
        return Counter()
    tool = name_of(fields_of(message.get("author")).get("name")) if kind == "text" else ""
    return Counter([_HIDDEN if _is_hidden(message) else tool or kind or "content"])


def _said(content: dict[str, Any]) -> str:
    parts = (text_of(part) or text_of(fields_of(part).get("text")) for part in items_of(content.get("parts")))
    return paragraphs(parts) or text_of(content.get("text"))


def _without_marks(text: str, references: list[Any]) -> str:
    """With the links that `references` have for citations, and names for what is named."""
    names = {text_of(one.get("matched_text")): text_of(one.get("alt")) for one in map(fields_of, references)}

    def shown(mark: re.Match[str]) -> str:
        return names.get(mark[0]) or (_name_in(mark[2] or "") if mark[1] == "entity" else "")

    return _MARK_CHARS.sub("", _MARK.sub(shown, text)) if "\ue200" in text else text


def _name_in(values: str) -> str:
    """The name in an entity such as `["city", "Paris", …]`."""
    try:
        return text_of(json.loads(values[:MAX_NAME_CHARS])[1])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def _thoughts(content: dict[str, Any]) -> str:
    thoughts = [fields_of(thought) for thought in items_of(content.get("thoughts"))]
    thinking = (paragraphs((text_of(each.get("summary")), text_of(each.get("content")))) for each in thoughts)
    return paragraphs(thinking)


def _code(content: dict[str, Any]) -> str:
    """What the model ran, or what came of it."""
    language = name_of(content.get("language"))
    text = text_of(content.get("text"))
    return fenced(text, "" if language == "unknown" else language) if text else ""


def _pictures(message: dict[str, Any], find: FindFile) -> Iterator[Attachment]:
    """A file's name begins with its id."""
    files = [fields_of(one) for one in items_of(fields_of(message.get("metadata")).get("attachments"))]
    names = {id_of(one.get("id")): name_of(one.get("name")) for one in files}
    for pointer in _pointers(message):
        file_id = pointer.rpartition("://")[2]
        if file_id and (picture := from_file(find(file_id), names.get(file_id, ""))):
            yield picture


def _pointers(message: dict[str, Any]) -> list[str]:
    """ "file-service://file-…" or "sediment://file_…": what was attached, and what a program has drawn."""
    parts = items_of(fields_of(message.get("content")).get("parts"))
    drawn = fields_of(fields_of(message.get("metadata")).get("aggregate_result")).get("messages")
    drawn_urls = (text_of(fields_of(one).get("image_url")) for one in items_of(drawn))
    return [pointer for pointer in (*map(_pointer, parts), *drawn_urls) if pointer]


def _pointer(part: object) -> str:
    spoken = fields_of(part).get("audio_asset_pointer")
    return text_of(fields_of(part).get("asset_pointer")) or text_of(fields_of(spoken).get("asset_pointer"))


def _num_files(message: dict[str, Any]) -> int:
    return len(_pointers(message)) or len(items_of(fields_of(message.get("metadata")).get("attachments")))
