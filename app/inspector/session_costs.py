"""What the requests of a program or a chat cost: by section, and why one was not the last one's continuation.

Works on leases and the texts of their tokens. Knows no widget.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from app.inspector.chat_names import PROBE_ID, READING_ID
from app.inspector.prefix_view import HEADS, num_had, num_prompt_tokens
from app.inspector.recording import LAST_TEXT, JournalEntry, LeasedPrompt
from app.look.figures import tokens
from app.look.words import mark, tr
from app.protocol.output import CHANGES
from app.protocol.report import Ints, Lease, Section, SectionKind

MAX_SHOWN = 200  # requests
MAX_BACK = 8  # requests
REST_OF_LINE = 64  # tokens of it that are looked at
SLACK = 8  # tokens more or less that a model's memory cannot be cut back to
MIN_ANSWERS = 2  # in a prompt, to say which tools they did not call
MIN_TOLD, MIN_SHARE = 200, 0.1  # tokens in vain that are worth a sentence, and their share of all computed
MEDIA_TEXT = b"<__media__>"  # of a picture or sound in a prompt's text
_TIME = re.compile(r"\d{1,2}(?::\d{2}|点|點|时|時)".encode())
_DATE = re.compile(r"\d{4}(?:-\d{2}-\d{2}|年)|\d{1,2}[./]\d{1,2}[./]\d{2,4}".encode())
_CHANGING = {
    _TIME: mark("the time of day"),
    _DATE: mark("the date"),
    re.compile(rb"^\W*(\d[\d.,:-]*|[\da-f]{8}[\da-f-]*)\W*$"): mark("a number that changes"),
}


class Parting(StrEnum):
    """How a request begins, beside the last one that it has much in common with."""

    FIRST = "first request"
    GOES_ON = "goes on"
    SAME = "the same again"
    OTHER = "another question"  # the last message is another one
    NOT_HELD = "not cached any more"
    LINE = "changed line"  # of the system prompt, and what stands before it
    TOOLS_MOVED = "tools in another order"
    TOOLS = "other tools"
    TOOL = "changed tool"
    MESSAGE = "changed message"
    LEFT_OUT = "messages left out"
    UNKNOWN = "another prompt"


_HEADS = {
    Parting.FIRST: mark("The first request"),
    Parting.GOES_ON: mark("Goes on where an earlier one ended"),
    Parting.SAME: mark("The same prompt again"),
    Parting.OTHER: mark("Another last message"),
    Parting.NOT_HELD: mark("Goes on, but was not cached any more: {what}"),
    Parting.LINE: mark("System prompt, line {line}: {what}"),
    Parting.TOOLS_MOVED: mark("The same tools came in another order"),
    Parting.TOOLS: mark("Other tools were offered"),
    Parting.TOOL: mark("The tool {what} is described in other words"),
    Parting.MESSAGE: mark("An earlier message changed: {what}"),
    Parting.LEFT_OUT: mark("Earlier messages were left out"),
    Parting.UNKNOWN: mark("Another prompt"),
}
_AGAIN = mark("{tokens} were computed again in {part} of {whole} requests: {reason}. {remedy}")
_ADVICE = {
    Parting.NOT_HELD: (
        mark("their cells had been given up"),
        mark("Use a larger context or more slots."),
    ),
    Parting.LINE: (
        mark("line {line} of the system prompt holds {what}"),
        mark("Put it at the end of the last message."),
    ),
    Parting.TOOLS_MOVED: (
        mark("the tools came in another order"),
        mark("Send them in the same order each time."),
    ),
    Parting.TOOLS: (mark("other tools were offered"), mark("Offer the same ones each time.")),
    Parting.TOOL: (mark("the description of {what} changed"), mark("Keep it the same.")),
    Parting.MESSAGE: (
        mark("an earlier message changed: {what}"),
        mark("Add to the end of the chat instead."),
    ),
    Parting.LEFT_OUT: (mark("earlier messages were left out"), mark("Leave out many at once, and seldom.")),
}
_NEVER_CALLED = mark(
    "{names}: described in {tokens} of the last prompt, and not called so far. Offer fewer tools."
)
SECTIONS = {
    SectionKind.SYSTEM: mark("system prompt"),
    SectionKind.TOOL: mark("tool"),
    SectionKind.USER: mark("message"),
    SectionKind.ANSWER: mark("answer"),
    SectionKind.RESULT: mark("result of a tool"),
}


class Part(NamedTuple):
    """A section in tokens: `first` is the number of its first one in the prompt, `end` of that behind it.

    What the template writes behind a message is one of its `num_tokens`.
    """

    section: Section
    first: int
    end: int
    num_tokens: int
    num_computed: int


class Place(NamedTuple):
    """Where a prompt parted from an earlier one: the same place each time has the same cause."""

    parting: Parting
    line: int = 0
    what: str = ""  # that line holds; marked, or a sentence of the lease's cause


@dataclass(frozen=True, slots=True)
class Cost:
    """`num_again` tokens are computed that an earlier request had computed, too."""

    step: int
    prompt: LeasedPrompt
    parts: tuple[Part, ...]
    place: Place
    num_again: int

    @property
    def head(self) -> str:
        return tr(_HEADS[self.place.parting], line=self.place.line, what=tr(self.place.what))


def session_of(lease: Lease) -> str:
    """Each program that asks over HTTP is one, each chat of the window another.

    Empty where nobody has asked: what was read ahead, and what the inspector itself computes.
    """
    if lease.is_ahead or not lease.prompt_bytes or lease.chat_id.startswith((PROBE_ID, READING_ID)):
        return ""
    return lease.caller.strip() or lease.chat_id


def costs_of(
    entries: Iterable[JournalEntry[LeasedPrompt]], session: str, texts: Mapping[int, bytes]
) -> tuple[Cost, ...]:
    """Its requests in their order. `texts` are those of all their tokens."""
    asked = [one for one in entries if session_of(one.what.lease) == session][-MAX_SHOWN:] if session else []
    ids = (np.frombuffer(one.what.lease.prompt_bytes, np.int32) for one in asked)
    lengths = _lengths(texts, max((int(one.max()) for one in ids), default=0))
    costs: list[Cost] = []
    for entry in asked:
        parts = _parts(entry.what.lease, lengths)
        costs.append(_cost(entry, parts, costs[-MAX_BACK:], texts))
    return tuple(costs)


def advice_on(costs: Sequence[Cost]) -> str:
    """One sentence; none if there is nothing to be gained."""
    again: dict[Place, list[int]] = defaultdict(list)
    for cost in costs:
        if cost.place.parting in _ADVICE:
            again[cost.place].append(cost.num_again)
    worst = max(again, key=lambda place: sum(again[place]), default=None)
    num_computed = sum(cost.prompt.lease.num_tokens_to_compute for cost in costs)
    if worst and sum(again[worst]) >= max(MIN_TOLD, MIN_SHARE * num_computed):
        reason, remedy = _ADVICE[worst.parting]
        return tr(
            _AGAIN,
            tokens=tokens(sum(again[worst])),
            part=len(again[worst]),
            whole=len(costs),
            reason=tr(reason, line=worst.line, what=tr(worst.what)),
            remedy=tr(remedy),
        )
    unused = never_called(costs)
    if sum(unused.values()) < MIN_TOLD:
        return ""
    return tr(_NEVER_CALLED, names=", ".join(unused), tokens=tokens(sum(unused.values())))


def never_called(costs: Sequence[Cost]) -> dict[str, int]:
    """The tools in the last request that no answer had called before it, with their tokens in its prompt.

    None where too few answers came back in a prompt: what was called is only seen there.
    """
    last = costs[-1].parts if costs else ()
    sections = [part.section for cost in costs for part in cost.parts]
    called = {name for one in sections if one.kind is SectionKind.ANSWER for name in one.name.split()}
    tools = {part.section.name: part.num_tokens for part in last if _is_tool(part)}
    num_answers = sum(part.section.kind is SectionKind.ANSWER for part in last)
    return {name: tools[name] for name in tools if name not in called and num_answers >= MIN_ANSWERS}


def as_json(session: str, costs: Sequence[Cost]) -> dict[str, Any]:
    return {
        "session": session,
        "advice": advice_on(costs),
        "tools_never_called": never_called(costs),
        "requests": [
            {
                "step": cost.step,
                "request_id": cost.prompt.lease.request_id,
                "chat_id": cost.prompt.lease.chat_id,
                "prompt_tokens": num_prompt_tokens(cost.prompt.lease),
                "cached_tokens": num_had(cost.prompt.lease),
                "computed_tokens": cost.prompt.num_computed,
                "computed_again": cost.num_again,
                "seconds": round(cost.prompt.decode_ms / 1000, 3),
                "cause": cost.place.parting.value,
                "told": cost.head,
                "sections": [
                    {
                        "kind": part.section.kind.value,
                        "name": part.section.name,
                        "tokens": part.num_tokens,
                        "computed": part.num_computed,
                    }
                    for part in cost.parts
                ],
            }
            for cost in costs
        ],
    }


def _cost(
    entry: JournalEntry[LeasedPrompt],
    parts: tuple[Part, ...],
    former: Sequence[Cost],
    texts: Mapping[int, bytes],
) -> Cost:
    lease, had = entry.what.lease, num_had(entry.what.lease)
    ours = lease.prompt_bytes
    if not former:
        return Cost(entry.step, entry.what, parts, Place(Parting.FIRST), 0)
    if had >= len(ours) // 4 - SLACK and any(one.prompt.lease.prompt_bytes == ours for one in former):
        return Cost(entry.step, entry.what, parts, Place(Parting.SAME), 0)
    commons = [_common(one.prompt.lease.prompt_bytes, ours) for one in former]
    # The last one that is of the same talk: an agent's helpers, which begin otherwise, ask in between.
    pairs = [*zip(commons, former, strict=True)][::-1]
    common, before = next(pair for pair in pairs if 2 * pair[0] >= max(commons))
    if had < common - SLACK and lease.prefix_end in CHANGES:  # by what its chat asked in between
        its = (pair for pair in pairs if pair[1].prompt.lease.chat_id == lease.chat_id)
        common, before = next(its, (common, before))
    theirs = before.prompt.lease.prompt_bytes
    if common < min(_asked_tokens(before.parts, theirs), _asked_tokens(parts, ours)):
        place = _place(before, lease, parts, common, texts)
        again = 0 if place.parting is Parting.OTHER else _num_again(before, lease, parts, common)
        return Cost(entry.step, entry.what, parts, place, min(again, lease.num_tokens_to_compute))
    # The earlier one may have been broken off.
    common = min(common, num_had(before.prompt.lease) + before.prompt.num_computed)
    if had < common - SLACK:
        place = Place(Parting.NOT_HELD, what=HEADS[lease.prefix_end])
        return Cost(entry.step, entry.what, parts, place, common - had)
    return Cost(entry.step, entry.what, parts, Place(Parting.GOES_ON), 0)


def _asked_tokens(parts: Sequence[Part], prompt: bytes) -> int:
    """Up to the end of its last message. Behind that a template only asks for the answer."""
    return parts[-1].end if parts else len(prompt) // 4


def _num_again(before: Cost, lease: Lease, parts: Sequence[Part], common: int) -> int:
    """Tokens behind the parting that the earlier prompt had there, too."""

    prompt = before.prompt.lease.prompt_bytes
    theirs = {part.first: part for part in before.parts}
    had, again = {_tokens_of(prompt, part) for part in before.parts}, 0
    tools = {part.section.name: _tokens_of(prompt, part) for part in before.parts if _is_tool(part)}
    for part in parts:
        ours, former = _tokens_of(lease.prompt_bytes, part), theirs.get(part.first)
        num_behind = part.first + part.num_tokens - common
        if part.first > common and ours in had:
            again += part.num_tokens
        elif part.first <= common and former and former.section.name == part.section.name:
            again += _common(ours[::-1], _tokens_of(prompt, former)[::-1]) if num_behind > 0 else 0
        elif _is_tool(part):  # behind the last one stands more than behind others
            again += max(0, min(num_behind, _common(ours, tools.get(part.section.name, b""))))
    return again


def _tokens_of(prompt: bytes, part: Part) -> bytes:
    return prompt[4 * part.first : 4 * (part.first + part.num_tokens)]


def _place(
    before: Cost, lease: Lease, parts: Sequence[Part], common: int, texts: Mapping[int, bytes]
) -> Place:
    part = next((one for one in reversed(parts) if one.first <= common), None)
    if part is None or not before.parts:
        return Place(Parting.UNKNOWN)
    theirs, ours = _tools(before.parts), _tools(parts)
    if part.section.kind is SectionKind.SYSTEM and bool(theirs) == bool(ours):
        return Place(Parting.LINE, *_changed_line(before, lease, part, common, texts))
    if theirs != ours:
        return Place(Parting.TOOLS_MOVED if sorted(theirs) == sorted(ours) else Parting.TOOLS)
    if _is_tool(part):
        return Place(Parting.TOOL, what=part.section.name)
    if part is parts[-1] and before.parts[-1].first <= common:
        return Place(Parting.OTHER)
    prompt, ids = before.prompt.lease.prompt_bytes, _tokens_of(lease.prompt_bytes, part)
    later = (_tokens_of(prompt, one) for one in before.parts if one.first > part.first)
    if ids in later:
        return Place(Parting.LEFT_OUT)
    _, what = _changed_line(before, lease, part, common, texts)
    return Place(Parting.MESSAGE, what=what)


def _changed_line(
    before: Cost, lease: Lease, part: Part, common: int, texts: Mapping[int, bytes]
) -> tuple[int, str]:
    """Which of the section's, from 1 on, and what it holds."""
    start = part.section.start
    number = _text(lease.prompt_ids[:common], texts)[start:].count(b"\n")
    end = common + REST_OF_LINE
    both = (_text(one.prompt_ids[:end], texts)[start:] for one in (before.prompt.lease, lease))
    return number + 1, _held(*(text.split(b"\n")[number] for text in both))


def _tools(parts: Sequence[Part]) -> list[str]:
    return [part.section.name for part in parts if _is_tool(part)]


def _is_tool(part: Part) -> bool:
    return part.section.kind is SectionKind.TOOL


def _held(before: bytes, now: bytes) -> str:
    """What a line holds that changes."""
    pairs = enumerate(zip(before, now, strict=False))
    start = next((at for at, (one, other) in pairs if one != other), min(len(before), len(now)))
    start -= len(re.split(rb"[\s\"'(<>]", now[:start])[-1])  # the whole word
    words = [re.split(rb"[\s\"')<>]", line[start:], maxsplit=1)[0] for line in (before, now)]
    for pattern, name in _CHANGING.items():
        if all(map(pattern.search, words)):
            return name
    return mark("a text that changes")


def _parts(lease: Lease, lengths: Ints) -> tuple[Part, ...]:
    """All of the prompt, once its text is known: what comes before the first section belongs to it."""
    if not lease.sections:
        return ()
    ids, had = np.frombuffer(lease.prompt_bytes, np.int32), num_had(lease)
    is_row = ids < LAST_TEXT  # those of a picture count as the mark in its place
    num_bytes = np.where(is_row, 0, lengths[np.where(is_row, 0, ids)])
    num_bytes[is_row & ~np.roll(is_row, 1)] = len(MEDIA_TEXT)
    if (num_bytes < 0).any():
        return ()
    starts = [section.start for section in lease.sections]
    behind = np.cumsum(num_bytes)
    firsts = np.searchsorted(behind, starts, side="right").tolist()
    ends = np.searchsorted(behind, [section.end for section in lease.sections]).tolist()
    borders = pairwise([0, *firsts[1:], len(ids)])
    return tuple(
        Part(section, first, min(end + 1, border), border - first, max(border - max(first, had), 0))
        for section, end, (first, border) in zip(lease.sections, ends, borders, strict=True)
    )


def _lengths(texts: Mapping[int, bytes], most: int) -> Ints:
    """By token, up to `most`; -1 where its text is not known."""
    lengths = np.full(max(most, max(texts, default=0)) + 1, -1, np.int32)
    for token, text in texts.items():
        lengths[token] = len(text)
    return lengths


def _text(ids: Iterable[int], texts: Mapping[int, bytes]) -> bytes:
    return b"".join(texts.get(token, MEDIA_TEXT) for token in ids)


def _common(one: bytes, other: bytes) -> int:
    """Tokens that both begin with."""
    limit = min(len(one), len(other))
    if one[:limit] == other[:limit]:
        return limit // 4
    return bisect_left(range(1, limit + 1), True, key=lambda length: one[:length] != other[:length]) // 4
