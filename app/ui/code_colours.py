"""Which characters of a piece of code are keywords, strings, numbers, comments. Pure functions."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pygments import lex
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

MAX_CHARS = 20_000  # a Python file of this size takes 130 ms


class Ink(StrEnum):
    KEYWORD = "keyword"
    STRING = "string"
    NUMBER = "number"
    COMMENT = "comment"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Run:
    """`length` characters from `start` of one line."""

    start: int
    length: int
    ink: Ink


_INKS: tuple[tuple[_TokenType, Ink], ...] = (
    (Comment, Ink.COMMENT),
    (Keyword, Ink.KEYWORD),
    (Operator.Word, Ink.KEYWORD),
    (String, Ink.STRING),
    (Number, Ink.NUMBER),
    (Name.Function, Ink.NAME),
    (Name.Class, Ink.NAME),
    (Name.Tag, Ink.KEYWORD),
)


def coloured_lines(code: str, language: str) -> list[list[Run]]:
    """For each line its runs; no colours for unknown languages and very long code."""
    lexer = _lexer(language)
    if lexer is None or len(code) > MAX_CHARS:
        return []
    lines: list[list[Run]] = [[]]
    column = 0
    for kind, text in lex(code, lexer):
        for is_new_line, part in _parts(text):
            if is_new_line:
                lines.append([])
                column = 0
            if part and (ink := _ink(kind)):
                lines[-1].append(Run(column, len(part), ink))
            column += len(part)
    return lines


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    for index, part in enumerate(text.split("\n")):
        yield index > 0, part


def _ink(kind: _TokenType) -> Ink | None:
    return next((ink for family, ink in _INKS if kind in family), None)


def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, ensurenl=False, stripnl=False) if language else None
    except ClassNotFound:
        return None
