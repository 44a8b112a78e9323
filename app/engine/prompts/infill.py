"""The prompt that lets a code model write what is missing in a text: the text before and behind the gap, and
other files. The prompt thread.

Of a long text the tokens next to the gap are kept, as llama-server does it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.protocol.model import FimTokens

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

Tokenize = Callable[[str], list[int]]

MAX_TOKENS_AROUND = 2048  # of the text around the gap: three quarters before it, a quarter behind
PROJECT, FILE = "myproject\n", "filename\n"  # llama-server's names
MAX_CHARS_PER_TOKEN = 64  # what is farther from the gap is not even tokenized
BETWEEN_FILES = "\n\n--- snippet ---\n\n"  # where the vocabulary has no token for it


@dataclass(frozen=True, slots=True)
class Gap:
    """The text before, in and behind it, other files by name and text."""

    before: str
    begun: str
    behind: str
    files: tuple[tuple[str, str], ...] = ()


def infill_tokens(prompts: PromptBuilder, fim: FimTokens, gap: Gap, room: int) -> tuple[int, ...]:
    """At most `room` tokens, unless more were written in the gap. Raises InvalidRequestError."""

    def tokenize(text: str) -> list[int]:
        return prompts.tokenize(text, parse_special=False)

    around = min(MAX_TOKENS_AROUND, room)
    begun = tokenize(gap.begun)
    before = _last(tokenize(gap.before[-around * MAX_CHARS_PER_TOKEN :]), 3 * around // 4)
    behind = tokenize(gap.behind[: around * MAX_CHARS_PER_TOKEN])[: max(around // 4 - 2 - len(begun), 0)]
    written = [fim.prefix, *before, *begun, fim.suffix, *behind, fim.middle]
    leading = prompts.tokenize("", adds_leading=True)
    room -= len(leading) + len(written)
    return (*leading, *_last(_other_files(tokenize, fim, gap.files, room), room), *written)


def _other_files(
    tokenize: Tokenize, fim: FimTokens, files: Sequence[tuple[str, str]], room: int
) -> list[int]:
    """Those that fit, from the last one on, and a part of the next.

    Without any there are no names either: a lone file begins better without one.
    """
    if not files:
        return []
    others = [fim.file, *tokenize(FILE)] if fim.file >= 0 else []
    for name, text in reversed(files):
        if len(others) >= room:
            return others
        head = [fim.file, *tokenize(f"{name}\n")] if fim.file >= 0 else tokenize(BETWEEN_FILES)
        others = [*head, *tokenize(text[-room * MAX_CHARS_PER_TOKEN :]), *others]
    return [fim.repository, *tokenize(PROJECT), *others] if fim.repository >= 0 else others


def _last(tokens: list[int], count: int) -> list[int]:
    return tokens[max(len(tokens) - count, 0) :] if count > 0 else []
