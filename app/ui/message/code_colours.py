"""Syntax highlighting: finds what a piece of code is, from keyword to operator. Pure functions."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from pygments import lex
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

MAX_CHARS = 60_000  # a Python file of this size takes 400 ms, in pieces
MAX_LINE_CHARS = 2_000  # some lexers take quadratic time for a line


class Ink(StrEnum):
    KEYWORD = "keyword"
    STRING = "string"
    NUMBER = "number"
    COMMENT = "comment"
    FUNCTION = "function"
    TYPE = "type"  # and what a language brings along
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Run:
    """`length` characters from `start` of one line."""

    start: int
    length: int
    ink: Ink


_INKS: tuple[tuple[_TokenType, Ink], ...] = (
    (Comment, Ink.COMMENT),
    (Keyword.Type, Ink.TYPE),
    (Keyword.Constant, Ink.NUMBER),
    (Keyword, Ink.KEYWORD),
    (Operator.Word, Ink.KEYWORD),
    (String, Ink.STRING),
    (Number, Ink.NUMBER),
    (Name.Function, Ink.FUNCTION),
    (Name.Decorator, Ink.FUNCTION),
    (Name.Attribute, Ink.FUNCTION),
    (Name.Class, Ink.TYPE),
    (Name.Exception, Ink.TYPE),
    (Name.Builtin.Pseudo, Ink.KEYWORD),  # self, and the like
    (Name.Builtin, Ink.TYPE),
    (Name.Namespace, Ink.TYPE),
    (Name.Constant, Ink.NUMBER),
    (Name.Tag, Ink.KEYWORD),
    (Operator, Ink.OPERATOR),
)


def coloured_lines(code: str, language: str) -> Iterator[list[Run]]:
    """For each line its runs, one after the other; nothing for unknown languages and very long code."""
    lexer = _lexer(language)
    if lexer is None or len(code) > MAX_CHARS or max(map(len, code.split("\n"))) > MAX_LINE_CHARS:
        return
    line: list[Run] = []
    column = 0
    for kind, text in lex(code, lexer):
        for is_new_line, part in _parts(text):
            if is_new_line:
                yield line
                line, column = [], 0
            if part and (ink := _ink(kind)):
                line.append(Run(column, len(part), ink))
            column += len(part)
    yield line


def file_name(language: str) -> str:
    """A file name for that language."""
    try:
        patterns = find_lexer_class_by_name(language).filenames if language else []
    except ClassNotFound:
        patterns = []
    ending = next(
        (pattern[1:] for pattern in patterns if pattern.startswith("*.") and "[" not in pattern), ".txt"
    )
    return f"code{ending}"


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    for index, part in enumerate(text.split("\n")):
        yield index > 0, part


@cache
def _ink(kind: _TokenType) -> Ink | None:
    return next((ink for family, ink in _INKS if kind in family), None)


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, ensurenl=False, stripnl=False) if language else None
    except ClassNotFound:
        return None
