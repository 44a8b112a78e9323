"""Reads GBNF, llama.cpp's notation for grammars, as strictly as llama.cpp does. Any thread.

llama.cpp reports errors in a grammar on the terminal only. Knows only the syntax, and counts the elements
after expansion.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import NoReturn

MAX_NESTING = 500
MAX_NAME_CHARS = 1000  # llama.cpp keeps it once for each repetition
MAX_REPETITIONS = 2000  # llama.cpp's own limit; a larger maximum counts as unlimited
MAX_ELEMENTS = 200_000  # of all rules once their repetitions are written out

ESCAPE = r'\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[trn\\"\[\]-])'
TOKEN = re.compile(
    rf"""
    (?P<space>   [ \t]+ | \#[^\r\n]* )
  | (?P<newline> \r\n? | \n )
  | (?P<define>  ::= )
  | (?P<name>    [a-zA-Z0-9-]+ )
  | (?P<literal> "(?:{ESCAPE}|[^"\\])*" )
  | (?P<range>   \[\^?(?:{ESCAPE}|[^\]\\])*\] )
  | (?P<token>   !?< )
  | (?P<any>     \. )
  | (?P<repeat>  [*+?] | \{{[ \t]*[0-9]{{1,18}}[ \t]*(?:,[ \t]*(?:[0-9]{{1,18}}[ \t]*)?)?\}} )
  | (?P<open>    \( )
  | (?P<close>   \) )
  | (?P<bar>     \| )
    """,
    re.VERBOSE,
)
CHARACTER = rf"(?:{ESCAPE}|[^\\])"
SPAN = re.compile(rf"({CHARACTER})(?:-({CHARACTER}))?", re.DOTALL)
NAMED_ESCAPES = {"t": "\t", "r": "\r", "n": "\n"}


Span = tuple[int, int]


class GbnfError(Exception):
    """What is wrong with a grammar, and where."""


@dataclass(frozen=True, slots=True)
class Characters:
    """Code points, as ranges with both ends in them, in order and apart; or all others."""

    ranges: tuple[Span, ...]
    negated: bool = False

    def __contains__(self, code_point: int) -> bool:
        at = bisect_right(self.ranges, code_point, key=_beginning) - 1
        return (at >= 0 and code_point <= self.ranges[at][1]) != self.negated


@dataclass(frozen=True, slots=True)
class Symbol:
    """A rule by name, or a text as the set of characters at each place; with repetitions.

    `num_spans` is what llama.cpp compares a character with, one by one: the spans in brackets, as written.
    """

    name: str = ""
    text: tuple[Characters, ...] = ()
    min_times: int = 1
    max_times: int | None = 1  # None: without end
    num_spans: int = 1


Alternative = list[Symbol]
Rules = dict[str, list[Alternative]]


def read_gbnf(text: str) -> Rules:
    """Rules by name. Groups, and repetitions of repetitions, are rules with a _ in it. Raises GbnfError."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._rules: Rules = {}
        self._open: list[str] = []  # the rule being read and the groups in it, outermost first
        self._name = ""  # read, but not yet defined
        self._may_go_on = False  # on the next line
        # The repeated symbol: llama.cpp limits the number of generated rules.
        self._num_last_elements = 0
        self._num_last_rules = 0
        self._num_elements = 0
        self._num_rules = 0
        self._names: set[str] = set()

    def read(self) -> Rules:
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
            self._add(Symbol(text))
        elif kind == "literal":
            self._add_text([Characters((span,)) for span in _spans(text[1:-1], with_ranges=False)])
        elif kind == "range":
            self._add_range(text[1:-1])
        elif kind == "any":
            self._add_text([Characters((), negated=True)])
        elif kind == "token":
            self._fail("a token in <> cannot be used, only the text it stands for")
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
        self._open.append(self._new_rule([[]]))
        self._expect_symbol()

    def _close_group(self) -> None:
        if len(self._open) == 1:
            self._fail("( is missing for this )")
        group = self._open.pop()
        self._add(Symbol(group), num_rules=self._num_rules - int(group.rsplit("_", 1)[1]))

    def _add_range(self, text: str) -> None:
        negated = text.startswith("^")
        spans = _spans(text[negated:], with_ranges=True)
        characters = [Characters(_merged(spans), negated)] if spans else []
        self._add_text(characters, num_elements=len(text), num_spans=len(spans))

    def _add_text(self, text: list[Characters], num_elements: int = 0, num_spans: int = 1) -> None:
        if text:
            self._add(Symbol(text=tuple(text), num_spans=num_spans), num_elements or len(text))
        else:  # no characters, in quotes or in brackets, are nothing at all to llama.cpp
            self._may_go_on, self._num_last_rules = False, 0

    def _add(self, symbol: Symbol, num_elements: int = 1, num_rules: int = 1) -> None:
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
            last = Symbol(self._new_rule([[last]]))
        alternative.append(replace(last, min_times=low, max_times=high))

    def _times(self, text: str) -> tuple[int, int | None]:
        if text in "*+?":
            return (1 if text == "+" else 0), (1 if text == "?" else None)
        low_text, comma, high_text = text.strip("{}").partition(",")
        low = int(low_text)
        high = low if not comma else int(high_text) if high_text.strip() else None
        if low > MAX_REPETITIONS:
            self._fail(f"{text} asks for more than {MAX_REPETITIONS:,} repetitions")
        if high is not None and high < low:
            self._fail(f"in {text} the second number must not be the smaller one")
        return low, high if high is None or high <= MAX_REPETITIONS else None

    def _note_name(self, name: str) -> None:
        if name not in self._names:
            self._names.add(name)
            self._num_rules += 1

    def _new_rule(self, alternatives: list[Alternative]) -> str:
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
        raise GbnfError(f"line {line}: {reason}")


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for low, high in sorted(span for span in spans if span[0] <= span[1]):
        if merged and low <= merged[-1][1] + 1:
            low, high = merged[-1][0], max(merged.pop()[1], high)
        merged.append((low, high))
    return tuple(merged)


def _beginning(span: Span) -> int:
    return span[0]


def _spans(text: str, *, with_ranges: bool) -> list[Span]:
    """Code points as written in quotes, or in brackets where a - makes a range of two."""
    pattern = SPAN if with_ranges else re.compile(f"({CHARACTER})()", re.DOTALL)
    return [(_code_point(low), _code_point(high or low)) for low, high in pattern.findall(text)]


def _code_point(text: str) -> int:
    if len(text) > 2:  # \x41, \u0041, \U00000041
        return int(text[2:], 16)
    return ord(NAMED_ESCAPES.get(text[-1], text[-1])) if len(text) == 2 else ord(text)
