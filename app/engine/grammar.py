"""Reads GBNF, llama.cpp's notation for grammars, and refuses what llama.cpp would not survive. Any thread.

llama.cpp refuses wrong spelling, too, but shows it on the terminal only. And it takes grammars that end the
process or never come back, some of them many tokens later (each measured, llama-cpp-python 0.3.36): deep
nesting, `{5,3}`, left recursion behind a rule that may be empty, a rule that can never end, rules that begin
in millions of ways, and tokens in <> behind characters. Knows nothing of the vocabulary and of JSON.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import NoReturn

from app.engine.errors import InvalidRequestError

ROOT = "root"
MAX_GRAMMAR_BYTES = 64 << 10
MAX_NESTING = 500
MAX_NAME_CHARS = 1000  # llama.cpp keeps it once for each repetition
MAX_REPETITIONS = 2000  # llama.cpp's own limit; what may come more often than that may come without end
MAX_ELEMENTS = 200_000  # of all rules once their repetitions are written out
MAX_RULES_DEEP = 1000  # entered one in the other before the first character
MAX_WAYS = 1000  # llama.cpp follows all of them, in time that grows faster than their number

ESCAPE = r'\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[trn\\"\[\]-])'
TOKEN = re.compile(
    rf"""
    (?P<space>   [ \t]+ | \#[^\r\n]* )
  | (?P<newline> \r\n? | \n )
  | (?P<define>  ::= )
  | (?P<name>    [a-zA-Z0-9-]+ )
  | (?P<literal> "(?:{ESCAPE}|[^"\\])*" )
  | (?P<chars>   \[\^?(?:{ESCAPE}|[^\]\\])*\] )
  | (?P<token>   !?< )
  | (?P<any>     \. )
  | (?P<repeat>  [*+?] | \{{[ \t]*[0-9]{{1,18}}[ \t]*(?:,[ \t]*(?:[0-9]{{1,18}}[ \t]*)?)?\}} )
  | (?P<open>    \( )
  | (?P<close>   \) )
  | (?P<bar>     \| )
    """,
    re.VERBOSE,
)
CHARACTER = re.compile(rf"{ESCAPE}|[^\\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Symbol:
    """A rule by its name, or None for something that takes characters; so often in a row."""

    name: str | None
    min_times: int = 1
    max_times: int | None = 1  # None: without end


_Alternative = list[_Symbol]
_Rules = dict[str, list[_Alternative]]


@lru_cache(maxsize=32)  # a frozen value is checked again with each copy of it
def check_grammar(text: str, what: str = "grammar") -> None:
    """Raise InvalidRequestError for a grammar that llama.cpp cannot follow, or not safely.

    `what` the user wrote, if it was not the grammar itself.
    """
    try:
        _check_text(text)
        rules = _Reader(text).read()
        _check_names(rules)
        _check_ends(rules)
        _check_beginnings(rules)
    except _FaultError as fault:
        raise InvalidRequestError(
            f"The {what} cannot be used: {fault}. Correct it, or ask without it."
        ) from fault


class _FaultError(Exception):
    """What is wrong with a grammar."""


def _check_text(text: str) -> None:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise _FaultError("it contains half of a surrogate pair") from error
    if len(data) > MAX_GRAMMAR_BYTES:
        raise _FaultError(f"it has more than {MAX_GRAMMAR_BYTES:,} bytes")
    if b"\0" in data:
        raise _FaultError("it contains a NUL character")


class _Reader:
    """Rules as they are written; groups, and repetitions of repetitions, become rules of their own."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._rules: _Rules = {}
        self._open: list[str] = []  # the rule being read and the groups in it, outermost first
        self._name = ""  # read, but not yet defined
        self._may_go_on = False  # on the next line
        # Of what a repetition would repeat. llama.cpp multiplies the rules it stands for to limit them.
        self._num_last_elements = 0
        self._num_last_rules = 0
        self._num_elements = 0
        self._num_rules = 0
        self._names: set[str] = set()

    def read(self) -> _Rules:
        while self._position < len(self._text):
            match = TOKEN.match(self._text, self._position)
            if not match:
                self._fail(f"{self._text[self._position : self._position + 20]!r} cannot be read")
            assert match.lastgroup is not None
            self._take(match.lastgroup, match[0])
            self._position = match.end()
        self._end_line()
        return self._rules

    def _take(self, kind: str, text: str) -> None:
        if kind == "newline":
            self._end_line()
        elif kind != "space" and not self._open:
            self._begin_rule(kind, text)
        elif kind == "bar":
            self._rules[self._open[-1]].append([])
            self._expect_symbol()
        elif kind == "open":
            self._open_group()
        elif kind == "close":
            self._close_group()
        elif kind == "repeat":
            self._repeat(text)
        elif kind == "name":
            self._note_name(text)
            self._add(_Symbol(text))
        elif kind == "literal":
            self._add_characters(text[1:-1])
        elif kind == "chars":
            self._add_characters(text[1:-1].removeprefix("^"))
        elif kind == "any":
            self._add(_Symbol(None))
        elif kind == "token":
            self._fail("a token in <> cannot be used, only what it writes")
        elif kind != "space":
            self._fail(f"{text!r} is not expected")

    def _end_line(self) -> None:
        at_end = self._position == len(self._text)
        if len(self._open) > 1:
            if at_end:
                self._fail("a ) is missing")
        elif self._name:
            self._fail(f"::= is missing after {self._name!r}")
        elif not self._may_go_on or at_end:
            self._open.clear()

    def _begin_rule(self, kind: str, text: str) -> None:
        if kind == "name" and not self._name:
            if len(text) > MAX_NAME_CHARS:
                self._fail(f"a name has more than {MAX_NAME_CHARS:,} characters")
            self._name = text
        elif kind == "define" and self._name:
            self._note_name(self._name)
            self._rules[self._name] = [[]]
            self._open.append(self._name)
            self._name = ""
            self._expect_symbol()
        else:
            self._fail(f"a rule must begin with its name and ::=, not with {text!r}")

    def _expect_symbol(self) -> None:
        self._may_go_on = True
        self._num_last_rules = 0  # nothing to repeat

    def _open_group(self) -> None:
        if len(self._open) > MAX_NESTING:
            self._fail(f"more than {MAX_NESTING} groups are in each other")
        group = self._new_rule([[]])
        self._open.append(group)
        self._expect_symbol()

    def _close_group(self) -> None:
        if len(self._open) == 1:
            self._fail("( is missing for this )")
        group = self._open.pop()
        self._add(_Symbol(group), num_rules=self._num_rules - int(group.rsplit("_", 1)[1]))

    def _add_characters(self, text: str) -> None:
        if text:
            self._add(_Symbol(None), sum(1 for _ in CHARACTER.finditer(text)))
        else:  # no characters, in quotes or in brackets, are nothing at all to llama.cpp
            self._may_go_on, self._num_last_rules = False, 0

    def _add(self, symbol: _Symbol, num_elements: int = 1, num_rules: int = 1) -> None:
        self._rules[self._open[-1]][-1].append(symbol)
        self._may_go_on = False
        self._num_last_elements, self._num_last_rules = num_elements, num_rules
        self._count_elements(num_elements)

    def _repeat(self, text: str) -> None:
        if not self._num_last_rules:
            self._fail(f"there is nothing before {text} that it could repeat")
        low, high = self._times(text)
        self._num_last_rules *= high or max(low, 1)
        if self._num_last_rules > MAX_REPETITIONS:
            self._fail(f"repetitions in each other make more than {MAX_REPETITIONS:,} rules")
        num_optional = 1 if high is None else high - low
        self._count_elements(low * self._num_last_elements + num_optional * (self._num_last_elements + 3))
        self._num_last_elements = low * self._num_last_elements + min(num_optional, 1)
        self._num_rules += num_optional
        alternative = self._rules[self._open[-1]][-1]
        last = alternative.pop()
        if (last.min_times, last.max_times) != (1, 1):
            last = _Symbol(self._new_rule([[last]]))
        alternative.append(replace(last, min_times=low, max_times=high))

    def _times(self, text: str) -> tuple[int, int | None]:
        if text in "*+?":
            return (1 if text == "+" else 0), (1 if text == "?" else None)
        low_text, *high_texts = text.strip("{}").split(",")
        low = int(low_text)
        high = int(high_texts[0]) if high_texts and high_texts[0].strip() else None
        if not high_texts:
            high = low
        if low > MAX_REPETITIONS:
            self._fail(f"{text} asks for more than {MAX_REPETITIONS:,} repetitions")
        if high is not None and high < low:
            self._fail(f"in {text} the second number must not be the smaller one")
        return low, high if high is None or high <= MAX_REPETITIONS else None

    def _note_name(self, name: str) -> None:
        if name not in self._names:
            self._names.add(name)
            self._num_rules += 1

    def _new_rule(self, alternatives: list[_Alternative]) -> str:
        name = f"{self._open[0]}_{self._num_rules}"  # no name that is written can have a _
        self._num_rules += 1
        self._rules[name] = alternatives
        return name

    def _count_elements(self, number: int) -> None:
        self._num_elements += number
        if self._num_elements > MAX_ELEMENTS:
            self._fail(f"written out, it has more than {MAX_ELEMENTS:,} elements; repeat less")

    def _fail(self, reason: str) -> NoReturn:
        line = self._text.count("\n", 0, self._position) + 1
        raise _FaultError(f"line {line}: {reason}")


def _check_names(rules: _Rules) -> None:
    if ROOT not in rules:
        raise _FaultError(f"it has no rule {ROOT!r}, where every answer begins")
    for name, alternatives in rules.items():
        for alternative in alternatives:
            for symbol in alternative:
                if symbol.name is not None and symbol.name not in rules:
                    raise _FaultError(f"rule {_shown(name)} needs a rule {symbol.name!r}, which is not there")


def _check_ends(rules: _Rules) -> None:
    """A rule without an end may leave llama.cpp with nothing to follow, and it aborts."""
    endless = rules.keys() - _derivable(rules, from_characters=True)
    if endless:
        raise _FaultError(f"rule {_shown(min(endless))} can never end, because it always needs itself again")


def _check_beginnings(rules: _Rules) -> None:
    nullable = _derivable(rules, from_characters=False)
    graph = {name: set(_first_rules(alternatives, nullable)) for name, alternatives in rules.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise _FaultError(
            f"rule {_shown(error.args[1][0])} is left-recursive: it begins with itself"
        ) from None
    depths: dict[str, int] = {}
    ways: dict[str, int] = {}
    for name in order:
        depths[name] = 1 + max((depths[first] for first in graph[name]), default=0)
        ways[name] = sum(list(_ways(alternative, ways, nullable))[-1] for alternative in rules[name])
        if depths[name] > MAX_RULES_DEEP:
            raise _FaultError(
                f"rule {_shown(name)} enters more than {MAX_RULES_DEEP:,} rules before its first character"
            )
    for name, alternatives in rules.items():
        most = max(max(_ways(alternative, ways, nullable)) for alternative in alternatives)
        if max(most, ways[name]) > MAX_WAYS:
            raise _FaultError(
                f"at one point of rule {_shown(name)} there are more than {MAX_WAYS:,} ways to go on"
            )


def _derivable(rules: _Rules, *, from_characters: bool) -> set[str]:
    """Rules that can come to an end, or without `from_characters` those that can be empty."""
    found: set[str] = set()
    todo: list[str] = []
    waiting: dict[str | None, list[list[str]]] = defaultdict(list)  # alternatives, by what each still needs
    for name, alternatives in rules.items():
        for alternative in alternatives:
            needs = [symbol.name for symbol in alternative if symbol.min_times]
            needs = [need for need in needs if need is not None or not from_characters]
            tickets = [name] * len(needs)
            for need in needs:
                waiting[need].append(tickets)
            if not needs:
                todo.append(name)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            for tickets in waiting[name]:
                owner = tickets.pop()
                if not tickets:
                    todo.append(owner)
    return found


def _first_rules(alternatives: list[_Alternative], nullable: set[str]) -> Iterator[str]:
    """The rules that `alternatives` may enter before their first character."""
    for alternative in alternatives:
        for symbol in alternative:
            if symbol.name is not None and symbol.max_times != 0:
                yield symbol.name
            if symbol.min_times and symbol.name not in nullable:
                break


def _ways(alternative: _Alternative, ways: dict[str, int], nullable: set[str]) -> Iterator[int]:
    """In how many ways it can go on from each place in it, from its end to its beginning."""
    here = 1
    yield here
    for symbol in reversed(alternative):
        is_empty_rule = symbol.name in nullable
        own = 1 if symbol.name is None else ways.get(symbol.name, 0) - is_empty_rule
        times = (symbol.max_times or symbol.min_times + 1) if is_empty_rule else 1
        here = own * times + (here if is_empty_rule or not symbol.min_times else 0)
        yield here


def _shown(name: str) -> str:
    """A group is shown by the rule it is in."""
    return repr(name.split("_")[0])
