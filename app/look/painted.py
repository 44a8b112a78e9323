"""Small painted parts that windows and inspector share. GUI thread."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.look import marks
from app.look.icons import PaintedIcon, paint_icon
from app.look.marks import Mark
from app.look.tokens import Tokens, current

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.media.reading import Pixels

TAB_MARK = QSize(20, 16)
TAB_SWATCH = QSize(10, 16)  # with the space behind it
SWATCH = QSize(4, 14)


@cache
def tab_mark(mark: Mark, colour: str) -> QIcon:
    """A bar in the sequence's colour and the mark of the chat's state, where it has them."""

    def draw(painter: QPainter, _mode: QIcon.Mode, _state: QIcon.State) -> None:
        if colour:
            paint_swatch(painter, QPointF(0, 1), QColor(colour))
        paint_mark(painter, QRectF(5, 1, 14, 14), mark, current())

    return QIcon(PaintedIcon(TAB_SWATCH if mark is marks.IDLE else TAB_MARK, draw))


def flowed(widths: Iterable[float], room: float, space: float, line: float) -> list[QRectF]:
    """Places for parts of these widths: side by side, and in another line where one is full."""
    places, left, top = list[QRectF](), 0.0, 0.0
    for width in widths:
        if left and left + width > room:
            left, top = 0.0, top + line
        places.append(QRectF(left, top, width, line))
        left += width + space
    return places


def paint_swatch(painter: QPainter, corner: QPointF, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(QRectF(corner, SWATCH), 2, 2)


def paint_mark(painter: QPainter, rect: QRectF, mark: Mark, tokens: Tokens) -> None:
    if mark is marks.COMPUTING:
        _paint_ring(painter, rect, tokens.accent)
    elif mark is marks.UNREAD:
        _paint_dot(painter, rect, tokens.accent)
    elif mark is marks.FAILED:
        paint_icon(painter, "triangle-alert", rect, tokens.danger)
    elif mark is marks.STOPPED:
        paint_icon(painter, "stop", rect, tokens.muted)
    elif mark is marks.HIBERNATED:
        paint_icon(painter, "snowflake", rect, tokens.muted)
    elif mark is marks.WAITING:
        paint_icon(painter, "hourglass", rect, tokens.muted)
    elif mark is marks.ASKING:
        paint_icon(painter, "circle-help", rect, tokens.accent)
    elif mark is marks.PAUSED:
        paint_icon(painter, "pause", rect, tokens.warning)
    elif mark is marks.WARM:
        painter.setPen(QPen(QColor(tokens.muted), 1.4))
        painter.drawEllipse(rect.center(), 3.6, 3.6)


def _paint_ring(painter: QPainter, rect: QRectF, colour: str) -> None:
    pen = QPen(QColor(colour), 1.8, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.RoundCap)
    pen.setDashPattern([1.2, 1.55])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(rect.center(), 5.0, 5.0)


def _paint_dot(painter: QPainter, rect: QRectF, colour: str) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawEllipse(rect.center(), 3.6, 3.6)


def paint_rounded(
    painter: QPainter,
    rect: QRectF | QRect,
    radius: float,
    inset: float = 0.0,  # half the width of an edge at least
    *,
    fill: str = "",
    edge: str = "",
    width: float = 1,
) -> None:
    """A smooth box, and the painter stays smooth. Without `fill` or `edge` it has none."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(edge), width) if edge else Qt.PenStyle.NoPen)
    painter.setBrush(QColor(fill) if fill else Qt.BrushStyle.NoBrush)
    box = QRectF(rect).adjusted(inset, inset, -inset, -inset) if inset else rect
    painter.drawRoundedRect(box, radius, radius)


def paint_tinted(widget: QWidget, colour: str, share: float) -> None:
    """The page with a little of a colour, over all of the widget."""
    tint = QColor(colour)
    tint.setAlphaF(share)
    painter = QPainter(widget)
    painter.fillRect(widget.rect(), QColor(current().window))
    painter.fillRect(widget.rect(), tint)


def image_of(pixels: Pixels) -> QImage:
    """Its own copy: Qt keeps no reference to the bytes."""
    stride = 3 * pixels.width
    return QImage(pixels.rgb, pixels.width, pixels.height, stride, QImage.Format.Format_RGB888).copy()
