"""Incremental parsing of a text that is being written: only its end is parsed again.

It reads a window at a time, so that no reading takes long, whatever the text is. A block that is longer than
a window is cut where its next item, row or sentence begins, or else where the window ends. What has ended
does not change its meaning any more, but for footnotes that come late: with the whole text all is read again.
However a text came, its blocks are the same in the end. Knows no widget.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from app.ui.message.markdown import (
    CHUNK_CHARS,
    Block,
    BlockKind,
    footnote_labels,
    inner_start,
    open_ended,
    parse_blocks,
    word_start,
)

WINDOW = 1_500  # characters that are read at once: 4 ms of plain prose
MAX_LABELS = 100  # of footnotes
# Endings that would render differently until the next character comes.
_HALF_MARK = re.compile(
    r"(?:\A|\n)[ \t]*(?:[-=`~*+#>|]{1,3}[ \t]*|\d{1,3}[.)]?|[-*+][ \t]+\[[ xX]?\]?[ \t]*"
    r"|>[ \t]*\[!?[A-Z]{0,9}"
    r"|(?:<details(?: open)?>\s*)?(?:</?\w{0,7}(?: open)?>?\s*|<summary>[^\n]{0,500}))\Z"
)
_EMPTY_LINE = re.compile(r"\n[ \t\r]*\n[ \t\r]*\Z")  # which ends a paragraph
_EMPTY_LINES = re.compile(r"(?:[ \t\r]*\n)+")
_HALF_TABLE = re.compile(r"(?:\A|\n\n)\|[^\n]{0,500}(?:\n[|:\- \t]{0,200})?\Z")


class GrowingMarkdown:
    def __init__(self) -> None:
        self.source = ""
        self._is_whole = False
        self._labels: dict[str, None] = {}  # of footnotes
        self._before: list[Block] | None = None  # what is shown while all is read again
        self._forget()

    def _forget(self) -> None:
        self._shown = ""  # of the source: half a mark at its end is not read yet
        self.is_read = True  # up to its end
        self._blocks: list[Block] = []
        self._has_late_labels = False
        self._settle_at(0, 0)

    def _settle_at(self, base: int, num_done: int, piece: Block | None = None) -> None:
        self._base = base  # all before this offset is read for good
        self._num_done = num_done  # and these are its blocks
        self._piece = piece  # of a longer block, if the base lies in one
        self._fence = ""  # if the base lies in open code: the line that began it
        self._code = ""  # and the code up to there

    @property
    def blocks(self) -> list[Block]:
        return self._blocks if self._before is None else self._before

    def feed(self, source: str) -> None:
        """The text so far: usually longer than last time."""
        self.take(source, is_whole=False)
        self.read_all()

    def finish(self, source: str) -> None:
        """The whole text."""
        self.take(source, is_whole=True)
        self.read_all()

    def take(self, source: str, is_whole: bool) -> None:
        """The text to be read. Half a mark at the end of one that still grows is not shown yet."""
        if not source.startswith(self.source):
            self._labels, self._before = {}, None
            self._forget()
        line = source.rfind("\n", 0, len(self.source)) + 1
        self.source = source
        self._add_labels(footnote_labels(source[line:]))
        if is_whole and self._has_late_labels:
            self._before = self.blocks
            self._forget()
        shown = source if is_whole else _without_half(source)
        self.is_read &= shown == self._shown and is_whole == self._is_whole
        self._shown, self._is_whole = shown, is_whole

    def _add_labels(self, labels: Iterable[str]) -> None:
        late = [label for label in labels if label not in self._labels][: MAX_LABELS - len(self._labels)]
        self._labels |= dict.fromkeys(late)
        self._has_late_labels |= bool(late) and bool(self._blocks)

    def read_all(self) -> None:
        while not self.is_read:
            self.read_on()

    def read_on(self) -> None:
        """The next window."""
        self._skip_empty_lines()
        end = _window_end(self._shown, self._base, WINDOW - len(self._head) - len(self._fence))
        fresh = self._parsed(end)
        self._blocks[self._num_done :] = fresh
        tops = [index for index, block in enumerate(fresh) if not block.joins]
        if end == len(self._shown):
            self.is_read, self._before = True, None
            self._settle_in_tail(fresh, tops)
        elif tops and fresh[tops[-1]].start > self._base:
            self._settle_at_block(fresh, tops[-1])
        elif len(fresh) > 1:
            self._settle_at(fresh[-1].start, self._num_done + len(fresh) - 1, fresh[-1])
        elif fresh and fresh[0].kind is BlockKind.CODE and not fresh[0].is_closed:
            self._settle_in_code(fresh[0], end, fresh[0].code)
        elif fresh and fresh[0].kind is not BlockKind.CODE:
            self._cut(end, fresh)
        else:  # empty lines follow
            self._settle_at(end, self._num_done + len(fresh))

    def _skip_empty_lines(self) -> None:
        """A window begins where a block does, so that it is the same however the text came."""
        empty = _EMPTY_LINES.match(self._shown, self._base)
        if empty and not self._fence:
            is_paragraph = self._piece is not None and self._piece.html.startswith("<p")
            has_ended = is_paragraph and self._shown.count("\n", self._base - 1, empty.end()) > 1
            self._settle_at(empty.end(), self._num_done, None if has_ended else self._piece)

    @property
    def _head(self) -> str:
        return self._piece.head if self._piece else ""

    def _parsed(self, end: int) -> list[Block]:
        """What stands from the base on, read up to there."""
        text = self._fence + self._shown[self._base : end]
        table = self._piece if self._piece and self._piece.kind is BlockKind.TABLE else None
        shift = self._base - len(self._fence)
        is_growing = end == len(self._shown) and not self._is_whole
        fresh = [
            replace(block, start=max(self._base, block.start + shift))
            for block in parse_blocks(text, frozenset(self._labels), table, is_growing)
        ]
        if fresh and self._piece and fresh[0].kind is self._piece.kind:
            fresh[0] = replace(fresh[0], joins=True)
            if self._blocks[self._num_done - 1] is self._piece and self._piece.html.startswith("<p"):
                self._blocks[self._num_done - 1] = open_ended(self._piece)
        if fresh and self._fence:
            start = self._blocks[self._num_done].start
            fresh[0] = replace(fresh[0], start=start, code=self._code + fresh[0].code)
        return fresh

    def _settle_in_tail(self, fresh: list[Block], tops: list[int]) -> None:
        """From now on only the last block is read again, of long code only its last lines.

        The last whose first line is complete: a window ends with one.
        """
        line = self._shown.rfind("\n") + 1
        begun = [top for top in tops if fresh[top].start < line]
        if begun and (begun[-1] > 0 or not self._fence):
            self._settle_at_block(fresh, begun[-1])
        is_open = bool(fresh) and fresh[-1].kind is BlockKind.CODE and not fresh[-1].is_closed
        if is_open and line - self._base >= CHUNK_CHARS:
            code = fresh[-1].code
            self._settle_in_code(fresh[-1], line, code[: code.rfind("\n") + 1])

    def _settle_at_block(self, fresh: list[Block], index: int) -> None:
        piece = self._piece if index == 0 else None
        self._settle_at(fresh[index].start, self._num_done + index, piece)

    def _settle_in_code(self, block: Block, base: int, code: str) -> None:
        first_line = self._shown.find("\n", block.start, base) + 1
        if first_line:
            self._settle_at(base, self._num_done)
            self._fence, self._code = self._shown[block.start : first_line], code
        else:  # the line that begins it is longer than a window
            self._cut(base, [])

    def _cut(self, end: int, fresh: list[Block]) -> None:
        """Ends a block here. What follows is one of its own, which stands close to it after a paragraph.

        `fresh`: what was read up to there, if it was.
        """
        text = self._shown[self._base : end]
        inner = inner_start(text)
        length = inner or (len(text) if text.endswith("\n") else word_start(text))
        end = self._base + length
        blocks = fresh if fresh and length == len(text) else self._parsed(end)
        goes_on = bool(blocks) and not inner and not _EMPTY_LINE.search(self._shown, self._base, end)
        last = blocks[-1] if goes_on and blocks[-1].html.startswith("<p") else None
        self._blocks[self._num_done :] = blocks
        self._settle_at(end, len(self._blocks), last)


def _window_end(text: str, start: int, size: int) -> int:
    """Where a line begins, if one does."""
    end = start + max(WINDOW // 4, size)
    if end >= len(text):
        return len(text)
    return text.rfind("\n", start, end) + 1 or end


def _without_half(source: str) -> str:
    start = max(0, len(source) - 800)
    half = _HALF_TABLE.search(source, start) or _HALF_MARK.search(source, start)
    return source[: half.start()] if half else source
