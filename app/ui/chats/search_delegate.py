"""Paints a search result: a chat's title and date, and the message with the words in bold. GUI thread."""

import time

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from app.look import marks
from app.look.fonts import small_font
from app.look.list import AT_RIGHT, Index, ListDelegate, draw_text, in_weight, paint_row_ground
from app.look.painted import paint_mark
from app.look.tokens import Tokens, current
from app.ui.chats.search_rows import FoundMessages, Heading, day_text

HEIGHT, HEADING_HEIGHT = 46, 26
_INSET = 10
_MARK = 14


class SearchDelegate(ListDelegate):
    def height_of(self, row: FoundMessages | Heading) -> int:
        return HEADING_HEIGHT if isinstance(row, Heading) else HEIGHT

    def paint_row(
        self, painter: QPainter, option: QStyleOptionViewItem, _index: Index, row: FoundMessages | Heading
    ) -> None:
        if isinstance(row, Heading):
            rect = option.rect.adjusted(_INSET, 4, 0, 0)
            draw_text(painter, rect, row.text, current().muted, small_font())
        elif isinstance(row, FoundMessages):
            paint_row_ground(painter, option.rect, option.state, is_framed=True)
            self._paint_found(painter, option.rect.adjusted(_INSET, 3, -_INSET, -3), row, current())

    def _paint_found(self, painter: QPainter, rect: QRect, found: FoundMessages, tokens: Tokens) -> None:
        font, small = QFont(painter.font()), small_font()
        top = rect.adjusted(0, 0, 0, -rect.height() // 2) if found.pieces else rect
        date = day_text(found.at, time.time())
        right = draw_text(painter, top, date, tokens.muted, small, alignment=AT_RIGHT) + 12
        if found.mark is not None and found.mark is not marks.IDLE:
            place = QRectF(top.right() - right - _MARK, top.center().y() - _MARK / 2, _MARK, _MARK)
            paint_mark(painter, place, found.mark, tokens)
            right += _MARK + 6
        font.setWeight(QFont.Weight.Medium if found.mark is not None else QFont.Weight.Normal)
        _draw_pieces(painter, top.adjusted(0, 0, -right, 0), found.title, font, tokens.text, tokens.accent)
        if found.pieces:
            below = rect.adjusted(0, rect.height() // 2, 0, 0)
            _draw_pieces(painter, below, _window(found.pieces), small, tokens.muted, tokens.text)


def _window(pieces: tuple[tuple[str, bool], ...]) -> tuple[tuple[str, bool], ...]:
    """Cuts the text before the first match, so that the match is visible."""
    first, is_marked = pieces[0]
    if is_marked or len(first) <= 36:
        return pieces
    return ((f"…{first[-34:].lstrip('…')}", False), *pieces[1:])


def _draw_pieces(
    painter: QPainter,
    rect: QRect,
    pieces: tuple[tuple[str, bool], ...],
    font: QFont,
    colour: str,
    marked_colour: str,
) -> None:
    bold, left = in_weight(font, QFont.Weight.DemiBold), rect.left()
    for text, is_marked in pieces:
        room = rect.right() - left
        if room <= 8:
            return
        place, own = QRect(left, rect.top(), room, rect.height()), bold if is_marked else font
        draw_text(painter, place, text, marked_colour if is_marked else colour, own)
        left += QFontMetrics(own).horizontalAdvance(text)
