"""Syntax highlighting: finds what a piece of code is, from keyword to operator.

Some of the 600 languages take 0.15 s until they are known; `is_known` does that on a thread. GUI thread.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from pygments import lex
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

MAX_CHARS = 60_000  # a Python file of this size takes 400 ms, in pieces
MAX_LINE_CHARS = 2_000  # some lexers take quadratic time for a line
# Known within 20 ms each, so that code is in colour at once.
USUAL = {
    "bash", "c", "console", "cpp", "diff", "go", "html", "ini", "java", "javascript", "js", "json",
    "markdown", "md", "php", "py", "python", "rb", "ruby", "rust", "sh", "shell", "sql", "text", "toml", "ts",
    "txt", "typescript", "xml", "yaml", "yml",
}  # fmt: skip


class Ink(StrEnum):
    KEYWORD = "keyword"
    STRING = "string"
    NUMBER = "number"
    COMMENT = "comment"
    FUNCTION = "function"
    TYPE = "type"  # and what a language brings along
    OPERATOR = "operator"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class ColourRun:
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
    (Generic.Inserted, Ink.ADDED),
    (Generic.Deleted, Ink.REMOVED),
    (Generic.Heading, Ink.KEYWORD),
    (Generic.Subheading, Ink.FUNCTION),
)


def coloured_lines(code: str, language: str) -> Iterator[list[ColourRun]]:
    """For each line its runs, one after the other; nothing for unknown languages and very long code."""
    lexer = _lexer(language)
    if lexer is None or len(code) > MAX_CHARS or max(map(len, code.split("\n"))) > MAX_LINE_CHARS:
        return
    line: list[ColourRun] = []
    column = 0
    for kind, text in lex(f"{code}\n", lexer):  # some lexers know lines by their end
        for is_new_line, part in _parts(text):
            if is_new_line:
                yield line
                line, column = [], 0
            if part and (ink := _ink(kind)):
                line.append(ColourRun(column, len(part), ink))
            column += len(part)


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


def is_known(language: str) -> bool:
    """Whether `coloured_lines` gives its colours at once. If not, ask again a little later."""
    return language in USUAL or not language or _languages().is_known(language)


class _Languages:
    """Learns one at a time, however many an answer names."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._learner: threading.Thread | None = None

    def is_known(self, language: str) -> bool:
        if language in self._known:
            return True
        if self._learner is None or not self._learner.is_alive():
            self._learner = threading.Thread(target=self._learn, args=(language,), name="lexer", daemon=True)
            self._learner.start()
        return False

    def _learn(self, language: str) -> None:
        _lexer(language)
        self._known.add(language)


@cache
def _languages() -> _Languages:
    return _Languages()


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, ensurenl=False, stripnl=False) if language else None
    except ClassNotFound:
        return None
