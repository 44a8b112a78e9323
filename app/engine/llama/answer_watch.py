"""What is watched for in an answer, token by token: its reasoning, and where its grammar begins to hold.

Knows only tokens and their bytes. Engine thread only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.engine.prompt import Reasoning


class ReasoningWatch:
    """Ends the reasoning when its budget is used up, like llama.cpp's `common/reasoning-budget.cpp`.

    `ends_character` tells whether a token's bytes end with a whole character.
    """

    def __init__(self, marks: Reasoning, ends_character: Callable[[int], bool]) -> None:
        self._marks = marks
        self._ends_character = ends_character
        self._recent: list[int] = []
        self._longest = max(map(len, (marks.start, *marks.ends)))
        self._num_tokens = 0
        self._num_forced: int | None = None  # None: nothing is forced now
        self.is_inside = False

    @property
    def forced_token(self) -> int | None:
        """The only token that may come next."""
        return None if self._num_forced is None else self._marks.forced[self._num_forced]

    def accept(self, token_id: int) -> Sequence[int]:
        """The mark that has ended the reasoning with this token, if one has."""
        self._recent = [*self._recent, token_id][-self._longest :]
        if not self.is_inside:
            if self._has(self._marks.start):
                self._begin()
            return ()
        end = next((end for end in self._marks.ends if self._has(end)), ())
        if self._num_forced is not None:
            self._num_forced += 1
            if self._num_forced == len(self._marks.forced):
                self._end()
                return end
            return ()
        if end:
            self._end()
            return end
        self._num_tokens += 1
        if self._is_used_up and self._ends_character(token_id):
            self.force()
        return ()

    def force(self) -> None:
        """End the reasoning from here on."""
        self._num_forced = 0 if self._marks.forced else None
        self._recent = []

    def give_up(self) -> None:
        """What is forced cannot come."""
        self._num_forced = None
        self._num_tokens = 0

    @property
    def _is_used_up(self) -> bool:
        return self._marks.budget is not None and self._num_tokens >= self._marks.budget

    def _has(self, mark: Sequence[int]) -> bool:
        return bool(mark) and tuple(self._recent[-len(mark) :]) == tuple(mark)

    def _begin(self) -> None:
        self.is_inside, self._num_tokens, self._recent = True, 0, []
        if self._is_used_up:
            self.force()

    def _end(self) -> None:
        self.is_inside, self._num_forced, self._recent = False, None, []


@dataclass(frozen=True, slots=True)
class FoundTrigger:
    """The tokens from the first that has some of the trigger on, and what that one has before it."""

    token_ids: tuple[int, ...]
    before: bytes


class TriggerWatch:
    """Finds where the grammar begins to hold.

    llama.cpp can do that itself, but ends the process where the token that completes a trigger goes on
    against the grammar.
    """

    def __init__(self, patterns: Sequence[re.Pattern[bytes]]) -> None:
        self._patterns = patterns
        self.forget()

    def forget(self) -> None:
        """Look for one from here on only."""
        self._text = b""
        self._tokens: list[tuple[int, int]] = []  # with where each begins in the text

    def add(self, token_id: int, piece: bytes) -> FoundTrigger | None:
        self._tokens.append((token_id, len(self._text)))
        self._text += piece
        for pattern in self._patterns:
            if match := pattern.search(self._text):
                return self._found(_start(match))
        return None

    def _found(self, start: int) -> FoundTrigger:
        ends = [begin for _token_id, begin in self._tokens[1:]] + [len(self._text)]
        first = next((at for at, end in enumerate(ends) if end > start), len(ends) - 1)
        token_ids = tuple(token_id for token_id, _begin in self._tokens[first:])
        return FoundTrigger(token_ids, self._text[self._tokens[first][1] : start])


def _start(match: re.Match[bytes]) -> int:
    """That of the first group that has something, or else of all of it."""
    groups = (match.start(number) for number in range(1, match.re.groups + 1) if match[number])
    return next(groups, match.start())
