"""The frame around the composer. GUI thread."""

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QPainter, QPen

from app.look.tokens import current

RADIUS = 12


def paint_frame(painter: QPainter, rect: QRect, is_lit: bool) -> None:
    """Highlighted while it has the focus, or something is dragged over it."""
    tokens = current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(tokens.accent if is_lit else tokens.hairline), 1.5 if is_lit else 1))
    painter.setBrush(QColor(tokens.window))
    painter.drawRoundedRect(rect.toRectF().adjusted(1, 1, -1, -1), RADIUS, RADIUS)
