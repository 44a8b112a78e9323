"""Grammars of answers, as llama.cpp writes them: a rule on each line.

How they are checked, which calls of tools they can hold, and one for answers that follow one of two others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from app.engine.prompts.schema_limits import MAX_BOUND, without_bounds
from app.protocol.grammar import (
    MAX_GRAMMAR_BYTES,
    MAX_OWN_BYTES,
    check_grammar,
    fault_of,
    is_costly,
    note_fault,
)
from app.system.said import said

ROOT = "root"
# A literal, a class, a token, or the name of a rule.
PART = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|<[^>]*>|[A-Za-z][\w-]*', re.DOTALL)

# llama.cpp lets blanks stand between any two calls, so that a line of 64 could be read in millions of ways.
BLANKS_BETWEEN_CALLS = re.compile(r"\(([\w-]+)\? space\)\+")
# Rules of llama.cpp itself, for text up to a mark and JSON. Those of a caller's schema have longer names.
OWN_RULES = re.compile(r"(until|ac)-[0-9]+(-[0-9]+)*|json-[a-z]+|string")
NO_PARAMETERS = said("the parameters of tools")
STEPS_OF_TOOLS = 200_000  # of looking at the grammar of their calls

Rules = dict[str, str]  # what they consist of, by name


def ways_to_hold(tools: list[Any]) -> Iterator[tuple[str, list[Any], int]]:
    """What is given up so that a grammar can hold calls of all tools, the tools then, and its most bytes."""
    lighter = without_bounds(tools)
    yield "", tools, MAX_OWN_BYTES if lighter == tools else MAX_GRAMMAR_BYTES
    if lighter != tools:
        given_up = said("patterns, and lengths and numbers above {number}, in tools", number=MAX_BOUND)
        yield given_up, lighter, MAX_OWN_BYTES
    bare = [tool | {"function": tool["function"] | {"parameters": {"type": "object"}}} for tool in tools]
    yield NO_PARAMETERS, bare, MAX_OWN_BYTES


def is_bearable(grammar: str, max_bytes: int) -> bool:
    """Whether calls of tools can be held to it."""
    if not grammar:
        return True
    grammar = _unambiguous(grammar)
    if len(grammar.encode()) > max_bytes:
        return False
    if is_costly(grammar, OWN_RULES, max_steps=STEPS_OF_TOOLS):
        note_fault(grammar, said("it takes too long to look at"), OWN_RULES)
    return not fault_of(grammar, OWN_RULES)


def _unambiguous(grammar: str) -> str:
    return BLANKS_BETWEEN_CALLS.sub(r"space (\1 space)*", grammar)


@lru_cache(maxsize=64)  # the tools of a conversation stay the same, and checks take up to half a second
def checked(grammar: str, known: re.Pattern[str] | None = None) -> str:
    simpler = _unambiguous(grammar)
    check_grammar(simpler, said("JSON schema"), known)
    return simpler


def either(one: str, other: str) -> str:
    """For answers that follow one of the two."""
    rules, added = _rules(one), _rules(other)
    suffix = "-2"
    while any(name.endswith(suffix) for name in (*rules, *added)):
        suffix += "-2"
    names: dict[str, str] = {}
    while clashing := _clashing(rules, _renamed(added, names)):
        names |= {name: name + suffix for name in clashing}
    names[ROOT] = ROOT + suffix
    added = _renamed(added, names)
    first = f"{ROOT}-1{suffix}"
    both = {ROOT: f"{first} | {ROOT}{suffix}", first: rules.pop(ROOT)}
    return "".join(f"{name} ::= {body}\n" for name, body in (both | rules | added).items())


def _rules(grammar: str) -> Rules:
    lines = (line.partition(" ::= ") for line in grammar.splitlines() if line)
    return {name: body for name, _, body in lines}


def _renamed(rules: Rules, names: dict[str, str]) -> Rules:
    def written(part: re.Match[str]) -> str:
        return names.get(part[0], part[0])

    return {names.get(name, name): PART.sub(written, body) for name, body in rules.items()}


def _clashing(rules: Rules, others: Rules) -> list[str]:
    return [name for name, body in others.items() if rules.get(name, body) != body]
