"""Rounds of tool calls, how an answer was read, and which tools a chat offers, to JSON and back. Any thread.

What is read may be damaged or a stranger's: what is not as it should be is left out.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, fields
from functools import lru_cache
from typing import Any

from app.chats.attachment import MAX_SECONDS, number_of, valid_unicode
from app.chats.chat import Turn, TurnState
from app.chats.thinking import Split
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.output import Usage

MAX_ROUNDS, MAX_USES = 10_000, 1_000
MAX_TOOLS, MAX_KEY_CHARS, MAX_WORDS_CHARS = 1_000, 300, 200
_STATES = {str(state): state for state in ToolState}
_USAGE = {each.name: each.type for each in fields(Usage)}


def as_objects(rounds: Iterable[ToolRound]) -> list[dict[str, Any]]:
    return [_as_object(round_) for round_ in rounds]


def as_text(rounds: Sequence[ToolRound]) -> str:
    """JSON. A growing answer is saved again and again, so what is made of each round is remembered."""
    return f"[{','.join(_text_of(_Same(round_)) for round_ in rounds)}]"


def rounds_of(stored: Any) -> list[ToolRound]:
    """A call that had not ended will not go on."""
    items = stored if isinstance(stored, list) else []
    return [_round(each) for each in items[:MAX_ROUNDS] if isinstance(each, dict)]


def reading_as_json(turn: Turn) -> dict[str, Any]:
    """Nothing while the answer grows: its text is ahead of its reading then."""
    if turn.reading is None or turn.state is TurnState.STREAMING:
        return {}
    return {"thinking": turn.reading.thinking, "answer": turn.reading.answer}


def reading_of(stored: Any) -> Split | None:
    known = stored if isinstance(stored, dict) else {}
    split = Split(text_of(known.get("thinking")), text_of(known.get("answer")))
    return split if split.thinking or split.answer else None


def tools_of(stored: Any) -> tuple[str, ...]:
    items = stored if isinstance(stored, list) else []
    keys = (text_of(each) for each in items[:MAX_TOOLS])
    return tuple(dict.fromkeys(key for key in keys if 0 < len(key) <= MAX_KEY_CHARS))


class _Same:
    """A round by its values. To compare texts that are the same object takes no time."""

    def __init__(self, round_: ToolRound) -> None:
        uses = tuple(astuple(use) for use in round_.uses)
        flags = (round_.is_whole, round_.thinking_s, round_.usage)
        self.round = round_
        self._values = (round_.text, round_.content, round_.reasoning, *flags, *uses)

    def __hash__(self) -> int:
        return hash(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._values == other._values


@lru_cache(maxsize=64)
def _text_of(same: _Same) -> str:
    return valid_unicode(json.dumps(_as_object(same.round), ensure_ascii=False, separators=(",", ":")))


def _as_object(round_: ToolRound) -> dict[str, Any]:
    fields = asdict(round_) | {"usage": filled(asdict(round_.usage))}
    fields["uses"] = [filled(asdict(use)) for use in round_.uses]
    return filled(fields)


def filled(values: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty."""
    return {name: value for name, value in values.items() if value not in ("", 0, False, [], {}, None)}


def _round(stored: dict[str, Any]) -> ToolRound:
    uses = stored.get("uses")
    found = uses[:MAX_USES] if isinstance(uses, list) else []
    return ToolRound(
        text_of(stored.get("text")),
        text_of(stored.get("content")),
        text_of(stored.get("reasoning")),
        [_use(each) for each in found if isinstance(each, dict)],
        is_whole=stored.get("is_whole") is True,
        thinking_s=duration_of(stored.get("thinking_s")),
        usage=usage_of(stored.get("usage")),
    )


def _use(stored: dict[str, Any]) -> ToolUse:
    use = ToolUse(
        text_of(stored.get("id")),
        text_of(stored.get("tool")),
        text_of(stored.get("arguments")),
        _STATES.get(text_of(stored.get("state")), ToolState.STOPPED),
        text_of(stored.get("result")),
        duration_of(stored.get("seconds")),
    )
    if use.is_unfinished:
        use.state = ToolState.STOPPED
    num_told = stored.get("num_told")
    if isinstance(num_told, int) and not isinstance(num_told, bool) and 0 < num_told < len(use.result):
        use.num_told = num_told
    return use


def usage_of(stored: Any) -> Usage:
    """Statistics for display: an implausible one is dropped."""
    known = stored if isinstance(stored, dict) else {}
    figures: dict[str, Any] = {}
    for name, value in known.items():
        kind = _USAGE.get(name)
        if kind is str:
            figures[name] = text_of(value)[:MAX_WORDS_CHARS]
        elif kind is float:
            figures[name] = duration_of(value)
        elif kind is int and isinstance(value, int) and 0 <= value < 2**53:
            figures[name] = int(value)
    return Usage(**figures)


def text_of(value: Any) -> str:
    return valid_unicode(value) if isinstance(value, str) else ""


def duration_of(value: Any) -> float:
    return float(number_of(value, MAX_SECONDS))
