"""What a card says of a call of a tool. Pure functions."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from app.bridge.tool_list import CALL
from app.chats.chat import Chat
from app.chats.tool_use import ToolState, ToolUse
from app.look.figures import milliseconds, seconds
from app.look.plain_text import one_line
from app.look.words import mark, tr, tr_said

MAX_READ_CHARS = 200_000  # of arguments that are read as JSON; longer ones are shown as they are
MAX_SUMMARY_CHARS = 300
BUILT_IN = "skein"  # the server of our own tools

_STATES = {
    ToolState.WRITING: mark("writing…"),
    ToolState.ASKING: mark("waiting for you"),
    ToolState.RUNNING: mark("running"),
    ToolState.FAILED: mark("failed"),
    ToolState.REFUSED: mark("refused"),
    ToolState.STOPPED: mark("stopped"),
}


@dataclass(frozen=True, slots=True)
class ToolLabel:
    """A tool as the user knows it."""

    title: str
    server: str = ""
    writes: bool = False  # it may change something
    always_asks: bool = False


# By the name that the model calls it. None: it is not there any more.
Naming = Callable[[str], ToolLabel | None]


def asking_uses(chat: Chat) -> Iterator[ToolUse]:
    """Those of the answers that are being written, of several at once in the order of the versions."""
    if chat.is_answering:
        for turn in chat.versions_of(chat.turns[-1]):
            uses = turn.rounds[-1].uses if turn.rounds else ()
            yield from (use for use in uses if use.state is ToolState.ASKING)


def label_of(use: ToolUse, naming: Naming) -> ToolLabel:
    """Where tools are listed by name, the model calls one through another: the one that runs is meant."""
    name = use.tool
    if name == CALL:
        name = str((_read(use.arguments) or {}).get("name") or name)
    label = naming(name)
    return label or ToolLabel(one_line(name[:MAX_SUMMARY_CHARS]) or tr("tool"))


def server_text(server: str) -> str:
    return tr("built in") if server == BUILT_IN else one_line(server)


def state_text(use: ToolUse, running_s: float = 0.0) -> str:
    """Its state and time, as short as can be: a call that is done needs no word."""
    word = tr(_STATES[use.state]) if use.state in _STATES else ""
    if use.state is ToolState.RUNNING:
        time = tr("{number} s", number=int(running_s)) if running_s >= 1 else ""
    else:
        time = _short(use.seconds) if use.seconds else ""
    return " · ".join(part for part in (word, time) if part)


def _short(duration_s: float) -> str:
    return seconds(duration_s) if duration_s >= 0.1 else milliseconds(duration_s * 1000)


def spoken_state(use: ToolUse) -> str:
    """For screen readers, a word always."""
    return state_text(use) if use.state in _STATES else tr("done")


def summary(use: ToolUse) -> str:
    """On one line: why it failed, or what it was called with."""
    if use.state is ToolState.FAILED and use.result:
        return one_line(tr_said(use.result)[:MAX_SUMMARY_CHARS])
    arguments = _read(use.arguments)
    if arguments is None:
        return one_line(use.arguments[:MAX_SUMMARY_CHARS])
    if len(arguments) == 1:
        return one_line(_value(next(iter(arguments.values()))))
    parts = (f"{name}: {_value(value)}" for name, value in arguments.items())
    return one_line(" · ".join(parts)[:MAX_SUMMARY_CHARS])


def pretty(text: str) -> str:
    """JSON with each entry on a line of its own; any other text as it is."""
    value = _parsed(text)
    return json.dumps(value, indent=2, ensure_ascii=False) if isinstance(value, dict | list) else text


def has_arguments(use: ToolUse) -> bool:
    return use.arguments.strip() not in ("", "{}")


def _value(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        value = " · ".join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:MAX_SUMMARY_CHARS]


def _read(arguments: str) -> dict[str, Any] | None:
    value = _parsed(arguments)
    return value if isinstance(value, dict) else None


def _parsed(text: str) -> Any:
    """None for what is no JSON, or not yet."""
    begin = text.lstrip()[:1]
    if len(text) > MAX_READ_CHARS or begin not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
