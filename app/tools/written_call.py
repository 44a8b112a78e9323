"""Finds a call of a tool that a model wrote as text: a bare or fenced JSON object. Pure functions.

Qwen2.5-Coder does so nearly always, though its template has marks for calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object
from app.tools.tool import ToolError, read_arguments

MAX_CHARS = 100_000  # of an answer that is looked through
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(\{.*\})\s*```", re.DOTALL)
_ARGUMENTS = ("arguments", "parameters")


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """`before` is the answer's text above the call, `arguments` a JSON object as text."""

    before: str
    name: str
    arguments: str


def written_call(text: str, schemas: Mapping[str, Mapping[str, Any]]) -> WrittenCall | None:
    """The call that an answer is, or that its last block is.

    It has to be nothing but a name of `schemas`, and arguments that follow its schema.
    """
    text = text.strip()
    if len(text) > MAX_CHARS or not text.endswith(("}", "```")):
        return None
    before, block = _last_block(text)
    call = _call(block, schemas)
    return WrittenCall(before.strip(), *call) if call else None


def _last_block(text: str) -> tuple[str, str]:
    """What stands before it, and the block: in a fence, or after an empty line, or all of the text."""
    if text.endswith("```"):
        start = text.rfind("```", 0, -3)
        fenced = _FENCED.fullmatch(text, max(0, start))
        return (text[:start], fenced[1]) if fenced else (text, "")
    before, _, block = text.rpartition("\n\n")
    return before, block


def _call(block: str, schemas: Mapping[str, Mapping[str, Any]]) -> tuple[str, str] | None:
    try:
        call = read_object(block, "The call")
        inner = call.pop("function", None)
        if isinstance(inner, dict) and call in ({}, {"type": "function"}):
            call = inner
        name = call.pop("name", None)
        ((key, given),) = call.items()
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        if name not in schemas or key not in _ARGUMENTS:
            return None
        read_arguments(arguments, schemas[name])
    except (InvalidRequestError, ToolError, ValueError, TypeError):
        return None
    return name, arguments
