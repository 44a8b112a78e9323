"""Who asks, and whose turn it is. Any thread.

A program that asks for a thousand answers at once must not keep others from one: programs take turns, and
within a program its connections.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Caller(NamedTuple):
    program: str
    connection: str = ""


WINDOW = Caller("")  # all of its chats are one


def by_turn(waiting: Sequence[T], served: Collection[Caller], caller_of: Callable[[T], Caller]) -> list[T]:
    """`waiting` in the order in which places are given away, beside the callers who have one."""
    taking_turns = _taking_turns(waiting, served, caller_of)
    programs = [caller.program for caller in served]
    return _taking_turns(taking_turns, programs, lambda one: caller_of(one).program)


def owes(rich: Caller, poor: Caller, served: Iterable[Caller]) -> bool:
    """Whether `rich` had no less than `poor` if it gave it one of its places."""
    if rich.program == poor.program:
        counts: Counter[Hashable] = Counter(served)
        return counts[rich] >= counts[poor] + 2
    counts = Counter(caller.program for caller in served)
    return counts[rich.program] >= counts[poor.program] + 2


def _taking_turns(waiting: Sequence[T], served: Iterable[Hashable], name: Callable[[T], Hashable]) -> list[T]:
    """The first of each name, then the second of each, and so on. Those served count as the first ones."""
    counts = Counter(served)
    turns = []
    for one in waiting:
        turns.append(counts[name(one)])
        counts[name(one)] += 1
    return [one for _turn, one in sorted(zip(turns, waiting, strict=True), key=itemgetter(0))]
