"""Markdown without its marks: for lists that name an answer by a piece of it. Pure text.

Roughly, line by line: a piece may begin or end anywhere, also in the middle of code or between two marks.
"""

import re

from app.chats.thinking import without_marks

RULE = re.compile(r"^[ \t]*(?:[-*_=][ \t]*){3,}$")
LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
EMPHASIS = re.compile(r"(\*{1,3}|~~|`+)(\S(?:[^\n]*?\S)?)\1")
_HEAD = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?)+")
_ITEM = re.compile(r"^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^`]*$")
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$")
_HALF = re.compile(
    r"(?<!\S)\*\*(?=\w)|(?<=\w)\*\*(?=[\s.,:;!?)]|$)"
)  # the other half may not be in this piece


def without_markup(text: str) -> str:
    """As many lines as have words. Items keep a mark, and cells a point between them."""
    lines = (_plain(line) for line in without_marks(text).split("\n") if not _is_only_marks(line))
    return "\n".join(filter(str.strip, lines))


def _is_only_marks(line: str) -> bool:
    is_below_head = "--" in line and not line.strip(" \t|:-")
    return is_below_head or bool(_FENCE.match(line) or RULE.match(line))


def _plain(line: str) -> str:
    line = _ITEM.sub("• ", _HEAD.sub("", line))
    if row := _ROW.match(line):
        line = " · ".join(cell.strip() for cell in row[1].split("|"))
    line = _HALF.sub("", LINK.sub(r"\1", line))
    for pattern in (EMPHASIS, EMPHASIS):  # one in the other
        line = pattern.sub(r"\2", line)
    return line
