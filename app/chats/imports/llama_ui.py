"""llama.cpp's web page: `{"conv": …, "messages": [{"parent": …}]}`, or a list of them. Any thread.

Since June 2026 it writes a line `{"type": "session", …}`, which is the `conv`, and a line
`{"type": "message", "message": …}` for each message: see `Session`. Its first versions wrote
`{"id": …, "messages": [{"role": …, "content": …}]}`, in order and without a tree, as do many programs with an
OpenAI-like history.
"""

from typing import Any

from app.chats.attachment import Attachment
from app.chats.imports.entries import bad_value, check_size
from app.chats.imports.media import from_base64, from_parts, from_url
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
    says,
    seconds_of,
    text_of,
    unread,
)
from app.chats.imports.tool_calls import join_results, take_calls
from app.protocol.request import Role

NAME = "llama.cpp"

_THINKING = ("reasoningContent", "reasoning_content", "thinking")
_MEDIA = ("image_url", "input_audio")
_EXTRA: Shape = {
    **leaves("type name size mimeType content base64Url base64Data images processedAsImages presentation"),
    **leaves("artifactId serverName promptName arguments uri"),
}
_MESSAGE: Shape = {
    **leaves("id convId type timestamp role parent children model timings name thinking reasoningContent"),
    **leaves("reasoning_content toolCalls tool_calls toolCallId tool_call_id"),
    "content": Kinds("type", {"text": leaves("type text"), **dict.fromkeys(_MEDIA)}),
    "extra": _EXTRA,
}
_CONVERSATION: dict[str, Shape] = leaves(
    "id name title pinned currNode lastModified mcpServerOverrides forkedFromConversationId harness type"
)
_SHAPE: Shape = {
    **_CONVERSATION,
    "conv": _CONVERSATION,
    "messages": _MESSAGE,
    "lines": Kinds("type", {}),
}


class Session:
    """Lines that are one chat: as `entry`, in the older form. `lines` are those of no known type."""

    def __init__(self, first: dict[str, Any]) -> None:
        self.entry: dict[str, Any] = {"conv": first, "messages": [], "lines": []}
        self._num_bytes = self._num_values = 0

    def add(self, line: dict[str, Any], text: bytes) -> None:
        """Raises BadChatError for what one chat may not have."""
        self._num_bytes += len(text)
        self._num_values += text.count(b",") + text.count(b"[") + text.count(b"{")
        check_size(self._num_bytes, self._num_values)
        if line.get("type") == "message":
            self.entry["messages"].append(line.get("message"))
        else:
            self.entry["lines"].append(line)


def begins_session(line: dict[str, Any]) -> bool:
    return line.get("type") == "session"


def is_mine(entry: dict[str, Any]) -> bool:
    messages = items_of(entry.get("messages"))
    if isinstance(entry.get("conv"), dict):
        return isinstance(entry.get("messages"), list)
    return bool(messages) and {"role", "content"} <= fields_of(messages[0]).keys()


def sketch(entry: dict[str, Any]) -> Sketch:
    conversation = fields_of(entry.get("conv")) or entry
    result = Sketch(
        source_id=id_of(conversation.get("id")),
        title=name_of(conversation.get("name")) or name_of(conversation.get("title")),
        is_pinned=conversation.get("pinned") is True,
        current=id_of(conversation.get("currNode")),
        unread=unread(entry, _SHAPE),
    )
    stored = [fields_of(message) for message in items_of(entry.get("messages"))]
    result.nodes = [_node(index, message) for index, message in enumerate(stored, start=1)]
    if not any("parent" in message for message in stored):
        result.nodes = in_a_row(result.nodes)
        result.current = ""
    call_ids: dict[str, str] = {}
    for node, message in zip(result.nodes, stored, strict=True):
        calls = message.get("toolCalls") or message.get("tool_calls")
        take_calls(node, calls)
        result.unread["tool_calls"] += says(calls) and calls != "[]" and not node.rounds
        if node.role == Role.TOOL:
            call_ids[node.id] = id_of(message.get("toolCallId") or message.get("tool_call_id"))
        files = (*items_of(message.get("extra")), *filter(_is_media, items_of(message.get("content"))))
        result.num_left_out += len(files) - len(node.attachments)
    join_results(result.nodes, call_ids)
    _take_system_prompt(result)
    return result


def _take_system_prompt(result: Sketch) -> None:
    """The first message may be a system prompt."""
    said = [node for node in result.nodes if node.is_message]
    if said and said[0].role == Role.SYSTEM:
        result.system_prompt = said[0].text
        said[0].is_message = False


def _node(index: int, message: dict[str, Any]) -> SketchNode:
    content = message.get("content")
    if content is not None and not isinstance(content, str | list):
        raise bad_value("content")
    return SketchNode(
        id_of(message.get("id")) or f"#{index}",
        id_of(message.get("parent")),
        text_of(message.get("role")),
        _joined(content) if isinstance(content, list) else text_of(content),
        thinking=next(filter(None, (text_of(message.get(key)) for key in _THINKING)), ""),
        model=name_of(message.get("model")),
        created_at=seconds_of(message.get("timestamp")),
        attachments=(*_attachments(items_of(message.get("extra"))), *from_parts(items_of(content))),
        is_message=message.get("type") != "root",
    )


def _is_media(part: object) -> bool:
    return fields_of(part).get("type") in _MEDIA


def _joined(parts: list[Any]) -> str:
    return "".join(text_of(part) or text_of(fields_of(part).get("text")) for part in parts)


def _attachments(extras: list[Any]) -> list[Attachment]:
    """Attachments with a text, and pictures and sounds."""
    found = []
    for extra in map(fields_of, extras):
        name = extra.get("name")
        media = from_url(extra.get("base64Url"), name) or from_base64(extra.get("base64Data"), name)
        if media:
            found.append(media)
        elif text := text_of(extra.get("content")):
            found.append(Attachment(name_of(name) or "…", text))
    return found
