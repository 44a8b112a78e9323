"""Turns Markdown from a model into blocks: HTML for Qt's text views, and code.

Long lists, tables and paragraphs are split, at places determined by the source alone, so that a growing one
need not be redrawn as a whole. Knows no widget and no colour. Pure functions, any thread.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from markdown_it.token import Token
from markdown_it.utils import EnvType

from app.ui.message.markdown_html import parse, parse_inline, parse_outline, safe_html

CHUNK_CHARS = 2_000  # of a list or a paragraph: drawing that many takes 2 ms
TABLE_CHUNK_CHARS = 1_000  # 5 ms
WIDE_FORMULA = 60  # characters of LaTeX in one of its lines
MAX_TOKENS = 500  # in a piece of a list or a table
MAX_SENTENCES = 50  # among which one is sought that ends a piece

_FOOTNOTE = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:", re.MULTILINE)
# Inside a paragraph: after a sentence, and where no mark is open that could belong to what follows.
_SENTENCE_END = re.compile(r"(?<=[.!?。！？\n])[ \n]*(?=[^\W\d_])")
_WORD = re.compile(r"(?<=\s)[^\W\d_]")
_PAIRED = re.compile(r"\\.|[`*_~$\[\]<>]")


class BlockKind(StrEnum):
    PROSE = "prose"
    TABLE = "table"
    CODE = "code"
    FORMULA = "formula"  # one that may be wider than the page


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block, or a piece of a long one, from offset `start` of the source on.

    Code has no HTML, the others no code. `joins`: continues the block before. A piece of a long table has the
    source of its `head` and the `widths` of its columns, in percent.
    """

    kind: BlockKind
    start: int
    html: str = ""
    code: str = ""
    info: str = ""
    is_closed: bool = True
    joins: bool = False
    head: str = ""
    widths: tuple[int, ...] = ()


def parse_blocks(
    source: str, labels: frozenset[str] | None = None, table: Block | None = None, is_growing: bool = False
) -> list[Block]:
    """The blocks of `source` in order. A fence that has not ended yet is code that is not closed.

    `labels`: the known footnotes, if there are more than in the source. `table`: the source goes on with the
    rows of that one. `is_growing`: more may follow at once, so what is bold or code at the end is closed.
    """
    known = frozenset(footnote_labels(source)) if labels is None else labels
    env: EnvType = {
        "footnotes": {"refs": {f":{label}": -1 for label in known}, "list": {}},
        "is_growing": is_growing,
    }
    head = table.head if table else ""
    reader = _Reader(head + source, env, table)
    return [replace(block, start=max(0, block.start - len(head))) for block in reader.blocks()]


def inner_start(source: str) -> int | None:
    """Where the last part of what `source` begins with starts: the last item, or block in a quotation."""
    starts = [token for token in parse_outline(source) if token.nesting >= 0 and token.map]
    inner = [token for token in starts if token.map and starts[0].map and token.map[0] > starts[0].map[0]]
    if not inner:
        return None
    level = min(token.level for token in inner)
    last = max(token.map[0] for token in inner if token.map and token.level == level)
    return _line_starts(source)[last]


def word_start(text: str) -> int:
    """Where the last word begins, if there is one in the last quarter, or else its end."""
    starts = [found.start() for found in _WORD.finditer(text, 3 * len(text) // 4)]
    return starts[-1] if starts else len(text)


def footnote_labels(source: str) -> list[str]:
    """The labels of the footnotes that are explained there, in order."""
    return list(dict.fromkeys(_FOOTNOTE.findall(source)))


def _line_starts(source: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\r\n|\r|\n", source))]


class _Reader:
    """Splits one source into blocks."""

    def __init__(self, source: str, env: EnvType, table: Block | None) -> None:
        self._source = source
        self._env = env
        self._table = table
        self._starts = _line_starts(source)

    def blocks(self) -> Iterator[Block]:
        for tokens in _top_level(parse(self._source, self._env)):
            first, last = tokens[0].map or [0, 0]
            start, end = self._offset(first), self._offset(last)
            pieces = list(self._pieces(tokens, start, end))
            for index, piece in enumerate(pieces):
                is_followed = index < len(pieces) - 1
                yield replace(open_ended(piece) if is_followed else piece, joins=index > 0)

    def _offset(self, line: int) -> int:
        return self._starts[line] if line < len(self._starts) else len(self._source)

    def _pieces(self, tokens: list[Token], start: int, end: int) -> Iterable[Block]:
        kind = tokens[0].type
        if kind == "fence":
            return [_code_block(tokens[0], start, self._source[start:end])]
        if kind == "table_open":
            return self._table_pieces(tokens, start, end)
        if kind == "math_block" and max(map(len, tokens[0].content.split("\\\\"))) > WIDE_FORMULA:
            return [Block(BlockKind.FORMULA, start, html=safe_html(self._source[start:end], tokens))]
        if end - start > CHUNK_CHARS and kind in ("bullet_list_open", "ordered_list_open"):
            return self._list_pieces(tokens, end)
        if end - start > CHUNK_CHARS and kind == "paragraph_open":
            return self._paragraph_pieces(start, end)
        return [Block(BlockKind.PROSE, start, html=safe_html(self._source[start:end], tokens))]

    def _list_pieces(self, tokens: list[Token], end: int) -> Iterator[Block]:
        for start, stop, items in self._chunks(tokens[1:-1], CHUNK_CHARS, end):
            opening = tokens[0].copy()
            number = items[0].info
            opening.attrs = {"start": int(number)} if number and int(number) != 1 else {}
            written = self._source[start:stop]
            yield Block(BlockKind.PROSE, start, html=safe_html(written, [opening, *items, tokens[-1]]))

    def _table_pieces(self, tokens: list[Token], start: int, end: int) -> Iterator[Block]:
        """A long table has fixed columns and no head from its second piece on."""
        kinds = [token.type for token in tokens]
        body = kinds.index("tbody_open") if "tbody_open" in kinds else len(tokens) - 1
        chunks = list(self._chunks(tokens[body + 1 : -2], TABLE_CHUNK_CHARS, end)) or [(end, end, [])]
        head = self._source[start : chunks[0][0]]
        widths = self._table.widths if self._table else ()
        if not widths and len(chunks) > 1:
            widths = _widths([*tokens[:body], *chunks[0][2]])
        for index, (offset, stop, rows) in enumerate(chunks):
            has_head = index == 0 and not self._table
            shown = [tokens[0], *(tokens[1:body] if has_head else ()), *rows, tokens[-1]]
            written = self._source[start if has_head else offset : stop]
            rendered = safe_html(written, _with_widths(shown, widths))
            begin = start if index == 0 else offset
            yield Block(BlockKind.TABLE, begin, html=rendered, head=head, widths=widths)

    def _chunks(self, tokens: list[Token], size: int, end: int) -> Iterator[tuple[int, int, list[Token]]]:
        """Cuts before each item or row that begins `size` after the cut before: start, end, tokens."""
        chunk: list[Token] = []
        start = 0
        for token in tokens:
            if token.level == tokens[0].level and token.nesting > 0:
                offset = self._offset((token.map or [0])[0])
                if chunk and (offset - start >= size or len(chunk) >= MAX_TOKENS):
                    yield start, offset, chunk
                    chunk = []
                start = start if chunk else offset
            chunk.append(token)
        if chunk:
            yield start, end, chunk

    def _paragraph_pieces(self, start: int, end: int) -> Iterator[Block]:
        for piece in _paragraph_cuts(self._source[start:end]):
            is_last = not self._source[start + len(piece) :].strip()
            env = {**self._env, "is_growing": self._env["is_growing"] and is_last}
            inline = parse_inline(piece.strip(), env)
            opens, closes = Token("paragraph_open", "p", 1), Token("paragraph_close", "p", -1)
            yield Block(BlockKind.PROSE, start, html=safe_html(piece, [opens, *inline, closes]))
            start += len(piece)


def _paragraph_cuts(text: str) -> Iterator[str]:
    """Cuts after sentences in which every mark is closed."""
    start = 0
    while len(text) - start > CHUNK_CHARS:
        end = _sentence_end(text, start)
        if end is None:
            break
        yield text[start:end]
        start = end
    yield text[start:]


def _sentence_end(text: str, start: int) -> int | None:
    for found in islice(_SENTENCE_END.finditer(text, start + CHUNK_CHARS), MAX_SENTENCES):
        if _is_balanced(text[start : found.end()]):
            return found.end()
    return None


def _is_balanced(text: str) -> bool:
    marks = _PAIRED.findall(text)
    return all(marks.count(mark) % 2 == 0 for mark in "`*_~$") and marks.count("[") == marks.count("]")


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def open_ended(block: Block) -> Block:
    """The next piece belongs to the same list or paragraph, so the gap is smaller."""
    return replace(block, html=re.sub(r"^<(ul|ol|p)\b", r'<\1 class="more"', block.html))


def _widths(tokens: Iterable[Token]) -> tuple[int, ...]:
    """The width of each column, in proportion to its longest cell."""
    longest: dict[int, int] = {}
    column = 0
    for token in tokens:
        if token.type == "tr_open":
            column = 0
        elif token.type == "inline":
            longest[column] = max(longest.get(column, 4), min(40, len(token.content)))
            column += 1
    total = sum(longest.values()) or 1
    return tuple(max(1, 100 * length // total) for length in longest.values())


def _with_widths(tokens: Iterable[Token], widths: tuple[int, ...]) -> list[Token]:
    result, column = [], 0
    for token in tokens:
        if widths and token.type in ("th_open", "td_open") and column < len(widths):
            token = token.copy()
            token.meta = {"width": widths[column]}
            column += 1
        result.append(token)
    return result


def _code_block(token: Token, start: int, written: str) -> Block:
    lines = written.strip().splitlines()
    last = lines[-1].strip() if len(lines) > 1 else ""
    is_closed = last.startswith(token.markup) and not last.strip(token.markup[0])
    return Block(BlockKind.CODE, start, code=token.content, info=token.info.strip(), is_closed=is_closed)
