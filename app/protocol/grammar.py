"""Refuses grammars that would crash or hang llama.cpp. Any thread.

llama.cpp accepts grammars that abort the process or never return, some of them many tokens later (each
measured, llama-cpp-python 0.3.36): deep nesting, `{5,3}`, left recursion behind a rule that may be empty, a
rule that can never end, rules that begin in millions of ways, texts that can be read in as many, and tokens
in <> behind characters. Knows nothing of the vocabulary and of JSON.
"""

import contextlib
import random
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

from app.protocol.errors import InvalidRequestError
from app.protocol.gbnf import Alternative, Characters, GbnfError, Rules, read_gbnf
from app.system.said import said

ROOT = "root"
MAX_GRAMMAR_BYTES = 64 << 10
MAX_OWN_BYTES = 4 << 20  # of a grammar made here, as of all of an agent's tools
MAX_RULES_DEEP = 1000  # entered one in the other before the first character
MAX_WAYS = 500  # to go on, and spans of characters; llama.cpp compares each with 152,000 tokens, in 0.4 s
MAX_READINGS = 1000  # of one token
LONGEST_RUN = 64  # of one character in one token, as in a line of dashes
MAX_STEPS = 1_500_000  # of looking at readings, in about a second; 500 words in a repetition take half of it
STEPS_AT_ONCE = 20_000  # take some 15 ms
MAX_KEPT = 256  # as many requests may be open
MAX_CODE_POINT = 0x10FFFF
EMPTY = -1  # stack

_Stack = tuple[int, int, int, int, int]


def check_grammar(text: str, what: str = said("grammar"), known: re.Pattern[str] | None = None) -> None:
    """Raise InvalidRequestError for a grammar that is invalid or unsafe in llama.cpp.

    `what` names what the user wrote, if not the grammar itself. Rules whose names fit `known` are ours, and
    read each text in one way. May compute for a second: not on an event loop.
    """
    if reason := fault_of(text, known):
        raise InvalidRequestError(
            said(
                "The {what} cannot be used: {reason}. Correct or remove it.",
                what=what,
                reason=reason,
            )
        )


def is_costly(text: str, known: re.Pattern[str] | None = None, *, max_steps: int = STEPS_AT_ONCE) -> bool:
    """Whether `check_grammar` would compute for over some 20 ms: better in a process that can be killed."""
    if (text, known) not in _faults:
        fault = _found(text, max_steps, known)
        if fault is None:
            return True
        note_fault(text, fault, known)
    return False


def fault_of(text: str, known: re.Pattern[str] | None = None) -> str:
    """What is wrong with a grammar; empty if nothing is."""
    fault = _faults.get((text, known))
    if fault is None:
        fault = _found(text, MAX_STEPS, known) or ""
        note_fault(text, fault, known)
    return fault


def note_fault(text: str, fault: str, known: re.Pattern[str] | None = None) -> None:
    """What `fault_of` has found, here or in another process."""
    while len(_faults) >= MAX_KEPT:
        _faults.pop(next(iter(_faults)), None)
    _faults[text, known] = fault


# Each is checked once more when its answer begins.
_faults: dict[tuple[str, re.Pattern[str] | None], str] = {}


def _found(text: str, max_steps: int, known: re.Pattern[str] | None = None) -> str | None:
    """The fault, if so many steps are enough to tell."""
    try:
        _check_text(text, MAX_OWN_BYTES if known else MAX_GRAMMAR_BYTES)
        rules = read_gbnf(text)
        _check_names(rules)
        _check_ends(rules)
        _check_beginnings(rules)
        _check_runs(rules, max_steps, known)
    except GbnfError as error:
        return str(error)
    except _UndecidedError:
        return None
    return ""


class _UndecidedError(Exception):
    """It takes more steps."""


def _check_text(text: str, max_bytes: int) -> None:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise GbnfError("it contains a lone surrogate") from error
    if len(data) > max_bytes:
        raise GbnfError(f"it has more than {max_bytes:,} bytes")
    if b"\0" in data:
        raise GbnfError("it contains a NUL character")


def _check_names(rules: Rules) -> None:
    if ROOT not in rules:
        raise GbnfError(f"it has no rule {ROOT!r}, where every answer begins")
    for name, alternatives in rules.items():
        for alternative in alternatives:
            for symbol in alternative:
                if symbol.name and symbol.name not in rules:
                    raise GbnfError(
                        f"rule {_shown(name)} needs a rule {_shown(symbol.name)}, which is not there"
                    )


def _check_ends(rules: Rules) -> None:
    """A rule that cannot end may leave llama.cpp without any stack, and it aborts."""
    endless = rules.keys() - _derivable(rules, from_text=True)
    if endless:
        raise GbnfError(f"rule {_shown(min(endless))} can never end, because it always needs itself again")


def _check_beginnings(rules: Rules) -> None:
    nullable = _derivable(rules, from_text=False)
    graph = {name: set(_first_rules(alternatives, nullable)) for name, alternatives in rules.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        name = _shown(error.args[1][0])
        raise GbnfError(f"rule {name} is left-recursive: it begins with itself") from error
    depths: dict[str, int] = {}
    ways: dict[str, int] = {}
    for name in order:
        depths[name] = 1 + max((depths[first] for first in graph[name]), default=0)
        ways[name] = sum(list(_ways(alternative, ways, nullable))[-1] for alternative in rules[name])
        if depths[name] > MAX_RULES_DEEP:
            raise GbnfError(f"rule {_shown(name)} enters more than {MAX_RULES_DEEP:,} rules before any text")
    for name, alternatives in rules.items():
        most = max(max(_ways(alternative, ways, nullable)) for alternative in alternatives)
        if max(most, ways[name]) > MAX_WAYS:
            raise GbnfError(
                f"at one point rule {_shown(name)} has more than {MAX_WAYS:,} ways to go on, "
                "or characters in []"
            )


def _check_runs(rules: Rules, max_steps: int, known: re.Pattern[str] | None) -> None:
    """One token can be one character many times over, and llama.cpp tries every way to read it at once.

    Readings of other texts become many slowly, token by token, and the sampler stops when they take too long.
    """
    readings = _Readings(rules, max_steps)
    code_points = _representatives(_texts(rules))
    for name, stacks in readings.beginnings(set(_recursive(rules))):
        if known and known.fullmatch(_written(name)):
            continue
        for code_point in readings.readable(stacks, code_points):
            if readings.most_of_run(stacks, code_point) > MAX_READINGS:
                raise GbnfError(
                    f"rule {_shown(name)} can read {chr(code_point)!r} again and again in more than "
                    f"{MAX_READINGS:,} ways; write it so that there is one way"
                )


class _Readings:
    """All readings of a text at once, each as the stack of places that llama.cpp keeps for it.

    A place is an alternative, which of its symbols comes next, how often that was read in a row already, and
    how much of its text. Stacks are numbers: that of a top place with the stack below it.
    """

    def __init__(self, rules: Rules, max_steps: int) -> None:
        self._max_steps = max_steps
        self._alternatives = [alternative for alternatives in rules.values() for alternative in alternatives]
        numbers = iter(range(len(self._alternatives)))
        self._of_rule = {name: [next(numbers) for _ in alternatives] for name, alternatives in rules.items()}
        self._stacks: list[_Stack] = []
        self._numbers: dict[_Stack, int] = {}
        self._gone_on: dict[int, set[int]] = {}
        self._num_steps = 0

    def beginnings(self, recursive: set[str]) -> Iterator[tuple[str, set[int]]]:
        """Where the readings of a run may begin to be many: at a rule that comes back, and at repetitions."""
        for name, alternatives in self._of_rule.items():
            if name == ROOT or name in recursive:
                yield name, self._before_text(self._entered(name, EMPTY))
            for alternative in alternatives:
                was_repeated = False
                for at, symbol in enumerate(self._alternatives[alternative]):
                    is_repeated = symbol.max_times != 1
                    if is_repeated and not was_repeated:
                        yield name, self._before_text([self._number((alternative, at, 0, 0, EMPTY))])
                    was_repeated = is_repeated

    def readable(self, stacks: set[int], code_points: list[int]) -> set[int]:
        """The sorted `code_points` that can be read from `stacks` on."""
        found: set[int] = set()
        for alternative, at, _times, offset, _below in map(self._stacks.__getitem__, stacks):
            characters = self._alternatives[alternative][at].text[offset]
            among = _among(code_points, characters)
            self._count(len(characters.ranges) + len(among))
            found |= among
        return found

    def most_of_run(self, stacks: set[int], code_point: int) -> int:
        """In how many ways a run of one character can be read from `stacks` on, at most."""
        ways = Counter(stacks)
        most = 0
        for _ in range(LONGEST_RUN):
            following: Counter[int] = Counter()
            self._count(len(ways))
            for stack, number in ways.items():
                stacks_after = self._after_character(stack, code_point)
                self._count(len(stacks_after))
                for after in stacks_after:
                    following[after] += number
            ways = following
            most = max(most, ways.total())
            if not ways or most > MAX_READINGS:
                break
        return most

    def _count(self, num_steps: int) -> None:
        self._num_steps += num_steps
        if self._num_steps <= self._max_steps:
            return
        if self._max_steps < MAX_STEPS:
            raise _UndecidedError
        raise GbnfError("it has more ways to read a text than can be looked at; make it simpler")

    def _number(self, stack: _Stack) -> int:
        number = self._numbers.setdefault(stack, len(self._stacks))
        if number == len(self._stacks):
            self._stacks.append(stack)
        return number

    def _entered(self, name: str, below: int) -> list[int]:
        return [self._number((alternative, 0, 0, 0, below)) for alternative in self._of_rule[name]]

    def _before_text(self, stacks: list[int]) -> set[int]:
        """`stacks`, gone on through rules and ends of rules to where each next reads a character."""
        seen: set[int] = set()
        found: set[int] = set()
        todo = stacks
        while todo:
            number = todo.pop()
            self._count(1)
            if number == EMPTY or number in seen:
                continue
            seen.add(number)
            alternative, at, times, offset, below = self._stacks[number]
            symbols = self._alternatives[alternative]
            if at == len(symbols):
                todo.append(below)
                continue
            symbol = symbols[at]
            if not offset and times >= symbol.min_times:
                todo.append(self._number((alternative, at + 1, 0, 0, below)))
            if symbol.max_times is None or times < symbol.max_times:
                if symbol.text:
                    found.add(number)
                else:
                    todo += self._entered(symbol.name, self._after_symbol(number))
        return found

    def _after_character(self, number: int, code_point: int) -> Collection[int]:
        alternative, at, times, offset, below = self._stacks[number]
        text = self._alternatives[alternative][at].text
        if code_point not in text[offset]:
            return ()
        if offset + 1 < len(text):
            return (self._number((alternative, at, times, offset + 1, below)),)
        after = self._after_symbol(number)
        if after not in self._gone_on:
            self._gone_on[after] = self._before_text([after])
        return self._gone_on[after]

    def _after_symbol(self, number: int) -> int:
        alternative, at, times, _offset, below = self._stacks[number]
        symbol = self._alternatives[alternative][at]
        times += 1
        if times == symbol.max_times:
            at, times = at + 1, 0
        elif symbol.max_times is None:
            times = min(times, symbol.min_times)  # more make no difference
        if at == len(self._alternatives[alternative]):
            return below  # as llama.cpp does, so that a rule that ends with itself grows no stack
        return self._number((alternative, at, times, 0, below))


def _texts(rules: Rules) -> Iterator[Characters]:
    for alternatives in rules.values():
        for alternative in alternatives:
            for symbol in alternative:
                yield from symbol.text


def _representatives(texts: Iterable[Characters]) -> list[int]:
    """One code point, in order, of each set of those that are in the same `texts`."""
    changes: dict[int, int] = defaultdict(int)
    for characters in set(texts):
        mark = random.getrandbits(64)
        for low, high in characters.ranges:
            changes[low] ^= mark
            changes[high + 1] ^= mark
    found = {0: 0}
    marks = 0  # of all that the code point is in
    for code_point in sorted(point for point in changes if point <= MAX_CODE_POINT):
        marks ^= changes[code_point]
        found.setdefault(marks, code_point)
    return sorted(found.values())


def _among(code_points: list[int], characters: Characters) -> set[int]:
    found = {
        point
        for low, high in characters.ranges
        for point in code_points[bisect_left(code_points, low) : bisect_right(code_points, high)]
    }
    return set(code_points) - found if characters.negated else found


def _recursive(rules: Rules) -> list[str]:
    """Rules that come back to themselves, or to one that does."""
    graph = {
        name: {symbol.name for alternative in alternatives for symbol in alternative if symbol.name}
        for name, alternatives in rules.items()
    }
    sorter = TopologicalSorter(graph)
    with contextlib.suppress(CycleError):  # it sorts as far as it can
        sorter.prepare()
    rest = set(rules)
    while ready := sorter.get_ready():
        rest.difference_update(ready)
        sorter.done(*ready)
    return sorted(rest)


def _derivable(rules: Rules, *, from_text: bool) -> set[str]:
    """Rules that can come to an end, or without `from_text` those that can be empty."""
    found: set[str] = set()
    todo: list[str] = []
    waiting: dict[str, list[list[str]]] = defaultdict(list)  # alternatives, by what each still needs
    for name, alternatives in rules.items():
        for alternative in alternatives:
            needs = [symbol.name for symbol in alternative if symbol.min_times]
            needs = [need for need in needs if need or not from_text]
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


def _first_rules(alternatives: list[Alternative], nullable: set[str]) -> Iterator[str]:
    """The rules that `alternatives` may enter before their first character."""
    for alternative in alternatives:
        for symbol in alternative:
            if symbol.name and symbol.max_times != 0:
                yield symbol.name
            if symbol.min_times and symbol.name not in nullable:
                break


def _ways(alternative: Alternative, ways: dict[str, int], nullable: set[str]) -> Iterator[int]:
    """In how many ways it can go on from each place in it, from its end to its beginning."""
    here = 1
    yield here
    for symbol in reversed(alternative):
        is_empty_rule = symbol.name in nullable
        own = ways.get(symbol.name, 0) - is_empty_rule if symbol.name else symbol.num_spans
        times = (symbol.max_times or symbol.min_times + 1) if is_empty_rule else 1
        here = own * times + (here if is_empty_rule or not symbol.min_times else 0)
        yield here


def _shown(name: str) -> str:
    return repr(_written(name)[:50])


def _written(name: str) -> str:
    """The name of the rule that a group is in."""
    return name.split("_")[0]
