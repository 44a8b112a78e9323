"""Splits a JSON file into its chats, one at a time, without parsing it as a whole.

A file is one object or a list of objects, or has one on each line. Their ends are found by counting brackets
outside of strings, so a file of a gigabyte costs no more memory than its largest chat, and no depth makes
Python recurse. What cannot be taken is a `Problem`. Any thread.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from mmap import mmap
from typing import Any

from app.system.said import said


@dataclass(frozen=True, slots=True)
class Problem:
    """`entry` is the chat's number in the file, from 1; 0: the file. `reason` is one or two sentences."""

    file: str
    entry: int
    title: str
    reason: str


class BadChatError(Exception):
    """This chat, or this file, cannot be taken; `reason` says why and what to do."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NoChatsError(BadChatError):
    """The file contains no chats."""


def bad_value(name: str) -> BadChatError:
    return BadChatError(said("Its “{name}” is not supported.", name=name))


def no_chats() -> NoChatsError:
    return NoChatsError(
        said("No chats found. Choose an export from Skein, ChatGPT, Open WebUI, LM Studio, Jan or llama.cpp.")
    )


def no_messages() -> BadChatError:
    return BadChatError(said("It contains no messages."))


def too_large(limit_mb: int) -> BadChatError:
    return BadChatError(said("It is larger than {size} MB. Export fewer chats at a time.", size=limit_mb))


def not_readable(error: OSError) -> BadChatError:
    return BadChatError(
        said("It cannot be read: {reason}. Check its permissions.", reason=error.strerror or str(error))
    )


MAX_ENTRY_BYTES = 256 << 20  # with pictures in it
MAX_DEPTH = 100  # `parse` recurses; the deepest true export is at about twenty
MAX_OTHERS = 1_000  # among the chats: a file with more is of another kind
MAX_VALUES = 2_000_000  # in one chat: each takes some hundred bytes of memory
WINDOW_BYTES = 64 << 10  # looked through at once: no other thread runs meanwhile
# `json.loads` lets no other thread run before its end; it gets what takes a few milliseconds.
MAX_BYTES_AT_ONCE = 1 << 20
MAX_BRACKETS_AT_ONCE = 20_000
VALUES_BETWEEN = 1_000  # two looks at whether to go on

Progress = Callable[[float], None]  # 0 to 1; may raise to stop

# A bracket, a string, or the quote of a string that ends behind the window; nothing in it is tried twice.
# Python before 3.11.5 misreads a possessive group with alternatives.
_NEXT = re.compile(rb'[\[\]{}]|"(?:[^"\\]*+(?:\\.[^"\\]*+)*+")?', re.DOTALL)
_REST_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
_BETWEEN_LINES = re.compile(rb"[ \t\r]*\n\s*")
_OPENING = b"[{"


@dataclass(frozen=True, slots=True)
class Entry:
    """Where one object stands: `start` to `end` in bytes. `depth` is how deep it is nested."""

    start: int
    end: int
    depth: int
    num_brackets: int


def entries(buffer: bytes | mmap, on_progress: Progress = lambda _fraction: None) -> Iterator[Entry]:
    """The objects of JSON documents: themselves, or those in their lists. Raises BadChatError.

    What is between the brackets is not checked here, but by `parse`. Raises what `on_progress` raises.
    """
    if not _BEGINNING.match(buffer):
        raise no_chats()
    is_list: bool | None = None
    depth, deepest, start, end, num_brackets, num_others = 0, 0, 0, 0, 0, 0
    for at in _brackets(buffer, on_progress):
        num_brackets += 1
        mark = buffer[at : at + 1]
        if mark in _OPENING:
            if depth == 0:
                if is_list is not None and not _BETWEEN_LINES.fullmatch(buffer, end, at):
                    raise no_chats()
                is_list = mark == b"["
            if depth == bool(is_list):
                start, deepest, num_brackets = at, depth, 1
                num_others += mark == b"["
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
            if depth < 0 or num_others > MAX_OTHERS:
                raise no_chats()
            if num_brackets > MAX_VALUES:
                raise _too_many_values()
            end = at + 1
            if depth == bool(is_list) and mark == b"}":
                yield Entry(start, end, deepest - depth, num_brackets)
    if depth:
        raise BadChatError(said("The file is truncated. Download or export it again."))


def parse(
    buffer: bytes | mmap, entry: Entry, on_progress: Progress = lambda _fraction: None
) -> dict[str, Any]:
    """Raises BadChatError, and what `on_progress` raises."""
    check_size(entry.end - entry.start, entry.num_brackets)
    if entry.depth > MAX_DEPTH:
        raise BadChatError(
            said("It is nested more than {depth} levels deep, so it is not a chat export.", depth=MAX_DEPTH)
        )
    text = buffer[entry.start : entry.end]
    is_small = len(text) <= MAX_BYTES_AT_ONCE and entry.num_brackets <= MAX_BRACKETS_AT_ONCE
    fraction = entry.end / len(buffer)
    return parse_object(text, None if is_small else _PatientDecoder(lambda: on_progress(fraction)))


def check_size(num_bytes: int, num_values: int) -> None:
    """The JSON of one chat. Raises BadChatError."""
    if num_bytes > MAX_ENTRY_BYTES:
        raise too_large(MAX_ENTRY_BYTES >> 20)
    if num_values > MAX_VALUES:
        raise _too_many_values()


def parse_object(text: bytes, decoder: json.JSONDecoder | None = None) -> dict[str, Any]:
    """Raises BadChatError. Not for texts of unknown depth."""
    try:
        value = (decoder or json.JSONDecoder()).decode(text.decode("utf-8", "replace"))
    except ValueError as error:  # numbers of too many digits are one, too
        raise BadChatError(said("It is not valid JSON: {reason}.", reason=str(error))) from None
    return value if isinstance(value, dict) else {}


class _PatientDecoder(json.JSONDecoder):
    """json's own in Python instead of C: other threads run meanwhile, and it can be stopped."""

    def __init__(self, on_progress: Callable[[], None]) -> None:
        super().__init__()
        self._on_progress = on_progress
        self._num_values = 0
        self.parse_array = self._array
        self.parse_object = self._object
        self.scan_once = py_make_scanner(self)

    def _array(self, text_and_end: Any, scan_once: Any) -> Any:
        return JSONArray(text_and_end, self._counted(scan_once))

    def _object(self, text_and_end: Any, strict: bool, scan_once: Any, *hooks: Any) -> Any:
        return JSONObject(text_and_end, strict, self._counted(scan_once), *hooks)

    def _counted(self, scan_once: Any) -> Any:
        def scan(text: str, at: int) -> Any:
            self._num_values += 1
            if self._num_values % VALUES_BETWEEN == 0:
                self._on_progress()
                if self._num_values > MAX_VALUES:
                    raise _too_many_values()
            return scan_once(text, at)

        return scan


def _brackets(buffer: bytes | mmap, on_progress: Progress) -> Iterator[int]:
    """Where brackets outside of strings are, window by window."""
    at, size = 0, len(buffer)
    while at < size:
        on_progress(at / size)
        begin, end = at, min(at + WINDOW_BYTES, size)
        at = end
        for found in _NEXT.finditer(buffer, begin, end):
            if found[0] == b'"':
                at = _end_of_string(buffer, found.end(), on_progress)
                break
            if found.end() - found.start() == 1:
                yield found.start()


def _end_of_string(buffer: bytes | mmap, at: int, on_progress: Progress) -> int:
    """Behind its closing quote, or where the buffer ends. `at` is in the string."""
    size = len(buffer)
    while at < size:
        on_progress(at / size)
        found = _REST_OF_STRING.match(buffer, at, min(at + WINDOW_BYTES, size))
        assert found
        at = found.end()
        if buffer[at : at + 1] == b'"':
            return at + 1
        if buffer[at : at + 1] == b"\\":  # the last in the window: what it escapes is behind it
            at += 2
    return size


def _too_many_values() -> BadChatError:
    return BadChatError(
        said("It has more than {count} values, so it is not a chat export.", count=f"{MAX_VALUES:,}")
    )
