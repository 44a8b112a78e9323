"""LM Studio's conversations: one `.conversation.json` each, in which every message has versions. Any thread.

Versions belong to a message there, not to its parent: whatever follows a message follows its selected
version.
"""

from typing import Any

from app.chats.imports.sketch import Node, Sketch, fields_of, id_of, items_of, name_of, seconds_of, text_of

NAME = "LM Studio"

_SYSTEM_PROMPT = "llm.prediction.systemPrompt"


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


def _node(node_id: str, parent: str, version: dict[str, Any]) -> Node:
    node = Node(node_id, parent, text_of(version.get("role")), text=_joined(version.get("content")))
    steps = [fields_of(step) for step in items_of(version.get("steps"))]
    blocks = [step for step in steps if step.get("type") == "contentBlock"]
    if blocks:
        node.thinking = "\n\n".join(filter(None, (_text(step) for step in blocks if _is_thinking(step))))
        node.text = "\n\n".join(filter(None, (_text(step) for step in blocks if not _is_thinking(step))))
        made_by = fields_of(blocks[-1].get("genInfo"))
        node.model = name_of(made_by.get("identifier")) or name_of(made_by.get("indexedModelIdentifier"))
        node.created_at = seconds_of(_began(blocks[0]))
    node.model = node.model or name_of(fields_of(version.get("senderInfo")).get("senderName"))
    return node


def _is_thinking(step: dict[str, Any]) -> bool:
    return fields_of(step.get("style")).get("type") == "thinking"


def _text(step: dict[str, Any]) -> str:
    return _joined(step.get("content"))


def _joined(content: object) -> str:
    parts = [fields_of(part) for part in items_of(content)]
    return "".join(text_of(part.get("text")) for part in parts if part.get("type") == "text")


def _began(step: dict[str, Any]) -> int:
    """A step is called by the milliseconds at which it began: "1780959836856-0.2"."""
    digits = text_of(step.get("stepIdentifier")).partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) == 13 else 0


def _num_files(version: dict[str, Any]) -> int:
    return sum(fields_of(part).get("type") in ("file", "image") for part in items_of(version.get("content")))
