"""LM Studio's conversations: one `.conversation.json` each, in which every message has versions. Any thread.

Versions belong to a message there, not to its parent: whatever follows a message follows its selected
version.
"""

from typing import Any

from app.chats.imports.sketch import (
    Kinds,
    Shape,
    Sketch,
    SketchNode,
    fields_of,
    id_of,
    items_of,
    leaves,
    name_of,
    seconds_of,
    text_of,
    unread,
)
from app.chats.imports.tool_calls import Pieces

NAME = "LM Studio"

_SYSTEM_PROMPT = "llm.prediction.systemPrompt"
_FILES = ("file", "image")
_CONTENT: Shape = Kinds(
    "type",
    {
        "text": leaves("type text"),
        **dict.fromkeys(_FILES, leaves("type name fileIdentifier fileType sizeBytes")),
        "toolCallRequest": leaves("type callId toolCallRequestId name parameters arguments pluginIdentifier"),
        "toolCallResult": leaves("type callId toolCallId toolCallRequestId name content"),
    },
)
_STEP: Shape = Kinds(
    "type",
    {
        "contentBlock": {**leaves("type stepIdentifier genInfo style prefix suffix"), "content": _CONTENT},
        "toolStatus": leaves("type stepIdentifier callId statusState"),
        "debugInfoBlock": leaves("type stepIdentifier debugInfo"),
    },
)
_VERSION: Shape = {
    **leaves("type role senderInfo preprocessed"),
    "content": _CONTENT,
    "steps": _STEP,
}
_SHAPE: Shape = {
    "messages": {"versions": _VERSION, "currentlySelected": None},
    **leaves("name createdAt preset systemPrompt perChatPredictionConfig lastUsedModel"),
    **leaves("plugins pluginConfigs disabledPluginTools"),
}


def is_mine(entry: dict[str, Any]) -> bool:
    messages = items_of(entry.get("messages"))
    return bool(messages) and "versions" in fields_of(messages[0])


def sketch(entry: dict[str, Any]) -> Sketch:
    result = Sketch(
        source_id=id_of(entry.get("createdAt")),
        title=name_of(entry.get("name")),
        system_prompt=_system_prompt(entry),
        created_at=seconds_of(entry.get("createdAt")),
        is_pinned=entry.get("pinned") is True,
        unread=unread(entry, _SHAPE),
    )
    parent = ""
    for index, message in enumerate(map(fields_of, items_of(entry.get("messages")))):
        versions = [fields_of(version) for version in items_of(message.get("versions"))]
        nodes = [_node(f"{index}.{number}", parent, version) for number, version in enumerate(versions)]
        result.nodes += nodes
        result.num_left_out += sum(map(_num_files, versions))
        if nodes:
            parent = nodes[_selected(message.get("currentlySelected"), len(nodes))].id
    result.current = parent
    return result


def _selected(value: object, num_versions: int) -> int:
    is_index = isinstance(value, int) and 0 <= value < num_versions
    return value if is_index else num_versions - 1  # type: ignore[return-value]


def _system_prompt(entry: dict[str, Any]) -> str:
    config = items_of(fields_of(entry.get("perChatPredictionConfig")).get("fields"))
    own = next((each for each in map(fields_of, config) if each.get("key") == _SYSTEM_PROMPT), {})
    return text_of(own.get("value")) or text_of(entry.get("systemPrompt"))


def _node(node_id: str, parent: str, version: dict[str, Any]) -> SketchNode:
    node = SketchNode(node_id, parent, text_of(version.get("role")))
    blocks = _blocks(version)
    pieces = Pieces()
    for block in blocks or [version]:
        _take(block, pieces)
    pieces.put_into(node)
    if blocks:
        made_by = [fields_of(block.get("genInfo")) for block in blocks]
        names = [
            name_of(one.get("identifier")) or name_of(one.get("indexedModelIdentifier")) for one in made_by
        ]
        node.model = next(filter(None, reversed(names)), "")
        node.created_at = seconds_of(_began(blocks[0]))
    node.model = node.model or name_of(fields_of(version.get("senderInfo")).get("senderName"))
    return node


def _blocks(version: dict[str, Any]) -> list[dict[str, Any]]:
    steps = map(fields_of, items_of(version.get("steps")))
    return [step for step in steps if step.get("type") == "contentBlock"]


def _take(block: dict[str, Any], pieces: Pieces) -> None:
    is_thinking = fields_of(block.get("style")).get("type") == "thinking"
    tell = pieces.think if is_thinking else pieces.say
    text = text_of(block.get("content"))
    for part in map(fields_of, items_of(block.get("content"))):
        match part.get("type"):
            case "text":
                text += text_of(part.get("text"))
            case "toolCallRequest":
                tell(text)
                text = ""
                pieces.call(_call_id(part), part.get("name"), part.get("parameters") or part.get("arguments"))
            case "toolCallResult":
                pieces.result(_call_id(part), _joined(part.get("content")))
    tell(text)


def _call_id(part: dict[str, Any]) -> str:
    return next(
        filter(None, (id_of(part.get(key)) for key in ("toolCallRequestId", "toolCallId", "callId"))), ""
    )


def _joined(content: object) -> str:
    """A result's: a text, or parts."""
    parts = [fields_of(part) for part in items_of(content)]
    return text_of(content) or "".join(
        text_of(part.get("text")) for part in parts if part.get("type") == "text"
    )


def _began(step: dict[str, Any]) -> int:
    """A step is called by the milliseconds at which it began: "1780959836856-0.2"."""
    digits = text_of(step.get("stepIdentifier")).partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) == 13 else 0


def _num_files(version: dict[str, Any]) -> int:
    parts = [
        *items_of(version.get("content")),
        *(part for block in _blocks(version) for part in items_of(block.get("content"))),
    ]
    return sum(fields_of(part).get("type") in _FILES for part in parts)
