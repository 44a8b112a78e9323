"""Keeps the blocks of a text that is still being written, and reads again only the end of them.

What has ended does not change its meaning any more, but for footnotes that come late: then all is read again.
At the end `finish` makes the blocks those of one reading of the whole. Knows no widget.
"""

import re
from dataclasses import replace
from itertools import pairwise

from app.ui.message.markdown import CHUNK_CHARS, Block, BlockKind, footnote_labels, is_cut, parse_blocks

# What would look like something else until its next character comes.
_HALF_MARK = re.compile(
    r"(?:\A|\n)[ \t]*(?:[-=`~*+#>|]{1,3}[ \t]*|\d{1,3}[.)]?|[-*+][ \t]+\[[ xX]?\]?[ \t]*)\Z"
)
_LIST = re.compile(r"<[uo]l\b")
_EMPTY_LINE = re.compile(r"[\r\n][ \t]*[\r\n]")
_HALF_TABLE = re.compile(r"(?:\A|\n\n)\|[^\n]{0,500}(?:\n[|:\- \t]{0,200})?\Z")


class GrowingMarkdown:
    def __init__(self) -> None:
        self.source = ""
        self.blocks: list[Block] = []
        self._labels: frozenset[str] = frozenset()  # of footnotes
        self._forget()

    def feed(self, source: str) -> None:
        """The text so far: usually longer than last time. Half a mark at its end is not shown yet."""
        self._take(source)
        self._read_on(_without_half(source))

    def finish(self, source: str) -> None:
        """The whole text. A later line can make a heading or a table of a long paragraph that was read in
        pieces, or part all items of a long list: from the first of those on, it is read once more as one.
        """
        self._take(source)
        has_grown = self._base > 0
        self._read_on(source)
        first = self._first_doubt()
        if has_grown and first is not None:
            start = self.blocks[first].start
            fresh = parse_blocks(source[start:], self._labels)
            self.blocks[first:] = [replace(block, start=block.start + start) for block in fresh]
            self._settle_at(self.blocks[-1])

    def _first_doubt(self) -> int | None:
        """The block whose pieces may be others when they are read as one."""
        begins = [index for index, block in enumerate(self.blocks) if not block.joins]
        for begin, end in pairwise([*begins, len(self.blocks)]):
            if is_cut(self.blocks[begin]) and not self._is_tight_list(begin, end):
                return begin
        return None

    def _is_tight_list(self, begin: int, end: int) -> bool:
        """Without an empty line, and each piece begins at the margin: then no item depends on another."""
        stop = self.blocks[end].start if end < len(self.blocks) else len(self.source)
        pieces = self.blocks[begin:end]
        return all(
            _LIST.match(piece.html) and not self.source[piece.start].isspace() for piece in pieces
        ) and not _EMPTY_LINE.search(self.source[pieces[0].start : stop].rstrip())

    def _take(self, source: str) -> None:
        if not source.startswith(self.source):
            self._forget()
        line = source.rfind("\n", 0, len(self.source)) + 1
        if not self._labels >= (late := footnote_labels(source[line:])):
            known = self._labels | late
            self._forget()
            self._labels = known
        self.source = source

    def _forget(self) -> None:
        self._base = 0  # all before this offset is read for good
        self._num_done = 0  # and these are its blocks
        self._fence = ""  # if it lies in open code: the line that began it
        self._code = ""  # and the code up to there
        self._labels = frozenset()

    def _read_on(self, shown: str) -> None:
        before = self.blocks[self._num_done] if self._num_done < len(self.blocks) else None
        piece = before if before and before.joins else None
        table = piece if piece and piece.kind is BlockKind.TABLE else None
        fresh = [self._moved(block) for block in parse_blocks(self._tail(shown), self._labels, table)]
        if fresh and piece and fresh[0].kind is piece.kind:
            fresh[0] = replace(fresh[0], joins=True)
        if fresh and before and self._fence:
            fresh[0] = replace(fresh[0], start=before.start, code=self._code + fresh[0].code)
        self.blocks[self._num_done :] = fresh
        if fresh:
            self._settle(fresh[-1], shown)

    def _tail(self, shown: str) -> str:
        return self._fence + shown[self._base :]

    def _moved(self, block: Block) -> Block:
        return replace(block, start=max(self._base, self._base + block.start - len(self._fence)))

    def _settle(self, last: Block, shown: str) -> None:
        """From now on only the last block is read again, of long code only its last lines."""
        if not self._fence or len(self.blocks) - 1 > self._num_done:
            self._settle_at(last)
        first_line = shown.find("\n", last.start) + 1
        line = shown.rfind("\n") + 1
        is_open = last.kind is BlockKind.CODE and not last.is_closed
        if is_open and first_line and line - max(self._base, first_line) >= CHUNK_CHARS:
            self._fence = shown[last.start : first_line]
            self._code = last.code[: last.code.rfind("\n") + 1]
            self._base = line

    def _settle_at(self, last: Block) -> None:
        self._num_done = len(self.blocks) - 1
        self._base = last.start
        self._fence = self._code = ""


def _without_half(source: str) -> str:
    start = max(0, len(source) - 800)
    half = _HALF_TABLE.search(source, start) or _HALF_MARK.search(source, start)
    return source[: half.start()] if half else source
