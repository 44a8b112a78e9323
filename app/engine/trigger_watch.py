"""Finds where in an answer its grammar begins to hold. Knows only tokens and their bytes. Engine thread only.

llama.cpp can do that itself, but ends the process where the token that completes a trigger goes on against
the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FoundTrigger:
    """The tokens from the first that has some of the trigger on, and what that one has before it."""

    token_ids: tuple[int, ...]
    before: bytes


class TriggerWatch:
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
