"""Which part of a prompt's text is what: system prompt, each tool's description, each message. Any thread."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from app.protocol.json_object import read_object
from app.protocol.report import Section, SectionKind
from app.protocol.request import Message, Role

if TYPE_CHECKING:
    from app.protocol.answer_format import ChatParams

KINDS = {
    Role.SYSTEM: SectionKind.SYSTEM,
    Role.USER: SectionKind.USER,
    Role.ASSISTANT: SectionKind.ANSWER,
    Role.TOOL: SectionKind.RESULT,
}
OWN_CHARS = 80  # longer than what a template writes before a message: a system prompt of its own
ABOUT_CHARS = 24  # with which the description of a tool begins: some templates write no JSON


def sections_of(text: str, messages: Iterable[Message], chat_params: ChatParams) -> tuple[Section, ...]:
    """In the order of `text`, as the template wrote it. What it rewrote belongs to the section before."""
    tools = tuple(_tools(text, chat_params))
    found = {section.start: section for section in (*_messages(text, messages, tools), *tools)}
    first = min(found, default=0)
    if first > OWN_CHARS and found[first].kind is not SectionKind.SYSTEM:
        found[0] = Section(SectionKind.SYSTEM, 0, first)  # the template's own
    sections, num_bytes = [], 0
    for before, start in pairwise((0, *sorted(found))):
        num_bytes += _num_bytes(text[before:start])
        end = num_bytes + _num_bytes(text[start : found[start].end])
        sections.append(replace(found[start], start=num_bytes, end=end))
    return tuple(sections)


def _num_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _messages(text: str, messages: Iterable[Message], tools: Collection[Section]) -> Iterator[Section]:
    """Here and below, `start` and `end` count characters. What a message says may stand in a tool, too."""
    at = 0
    for message in messages:
        called = _called(message)
        needles = (message.written.strip(), message.content.strip(), *called)
        places = ((_find(text, needle, at, tools), needle) for needle in needles if needle)
        start, needle = next((one for one in places if one[0] >= 0), (-1, ""))
        if start >= 0:
            at = start + len(needle)
            yield Section(KINDS[message.role], start, at, " ".join(called))


def _find(text: str, needle: str, at: int, tools: Collection[Section]) -> int:
    """Outside of all tools; -1 if it is not there."""
    place = text.find(needle, at)
    while around := next((one for one in tools if one.start <= place < one.end), None):
        place = text.find(needle, around.end)
    return place


def _called(message: Message) -> tuple[str, ...]:
    calls = read_object(message.fields, "The fields of a message").get("tool_calls") or ()
    with suppress(LookupError, TypeError):  # what a template makes of others is its matter
        return tuple(str(call["function"]["name"]) for call in calls)
    return ()


def _tools(text: str, chat_params: ChatParams) -> Iterator[Section]:
    """Each from the line or the brace on with which its description begins."""
    for tool in json.loads(chat_params.tools) if chat_params.tools else ():
        with suppress(LookupError, TypeError):
            function = tool["function"]
            name = function["name"]
            about = function.get("description") or name
            found = re.search(rf'"name":\s*{re.escape(json.dumps(name))}', text)
            at = found.start() if found else text.find(about[:ABOUT_CHARS])
            if at >= 0:
                start = max(text.rfind("\n", 0, at), text.rfind("}", 0, at)) + 1
                yield Section(SectionKind.TOOL, start, _end_of_json(text, start, at), name)


def _end_of_json(text: str, start: int, end: int) -> int:
    """`end` where no object begins before it."""
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text, text.index("{", start, end))[1]
    return end
