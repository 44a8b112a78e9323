"""A chat's title from its first message, without a model; Markdown without its marks. Pure text.

Marks are removed line by line, roughly: a piece of a message may begin or end in the middle of code or
between two marks.
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
    """The lines that have words. Items keep a mark, and cells a point between them."""
    lines = (_unmarked(line) for line in without_marks(text).split("\n") if not _is_only_marks(line))
    return "\n".join(filter(str.strip, lines))


def _is_only_marks(line: str) -> bool:
    is_below_head = "--" in line and not line.strip(" \t|:-")
    return is_below_head or bool(_FENCE.match(line) or RULE.match(line))


def _unmarked(line: str) -> str:
    line = _ITEM.sub("• ", _HEAD.sub("", line))
    if row := _ROW.match(line):
        line = " · ".join(cell.strip() for cell in row[1].split("|"))
    line = _HALF.sub("", LINK.sub(r"\1", line))
    for pattern in (EMPHASIS, EMPHASIS):  # one in the other
        line = pattern.sub(r"\2", line)
    return line


MAX_TITLE_CHARS = 48
NEW_CHAT = "New chat"  # what has no title; translated where it is shown
NEW_NOTEBOOK = "New notebook"
# Only the beginning of a message is searched for a title.
_MAX_READ_CHARS = 4_000
_MAX_LINE_CHARS = 400

_FENCED = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_LINE_START = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,3}[.)][ \t]+)+"
)
_UNDERLINED = re.compile(r"(?<!\w)(_{1,3})(\S(?:[^\n]*?\S)?)\1(?!\w)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day))\b"
    r"(?: (?:there|all|everyone|assistant|ai|bot))?|你好|您好|嗨|哈喽|早上好|下午好|晚上好|请问)"
    r"[\s,.!~，。！、～:：-]*",
    re.IGNORECASE,
)
_COPY = re.compile(r" \((\d{1,4})\)$")
# A full stop ends a sentence behind a word of three letters; one behind "e.g" or "3" may not.
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{3})\.(?=\s)|[?!](?=\s)|[。？！]")


def title_from(text: str) -> str:
    """The first sentence in at most 48 characters, without Markdown, greetings and code; "" without text."""
    beginning = text[:_MAX_READ_CHARS]
    prose = _first_line(_FENCED.sub("\n", beginning))
    return _shortened(_first_sentence(_without_greeting(prose)) or _first_code(beginning))


def title_of_copy(title: str) -> str:
    """Adds a number, which needs no translation: "Sums", "Sums (2)", "Sums (3)"."""
    number = _COPY.search(title)
    stem = title[: number.start()] if number else title
    return f"{stem} ({int(number[1]) + 1 if number else 2})"


def _first_line(text: str) -> str:
    lines = (_plain(line[:_MAX_LINE_CHARS]) for line in text.splitlines() if not RULE.match(line))
    return next(filter(_says_something, lines), "")


def _plain(line: str) -> str:
    line = _TAG.sub("", LINK.sub(r"\1", _LINE_START.sub("", line)))
    for marked in (EMPHASIS, EMPHASIS, _UNDERLINED):
        line = marked.sub(r"\2", line)
    return " ".join(line.split())


def _says_something(line: str) -> bool:
    """Not only a greeting: what is meant follows in the next line then."""
    return bool(_GREETING.sub("", line, count=1) if _GREETING.match(line) else line)


def _without_greeting(line: str) -> str:
    greeting = _GREETING.match(line)
    rest = line[greeting.end() :] if greeting else line
    return rest[:1].upper() + rest[1:] if greeting else rest


def _first_sentence(line: str) -> str:
    end = _SENTENCE_END.search(line)
    sentence = line[: end.end()] if end else line
    return sentence.rstrip(" .。,，;；:：") or sentence


def _first_code(text: str) -> str:
    """The title of a message that is nothing but code, or nothing but a greeting."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return next((line for line in lines if line and not line.startswith(("```", "~~~"))), "")


def _shortened(title: str) -> str:
    if len(title) <= MAX_TITLE_CHARS:
        return title
    room = title[:MAX_TITLE_CHARS]  # one character more than there is room for besides the dots
    words = room.rpartition(" ")[0]
    # A script without spaces, or one endless word: anywhere is as good.
    kept = words if len(words) > MAX_TITLE_CHARS // 2 else room[:-1]
    return f"{kept.rstrip(' ,;:，、')}…"
