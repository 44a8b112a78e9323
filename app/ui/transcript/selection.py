"""The one selection of a page: it runs across texts and messages, whether they have widgets or not.

Remembers points in messages, so it stays while the page scrolls and an answer grows. GUI thread.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from math import inf

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QClipboard, QGuiApplication

from app.bridge.tasks import spawn
from app.chats.chat import Turn
from app.protocol.request import Role
from app.ui.message.message_text import written_text
from app.ui.message.passages import CopiedPassage, as_html, as_markdown, as_plain
from app.ui.message.text_part import Key, TextPart
from app.ui.message.turn_passages import passages_of
from app.ui.transcript.page import Page
from app.ui.transcript.view_pool import ViewPool

FIRST: Key = ()  # before and after all texts of a message
LAST: Key = (inf,)
EVERYTHING = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Point:
    """Between two characters: a position in the document of one text of a message."""

    turn_id: str
    key: Key
    position: int = 0


_Place = tuple[int, Key, int]  # row, key, position: the order in which a page is read


class PageSelection(QObject):
    changed = Signal()

    def __init__(
        self, page: Page, views: ViewPool, texts_of: Callable[[int], list[TextPart]], parent: QObject
    ) -> None:
        """`texts_of`: all texts of the message in that row, in sight or not."""
        super().__init__(parent)
        self._page = page
        self._views = views
        self._texts_of = texts_of
        self.anchor: Point | None = None  # where it began
        self.focus: Point | None = None  # where it goes to
        self._is_lit = False
        self._has_shown = False
        self._copying: asyncio.Task[None] | None = None

    def __bool__(self) -> bool:
        return self._span() is not None

    def select(self, anchor: Point | None, focus: Point | None) -> None:
        if (anchor, focus) != (self.anchor, self.focus):
            self.anchor, self.focus = anchor, focus
            self.show()
            self.changed.emit()

    def clear(self) -> None:
        self.select(None, None)

    def select_all(self) -> None:
        if rows := self._page.rows:
            self.select(Point(rows[0].id, FIRST), Point(rows[-1].id, LAST))

    def light(self, is_lit: bool) -> None:
        """Whether the page has the focus: only one selection in a window is lit."""
        if is_lit != self._is_lit:
            self._is_lit = is_lit
            self.show()

    def place_of(self, point: Point) -> _Place | None:
        """None: its message is not shown any more."""
        row = self._page.row_of_id(point.turn_id)
        return None if row is None else (row, point.key, point.position)

    def contains(self, point: Point) -> bool:
        span, place = self._span(), self.place_of(point)
        return span is not None and place is not None and span[0] <= place <= span[1]

    def _span(self) -> tuple[_Place, _Place] | None:
        """Its begin and its end, in reading order. None: nothing is selected."""
        anchor = self.place_of(self.anchor) if self.anchor else None
        focus = self.place_of(self.focus) if self.focus else None
        if anchor is None or focus is None or anchor == focus:
            return None
        return min(anchor, focus), max(anchor, focus)

    def show(self) -> None:
        """In the views that are there now."""
        span = self._span()
        if span is None and not self._has_shown:
            return
        self._has_shown = span is not None
        for view in self._views.live:
            row = self._page.row_of(view.turn)
            for part in view.text_parts():
                begin, end = _clipped(row, part, span) if span and row is not None else (0, 0)
                if part.pane:
                    part.pane.show_selected(begin, end, is_lit=self._is_lit)

    # Copying

    def copy(self, mode: QClipboard.Mode = QClipboard.Mode.Clipboard, *, is_markdown: bool = False) -> None:
        """Puts plain text, HTML and Markdown there, or Markdown alone. A very long chat takes a while."""
        if self._copying:
            self._copying.cancel()
        self._copying = spawn(self._copy(mode, is_markdown)) if self else None

    def when_copied(self, then: Callable[[], object]) -> None:
        """Calls it once nothing is being copied: until then the page has to be there."""
        if self._copying and not self._copying.done():
            self._copying.add_done_callback(lambda _copying: then())
        else:
            then()

    async def _copy(self, mode: QClipboard.Mode, is_markdown: bool) -> None:
        texts = [text async for text in self._copies()]
        if not any(passages for passages, _ in texts):
            return
        data, markdown = QMimeData(), "\n\n".join(markdown for _, markdown in texts)
        if is_markdown:
            data.setText(markdown)
        else:
            data.setText("\n\n".join(as_plain(passages) for passages, _ in texts))
            data.setHtml("\n".join(as_html(passages) for passages, _ in texts))
            data.setData("text/markdown", markdown.encode(errors="replace"))
        QGuiApplication.clipboard().setMimeData(data, mode)

    async def _copies(self) -> AsyncIterator[tuple[list[CopiedPassage], str]]:
        """For each message the passages that are selected of it, and their Markdown."""
        span = self._span()
        rows = range(span[0][0], span[1][0] + 1) if span else range(0)
        for turn in [self._page.rows[row] for row in rows]:
            if passages := self._passages(turn):
                yield passages, written_text(turn) if self._has_all_of(turn) else as_markdown(passages)
            await asyncio.sleep(0)

    def _passages(self, turn: Turn) -> list[CopiedPassage]:
        row, span = self._page.row_of(turn), self._span()
        if row is None or span is None:
            return []
        if self._has_all_of(turn):
            return passages_of(written_text(turn), is_markdown=turn.role is not Role.USER)
        found: list[CopiedPassage] = []
        for part in self._texts_of(row):
            begin, end = _clipped(row, part, span)
            found += part.copied(begin, end) if begin < end else []
        return [passage for passage in found if not passage.is_empty]

    def _has_all_of(self, turn: Turn) -> bool:
        row, span = self._page.row_of(turn), self._span()
        if row is None or span is None:
            return False
        view = self._views.live_view_of(turn)
        if view and view.shows_more_than_written:
            return False
        begin, end = span
        if begin <= (row, FIRST, 0) and end >= (row, LAST, 0):
            return True
        parts = self._texts_of(row)
        if not parts or parts[-1].pane is None:
            return False
        length = parts[-1].pane.length
        return begin <= (row, parts[0].key, 0) and end >= (row, parts[-1].key, length)

    @property
    def words(self) -> str:
        """What is selected, if it is within one text."""
        span = self._span()
        if span is None or span[0][:2] != span[1][:2]:
            return ""
        texts = [part for part in self._texts_of(span[0][0]) if part.key == span[0][1]]
        return "".join(as_plain(part.copied(span[0][2], span[1][2])) for part in texts)


def _clipped(row: int, part: TextPart, span: tuple[_Place, _Place]) -> tuple[int, int]:
    """The begin and the end of what is selected of it."""
    begin, end = span
    here = (row, part.key)
    if not begin[:2] <= here <= end[:2]:
        return 0, 0
    return begin[2] if here == begin[:2] else 0, end[2] if here == end[:2] else EVERYTHING
