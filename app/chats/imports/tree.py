"""Makes a Chat of a Sketch: validates its tree, drops empty messages, and gives everything new ids.

Any thread. Nothing here recurses: a chat may be a hundred thousand messages long.
"""

import hashlib
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import replace

from app.chats.chat import FIRST, Chat, Turn
from app.chats.imports.entries import BadChatError, no_messages
from app.chats.imports.sketch import Sketch, SketchNode
from app.chats.titles import title_from
from app.protocol.request import Role
from app.system.said import said

MAX_MESSAGES = 100_000
_NAMESPACE = uuid.UUID("9c1d7f0e-5b0a-4f0e-9a53-3f1f4a2f8c11")


def chat_of(sketch: Sketch, source: str) -> Chat:
    """Raises BadChatError. The same entry gets the same chat id when it is imported again."""
    nodes = in_tree_order(sketch.nodes)
    current = _last_shown(nodes, sketch.current)
    nodes, current = _without_silent(nodes, current)
    nodes, current = _joined_answers(nodes, current)
    if not nodes:
        raise no_messages()
    chat_id = id_from(source, sketch.source_id or digest(nodes))
    created_at = sketch.created_at or min((node.created_at for node in nodes if node.created_at), default=0.0)
    chat = Chat(
        id=chat_id,
        title=sketch.title,
        system_prompt=sketch.system_prompt,
        created_at=created_at or time.time(),
        folder=sketch.folder,
        is_pinned=sketch.is_pinned,
    )
    arrange(chat, list(_turns(nodes, chat)), id_from(chat_id, current))
    chat.auto_title = title_from(next((turn.text for turn in chat.turns if turn.role is Role.USER), ""))
    return chat


def id_from(*parts: str) -> str:
    return uuid.uuid5(_NAMESPACE, "\0".join(parts)).hex


def arrange(chat: Chat, turns: Iterable[Turn], leaf_id: str) -> None:
    """Puts `turns`, parents before children, into an empty chat and shows the path to `leaf_id`."""
    by_id = {turn.id: turn for turn in turns}
    path: list[Turn] = []
    turn = by_id.get(leaf_id)
    while turn:
        path.append(turn)
        turn = by_id.get(turn.parent_id)
    chat.turns += reversed(path)
    on_path = {turn.id for turn in path}
    for each in by_id.values():
        if each.id not in on_path:
            chat.add_aside(each)


def renewed(chat: Chat) -> Chat:
    """A copy with new ids, to be imported beside the first."""
    turns = list(chat.all_turns())
    new_ids = {turn.id: uuid.uuid4().hex for turn in turns} | {FIRST: FIRST}
    copy = replace(chat, id=uuid.uuid4().hex, turns=[], asides={})
    copies = [
        replace(turn, id=new_ids[turn.id], parent_id=new_ids.get(turn.parent_id, FIRST)) for turn in turns
    ]
    arrange(copy, copies, new_ids[chat.turns[-1].id])
    return copy


def digest(nodes: Iterable[SketchNode]) -> str:
    """An id for chats of programs that give them none."""
    said = hashlib.sha256()
    for node in nodes:
        said.update(f"{node.role}\0{node.text}\0".encode())
    return said.hexdigest()


def in_tree_order(nodes: list[SketchNode]) -> list[SketchNode]:
    """Parents before children, siblings in their order. A node whose parent is missing becomes a root."""
    if len(nodes) > MAX_MESSAGES:
        raise BadChatError(said("It contains more than {count} messages.", count=f"{MAX_MESSAGES:,}"))
    by_id: dict[str, SketchNode] = {}
    for node in nodes:
        if node.id in by_id or not node.id:
            raise BadChatError(said("Two messages have the same id, “{id}”.", id=node.id))
        by_id[node.id] = node
    children: dict[str, list[SketchNode]] = {}
    for node in nodes:
        children.setdefault(node.parent if node.parent in by_id else FIRST, []).append(node)
    ordered: list[SketchNode] = []
    waiting = children.get(FIRST, [])[::-1]
    while waiting:
        node = waiting.pop()
        ordered.append(node)
        waiting += reversed(children.get(node.id, []))
    if len(ordered) < len(nodes):  # nodes that no root reaches form a cycle
        reached = {node.id for node in ordered}
        lost = next(node.id for node in nodes if node.id not in reached)
        raise BadChatError(said("Message “{id}” is its own ancestor.", id=lost))
    return ordered


def _last_shown(nodes: list[SketchNode], current: str) -> str:
    """`current`, and on from there the newest that follows; without one, the newest of all."""
    newest_child = {node.parent: node.id for node in nodes}  # the last of siblings wins
    known = {node.id for node in nodes}
    last = current if current in known else (nodes[-1].id if nodes else "")
    while last in newest_child:
        last = newest_child[last]
    return last


def _without_silent(nodes: list[SketchNode], current: str) -> tuple[list[SketchNode], str]:
    """Leaves out places without a message; what followed them follows what they followed."""
    stands_for: dict[str, str] = {FIRST: FIRST}
    kept: list[SketchNode] = []
    for node in nodes:
        parent = stands_for.get(node.parent, FIRST)
        if node.is_message and (node.text or node.thinking or node.attachments or node.rounds):
            kept.append(replace(node, parent=parent))
            stands_for[node.id] = node.id
        else:
            stands_for[node.id] = parent
    return kept, stands_for.get(current, FIRST)


def _joined_answers(nodes: list[SketchNode], current: str) -> tuple[list[SketchNode], str]:
    """Joins an answer of several messages (thoughts, a tool's result, the rest) into one turn.

    Only where nothing but answers follows: what was asked after a part of it would lose its place.
    """
    followed_by_questions = {node.parent for node in nodes if node.role != Role.ASSISTANT}
    followed_by_answers = {node.parent for node in nodes if node.role == Role.ASSISTANT}
    is_part = {
        node.id
        for node in nodes
        if node.role == Role.ASSISTANT
        and node.id in followed_by_answers
        and node.id not in followed_by_questions
    }
    if not is_part:
        return nodes, current
    so_far: dict[str, SketchNode] = {}
    whole: list[SketchNode] = []
    for node in nodes:
        if node.parent in is_part:
            node = _continued(so_far[node.parent], node)
        if node.id in is_part:
            so_far[node.id] = node
        else:
            whole.append(node)
    return whole, current


def _continued(before: SketchNode, node: SketchNode) -> SketchNode:
    return replace(
        node,
        parent=before.parent,
        text=_paragraphs(before.text, node.text),
        thinking=_paragraphs(before.thinking, node.thinking),
        model=node.model or before.model,
        created_at=before.created_at or node.created_at,
        thinking_s=before.thinking_s + node.thinking_s,
        attachments=(*before.attachments, *node.attachments),
        rounds=(*before.rounds, *node.rounds),
    )


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def _turns(nodes: list[SketchNode], chat: Chat) -> Iterator[Turn]:
    last_at = chat.created_at
    for node in nodes:
        last_at = node.created_at or last_at
        yield Turn(
            role=role_of(node.role),
            text=_with_thinking(node),
            model=node.model if node.role == Role.ASSISTANT else "",
            id=id_from(chat.id, node.id),
            created_at=last_at,
            parent_id=id_from(chat.id, node.parent) if node.parent else FIRST,
            attachments=node.attachments,
            thinking_s=node.thinking_s,
            rounds=list(node.rounds),
        )


def role_of(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        reason = said(
            "A message has the role “{role}”. Only user, assistant, system and tool are supported.",
            role=name[:50],
        )
        raise BadChatError(reason) from None


def _with_thinking(node: SketchNode) -> str:
    """Wraps thinking and answer as reasoning models write them."""
    return f"<think>\n{node.thinking}\n</think>\n\n{node.text}" if node.thinking else node.text
