"""A chat's versions and its forks as one tree of turns, row by row. Pure functions over chats.

Copies of a turn in several chats are one row: a fork keeps role, time and text of what it copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.chats.chat import FIRST, Chat, Turn, TurnState


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """One turn of the tree.

    `places` are the chats that have it, each with its own copy; the shown chat is the first. A turn stands
    below its `parent`, a row before it. Its last follower goes on in its `lane`; all others begin a lane
    to the right, and stand before that one.
    """

    places: tuple[tuple[str, Turn], ...]  # chat_id, turn
    parent: int | None
    lane: int
    is_shown: bool  # in the shown chat, on the path that is shown

    @property
    def turn(self) -> Turn:
        return self.places[0][1]


@dataclass(slots=True, eq=False)
class _Node:
    places: list[tuple[str, Turn]]
    followers: list[_Node] = field(default_factory=list)


def branches_of(shown: Chat, others: Iterable[Chat] = ()) -> tuple[Branch, ...]:
    """The rows of `shown`, and of those of the `others` that begin with the same turn."""
    root = _Node([])
    _add(root, shown)
    beginnings = {_copied(node.places[0][1]) for node in root.followers}
    for chat in others:
        if chat is not shown and any(_copied(turn) in beginnings for turn in _first_turns(chat)):
            _add(root, chat)
    return _rows(root, shown)


def path_to(branches: Sequence[Branch], row: int) -> list[int]:
    """The rows from the first turn to this one."""
    path = [row]
    while (parent := branches[path[-1]].parent) is not None:
        path.append(parent)
    return path[::-1]


def _copied(turn: Turn) -> tuple[object, ...]:
    """What a copy has in common with it."""
    return turn.role, turn.created_at, turn.message_text


def _first_turns(chat: Chat) -> tuple[Turn, ...]:
    return (*chat.turns[:1], *chat.asides.get(FIRST, ()))


def _add(root: _Node, chat: Chat) -> None:
    """No recursion: an imported chat may be thousands of turns deep."""
    followers: dict[str, list[Turn]] = {}
    for turn in chat.all_turns():
        followers.setdefault(turn.parent_id, []).append(turn)
    waiting = [(root, FIRST)]
    while waiting:
        node, parent_id = waiting.pop()
        known = {_copied(follower.places[0][1]): follower for follower in node.followers}
        for turn in followers.get(parent_id, ()):
            follower = known.get(_copied(turn))
            if follower is None or follower.places[-1][0] == chat.id:
                follower = _Node([])
                node.followers.append(follower)
            follower.places.append((chat.id, turn))
            waiting.append((follower, turn.id))


def _rows(root: _Node, shown: Chat) -> tuple[Branch, ...]:
    path = {turn.id for turn in shown.turns}
    rows: list[Branch] = []
    waiting: list[tuple[_Node, int | None, int]] = _next(root, path, None, 0)
    while waiting:
        node, parent, lane = waiting.pop()
        chat_id, turn = node.places[0]
        rows.append(Branch(tuple(node.places), parent, lane, chat_id == shown.id and turn.id in path))
        waiting += _next(node, path, len(rows) - 1, lane)
    return tuple(rows)


def _next(node: _Node, path: set[str], parent: int | None, lane: int) -> list[tuple[_Node, int | None, int]]:
    """The followers, the first one last; the one that is shown goes on in the lane, else the newest."""
    ordered = sorted(
        node.followers, key=lambda one: (one.places[0][1].id in path, one.places[0][1].created_at)
    )
    if not ordered:
        return []
    *asides, last = ordered
    return [(last, parent, lane), *((aside, parent, lane + 1) for aside in reversed(asides))]


MAX_CHARS = 80  # of a short answer: longer ones are rarely equal
_EDGES = " \t\n.,;:!\"'`*“”‘’。！"


def votes(answers: Iterable[Turn]) -> list[tuple[str, int]]:
    """Short answers to one message, the most frequent first: how one was first written, and their number.

    Case, and signs around it, do not count. Nothing unless several have ended and all of them are short.
    """
    ended = [turn for turn in answers if turn.state is TurnState.DONE]
    texts = [turn.split.answer.strip() for turn in ended]
    if len(texts) < 2 or not all(0 < len(text) <= MAX_CHARS for text in texts):
        return []
    counts = Counter(map(_core, texts))
    first = {_core(text): text for text in reversed(texts)}
    return [(first[core], number) for core, number in counts.most_common()]


def _core(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_EDGES)
