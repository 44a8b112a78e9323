"""An imported chat before its validation: what all readers produce. Any thread."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from app.chats.attachment import Attachment, valid_unicode
from app.chats.tool_use import ToolRound

MAX_NAME_CHARS = 200  # of titles, models, files
_MILLISECONDS_FROM = 1e11  # as seconds that is the year 5138
_MAX_SECONDS = 253_402_300_799.0  # the end of the year 9999


@dataclass(slots=True)
class SketchNode:
    """One message, or one place of the tree that says nothing: then it is no `is_message`."""

    id: str
    parent: str
    role: str = ""
    text: str = ""
    thinking: str = ""
    model: str = ""
    created_at: float = 0.0  # 0: unknown
    thinking_s: float = 0.0
    attachments: tuple[Attachment, ...] = ()
    is_message: bool = True
    rounds: tuple[ToolRound, ...] = ()  # calls of tools before `text`


@dataclass(slots=True)
class Sketch:
    """`nodes` in any order; `current` is the last one shown, "" if the file does not tell."""

    source_id: str
    title: str = ""
    system_prompt: str = ""
    created_at: float = 0.0
    folder: str = ""
    is_pinned: bool = False
    nodes: list[SketchNode] = field(default_factory=list)
    current: str = ""
    num_left_out: int = 0  # images and other files, which are not part of the text
    unread: Counter[str] = field(default_factory=Counter)  # what else has no place in a chat: see `unread`


@dataclass(frozen=True, slots=True)
class Kinds:
    """An object whose keys depend on its kind, which is the value of `key`."""

    key: str
    shapes: Mapping[str, "Shape"]


# The keys that a reader takes or that hold no words, with the shapes of their values. ANY stands for any key.
# None: the value is not looked into.
Shape = Mapping[str, "Shape"] | Kinds | None
ANY = "*"


def leaves(names: str) -> dict[str, Shape]:
    return dict.fromkeys(names.split())


def unread(value: object, shape: Shape) -> Counter[str]:
    """The keys and kinds that `shape` does not know and that say something, and how often each is there."""
    counts: Counter[str] = Counter()
    waiting: list[tuple[str, object, Shape]] = [("", value, shape)]
    while waiting:
        name, value, shape = waiting.pop()
        if shape is None:
            continue
        if isinstance(value, list):
            waiting += [(name, item, shape) for item in value]
        elif isinstance(value, dict) and isinstance(shape, Kinds):
            kind = id_of(value.get(shape.key))
            if kind in shape.shapes:
                waiting.append((name, value, shape.shapes[kind]))
            else:
                counts[kind or name] += 1
        elif isinstance(value, dict) and isinstance(shape, Mapping):
            for key, inside in value.items():
                if key in shape or ANY in shape:
                    waiting.append((key, inside, shape.get(key, shape.get(ANY))))
                elif says(inside):
                    counts[name_of(key)] += 1
    return counts


def says(value: object) -> bool:
    """Whether there are words in it: numbers and switches hold none."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text) if text.strip():
                return True
            case dict() as fields:
                waiting += fields.values()
            case list() as items:
                waiting += items
    return False


def paragraphs(texts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, texts))


def text_of(value: object) -> str:
    """The value if it is a string, else an empty one."""
    return valid_unicode(value).replace("\0", "") if isinstance(value, str) else ""


def name_of(value: object) -> str:
    return " ".join(text_of(value).split())[:MAX_NAME_CHARS]


def id_of(value: object) -> str:
    """A string: some programs number their messages."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_of(value)[:MAX_NAME_CHARS]


def fields_of(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def seconds_of(value: object) -> float:
    """A date in seconds since 1970, from seconds, milliseconds or ISO 8601; 0 for anything else."""
    if isinstance(value, str):
        return _iso_seconds(value)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < _MAX_SECONDS * 1000:
        return 0.0  # NaN is in no range, and an integer of any size compares
    return value / 1000 if value > _MILLISECONDS_FROM else float(value)


def in_a_row(nodes: Sequence[SketchNode]) -> list[SketchNode]:
    """Links messages without a tree: each follows the one before it."""
    for before, node in pairwise(nodes):
        node.parent = before.id
    return list(nodes)


def _iso_seconds(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
        return seconds_of((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return 0.0
