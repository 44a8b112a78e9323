"""The readable text of an HTML page, without scripts and styles. In the child process only."""

import re
from html.parser import HTMLParser

from app.attachments.refusal import CollectedText

_SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BLOCKS = re.compile(
    "address|article|aside|blockquote|dd|div|dl|dt|figcaption|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|"
    "pre|section|table|tr|ul"
)
_HEADING = re.compile("h[1-6]")
_SPACED = re.compile("p|table|ul|ol|pre|blockquote|h[1-6]")  # a blank line stands before them


def text_of(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.collected.text


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.collected = CollectedText()
        self._skipped = ""  # the element that is being skipped
        self._num_pre = 0
        self._has_cell = False  # in this row

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        if tag == "body":  # the end of the head need not be written
            self._skipped = ""
        if self._skipped:
            return
        if tag in _SKIPPED:
            self._skipped = tag
        elif tag == "br":
            self.collected.add("\n")
        elif tag in ("td", "th"):
            self.collected.add(" | " if self._has_cell else "")
            self._has_cell = True
        elif _BLOCKS.fullmatch(tag):
            self._begin_block(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            self._skipped = "" if tag == self._skipped else self._skipped
        elif _BLOCKS.fullmatch(tag):
            self._num_pre -= tag == "pre" and self._num_pre > 0
            self._end_line()

    def handle_data(self, data: str) -> None:
        if self._skipped:
            return
        if self._num_pre:
            self.collected.add(data)
            return
        words = " ".join(data.split())
        if words:
            before = " " if data[0].isspace() and not self.collected.ends_line else ""
            self.collected.add(before, words, " " if data[-1].isspace() else "")

    def _begin_block(self, tag: str) -> None:
        self._end_line()
        if _SPACED.fullmatch(tag):
            self.collected.add("\n")
        if tag == "tr":
            self._has_cell = False
        elif tag == "li":
            self.collected.add("- ")
        elif _HEADING.fullmatch(tag):
            self.collected.add("#" * int(tag[1]), " ")
        elif tag == "pre":
            self._num_pre += 1

    def _end_line(self) -> None:
        if not self.collected.ends_line:
            self.collected.add("\n")
