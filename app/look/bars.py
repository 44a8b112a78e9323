"""Strips across the window: opaque, and separated by one hairline. GUI thread."""

from collections.abc import Iterable

from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.look.tokens import current


class Bar(QWidget):
    """A bar above its content."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(current().window))
        painter.fillRect(0, self.height() - 1, self.width(), 1, QColor(current().hairline))


class Foot(QWidget):
    """A bar below its content, which does not scroll with it."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(current().raised))
        painter.fillRect(0, 0, self.width(), 1, QColor(current().hairline))


def paint_lines_between(parts: Iterable[QWidget], ground: QWidget) -> None:
    """Parts that stand below one another on it; the first that is shown has no line."""
    painter = QPainter(ground)
    painter.setPen(QColor(current().hairline))
    for part in [part for part in parts if not part.isHidden()][1:]:
        painter.drawLine(0, part.y(), ground.width(), part.y())
