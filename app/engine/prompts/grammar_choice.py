"""A grammar for answers that follow one of two others, as llama.cpp writes them: a rule on each line.

Pure functions on GBNF.
"""

from __future__ import annotations

import re

ROOT = "root"
# A literal, a class, a token, or the name of a rule.
PART = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|<[^>]*>|[A-Za-z][\w-]*', re.DOTALL)

Rules = dict[str, str]  # what they consist of, by name


def either(one: str, other: str) -> str:
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
