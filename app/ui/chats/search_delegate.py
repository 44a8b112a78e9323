"""Paints a search result: a chat's title and date, and the message with the words in bold. GUI thread."""

import time

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.look import marks
from app.look.fonts import small_font
from app.look.painted import paint_mark, paint_row_ground
from app.look.tokens import Tokens, current
from app.ui.chats.search_model import ROW
from app.ui.chats.search_rows import Found, Heading, day_text

HEIGHT, HEADING_HEIGHT = 46, 26
_INSET = 10
_MARK = 14

Index = QModelIndex | QPersistentModelIndex


class SearchDelegate(QStyledItemDelegate):
    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(ROW)
        return QSize(200, HEADING_HEIGHT if isinstance(row, Heading) else HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row, tokens = index.data(ROW), current()
        rect: QRect = option.rect
        painter.save()
        painter.setFont(option.font)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Heading):
            painter.setFont(small_font())
            painter.setPen(QColor(tokens.muted))
            painter.drawText(rect.adjusted(_INSET, 4, 0, 0), Qt.AlignmentFlag.AlignVCenter, row.text)
        elif isinstance(row, Found):
            paint_row_ground(painter, rect, option.state, is_framed=True)
            self._paint_found(painter, rect.adjusted(_INSET, 3, -_INSET, -3), row, tokens)
        painter.restore()

    def _paint_found(self, painter: QPainter, rect: QRect, found: Found, tokens: Tokens) -> None:
        font = QFont(painter.font())
        small = small_font()
        painter.setFont(small)
        painter.setPen(QColor(tokens.muted))
        date = day_text(found.at, time.time())
        date_width = painter.fontMetrics().horizontalAdvance(date)
        top = rect.adjusted(0, 0, 0, -rect.height() // 2) if found.pieces else rect
        painter.drawText(top, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, date)
        right = date_width + 12
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
    bold = QFont(font)
    bold.setWeight(QFont.Weight.DemiBold)
    left = rect.left()
    for text, is_marked in pieces:
        metrics = QFontMetrics(bold if is_marked else font)
        room = rect.right() - left
        if room <= 8:
            return
        painter.setFont(bold if is_marked else font)
        painter.setPen(QColor(marked_colour if is_marked else colour))
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        place = QRect(left, rect.top(), room, rect.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)
        left += metrics.horizontalAdvance(text)
