"""Takes a JSON file apart into its chats, one at a time, without reading it as a whole.

A file is one object or a list of objects. Their ends are found by counting brackets outside of strings, so a
file of a gigabyte costs no more memory than its largest chat, and no depth makes Python recurse. Any thread.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap
from typing import Any

from app.chats.imports.problems import BadChatError, no_chats, too_large
from app.said import said

MAX_ENTRY_BYTES = 64 << 20
MAX_DEPTH = 200  # json.loads recurses; the deepest true export is at about twenty

# The next bracket, behind all that is none and all strings, or the end. Matches from anywhere, possessively:
# a string of any length, or one without an end, is passed in one go and nothing is tried twice.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_NEXT_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+([\[\]{}]|\Z)", re.DOTALL)
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
_OPENING = b"[{"


@dataclass(frozen=True, slots=True)
class Entry:
    """Where one object stands: `start` to `end` in bytes. `depth` is how deep it is nested."""

    start: int
    end: int
    depth: int


def entries(buffer: bytes | mmap) -> Iterator[Entry]:
    """The objects of a JSON document: itself, or those in its list. Raises BadChatError.

    What stands between brackets is not looked at; `parse` will.
    """
    if not _BEGINNING.match(buffer):
        raise no_chats()
    is_list: bool | None = None
    depth, deepest, start = 0, 0, 0
    for found in _NEXT_BRACKET.finditer(buffer):
        mark = found[1]
        if not mark:
            break
        if mark in _OPENING:
            if is_list is None:
                is_list = mark == b"["
            elif depth == 0:
                raise no_chats()  # a second document
            if depth == int(is_list):
                start, deepest = found.start(1), depth
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
            if depth < 0:
                raise no_chats()
            if depth == int(bool(is_list)) and mark == b"}":
                yield Entry(start, found.end(), deepest - depth)
    if depth:
        raise BadChatError(said("It ends in the middle. Download or export it again."))


def parse(buffer: bytes | mmap, entry: Entry) -> dict[str, Any]:
    """Raises BadChatError."""
    if entry.end - entry.start > MAX_ENTRY_BYTES:
        raise too_large(MAX_ENTRY_BYTES >> 20)
    if entry.depth > MAX_DEPTH:
        raise BadChatError(said("It is nested more than {depth} deep, as no chat is.", depth=MAX_DEPTH))
    return parse_object(buffer[entry.start : entry.end])


def parse_object(text: bytes) -> dict[str, Any]:
    """Raises BadChatError. Not for texts of unknown depth."""
    try:
        value = json.loads(text.decode("utf-8", "replace"))
    except ValueError as error:  # numbers of too many digits are one, too
        raise BadChatError(said("It is not valid JSON: {reason}.", reason=str(error))) from None
    return value if isinstance(value, dict) else {}
