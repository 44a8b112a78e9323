"""Finds tool calls in a model's output. Each model family has its own format.

Knows Hermes and Qwen (`<tool_call>{…}</tool_call>`), Qwen Coder (`<function=name><parameter=key>`), Llama
(`{"name": …, "parameters": …}`), Mistral (`[TOOL_CALLS]`, a list or `name[ARGS]{…}`) and DeepSeek. Only calls
of tools that the caller offered count; anything else stays text.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from app.api.json_body import as_json
from app.protocol.answer_message import ToolCall
from app.protocol.json_object import check_size

# From the first of these on, text is held back until the end of the answer shows what it is.
MARKERS = ("<tool_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>", "<｜tool▁calls▁begin｜>")
# Where the marker is a control token, it is not in the text, and the call stands alone.
BARE = ("{", "[")

MAX_CHARS = 500_000  # of an answer with calls; to look for them takes some 12 ms
MAX_CALLS = 64  # of an answer: each may be read to the end of the text
MAX_PARAMETERS = 1000  # of a call that has tags: each is tried as JSON
BLOCK = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
FUNCTION = re.compile(r"<function=([\w.-]{1,256})>(.*?)(?:</function>|\Z)", re.DOTALL)
# From the beginning of a name only: from each of its letters it would take a second for a long answer.
MISTRAL = re.compile(r"(?<![\w.-])([\w.-]{1,256})(?:\[CALL_ID\]\w{1,64})?\[ARGS\]")
DEEPSEEK = re.compile(
    r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([\w.-]{1,256})(?:<｜tool▁sep｜>|\s*```json\s*)"
)
SKIPPED = re.compile(r"(?:\s|,|;|\[TOOL_CALLS\]|<\|python_tag\|>)*")

_decoder = json.JSONDecoder()


class ToolCallReader:
    """Takes an answer piece by piece and returns what is certainly text."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._held = ""
        self._has_begun = False  # text has been given back
        self._is_holding = False  # until the end

    def feed(self, text: str) -> str:
        self._held += text
        if self._is_holding:
            return ""
        start = self._start_of_call()
        self._is_holding = start < len(self._held) and not self._is_part_of_marker(self._held[start:])
        given, self._held = self._held[:start], self._held[start:]
        self._has_begun = self._has_begun or bool(given.strip())
        return given

    def finish(self) -> tuple[str, list[ToolCall]]:
        """What is left of the text, and the calls."""
        held, self._held = self._held, ""
        calls = find_tool_calls(held, self._names)
        return ("", calls) if calls else (held, [])

    def _start_of_call(self) -> int:
        """Where a call begins or may begin; the end of the text if nowhere."""
        text = self._held
        starts = [text.find(marker) for marker in MARKERS]
        if not self._has_begun and text.lstrip().startswith(BARE):
            starts.append(len(text) - len(text.lstrip()))
        found = [start for start in starts if start >= 0]
        if found:
            return min(found)
        longest = max(map(len, MARKERS)) - 1
        tails = range(max(len(text) - longest, 0), len(text))
        return next((start for start in tails if self._is_part_of_marker(text[start:])), len(text))

    @staticmethod
    def _is_part_of_marker(text: str) -> bool:
        return any(marker.startswith(text) and marker != text for marker in MARKERS)


def find_tool_calls(text: str, names: Collection[str]) -> list[ToolCall]:
    """The first ones of the tools in `names`, in order. None in a text of too many JSON values to read."""
    if len(text) > MAX_CHARS:
        return []
    try:
        check_size(text.encode("utf-8", "replace"))
    except ValueError:
        return []
    found = islice(_found(text), MAX_CALLS)
    return [
        ToolCall(f"call_{uuid.uuid4().hex[:24]}", name, as_json(arguments))
        for name, arguments in found
        if name in names
    ]


def _found(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if blocks := BLOCK.findall(text):
        for block in blocks[:MAX_CALLS]:
            yield from _found(block)
    elif functions := FUNCTION.findall(text):
        for name, body in functions[:MAX_CALLS]:
            yield name, _function_arguments(body)
    elif (named := list(DEEPSEEK.finditer(text))) or (named := list(MISTRAL.finditer(text))):
        for match in named[:MAX_CALLS]:
            value, _end = _read_json(text, match.end())
            if isinstance(value, dict):
                yield match[1], value
    else:
        yield from _bare_calls(text)


def _bare_calls(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Objects, or lists of them, one behind the other."""
    position = 0
    for _ in range(MAX_CALLS):
        skipped = SKIPPED.match(text, position)
        value, position = _read_json(text, skipped.end() if skipped else position)
        if value is None:
            return
        for one in value[:MAX_CALLS] if isinstance(value, list) else [value]:
            if call := _call(one):
                yield call


def _call(value: object) -> tuple[str, dict[str, Any]] | None:
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("function"), dict):
        return _call(value["function"])
    arguments = value.get("arguments", value.get("parameters", {}))
    if isinstance(arguments, str):
        arguments, _end = _read_json(arguments, 0)
    name = value.get("name")
    return (name, arguments) if isinstance(name, str) and isinstance(arguments, dict) else None


def _function_arguments(body: str) -> dict[str, Any]:
    """Parameters as tags, each JSON or else text, or all as one JSON object."""
    _before, *parameters = body.split("<parameter=", MAX_PARAMETERS)
    if parameters:
        named = [parameter.partition(">") for parameter in parameters]
        return {name: _json_or_text(rest.partition("</parameter>")[0].strip("\n")) for name, _, rest in named}
    value, _end = _read_json(body.strip(), 0)
    return value if isinstance(value, dict) else {}


def _json_or_text(text: str) -> object:
    value, end = _read_json(text, 0)
    return value if value is not None and end == len(text) else text


def _read_json(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins at `start`, and its end; None if there is none."""
    try:
        return _decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start
