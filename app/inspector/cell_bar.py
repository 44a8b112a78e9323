"""The context's KV cells as one bar: used, shared (hatched), free (the page). GUI thread."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.engine.types import CellUsage
from app.look.figures import count
from app.look.fonts import small_font, tabular
from app.look.tokens import Tokens, current

BAR_HEIGHT = 16
LEGEND_HEIGHT = 24
SWATCH = 9


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the cells, with the name they have in the legend."""

    name: str
    num_cells: int


def parts_of(cells: CellUsage) -> tuple[Part, Part, Part]:
    """The three parts add up to all cells."""
    own = cells.num_used - cells.num_shared
    return Part("used", own), Part("shared", cells.num_shared), Part("free", cells.num_free)


class CellBar(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts = parts_of(CellUsage(0))
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("KV cells")

    def apply(self, cells: CellUsage) -> None:
        self._parts = parts_of(cells)
        self.setAccessibleDescription(self.text)
        self.update()

    @property
    def text(self) -> str:
        return ", ".join(f"{part.name} {count(part.num_cells)}" for part in self._parts)

    def sizeHint(self) -> QSize:
        return QSize(240, BAR_HEIGHT + LEGEND_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = QRectF(0.5, 0.5, self.width() - 1, BAR_HEIGHT - 1)
        self._paint_bar(painter, bar, tokens)
        self._paint_legend(painter, tokens)

    def _paint_bar(self, painter: QPainter, bar: QRectF, tokens: Tokens) -> None:
        outline = QPainterPath()
        outline.addRoundedRect(bar, 4, 4)
        painter.fillPath(outline, QColor(tokens.window))
        painter.save()
        painter.setClipPath(outline)
        total = max(1, sum(part.num_cells for part in self._parts))
        left = bar.left()
        for part in self._parts:
            width = bar.width() * part.num_cells / total
            _fill(painter, QRectF(left, bar.top(), width, bar.height()), part.name, tokens)
            left += width
        painter.restore()
        painter.setPen(QColor(tokens.hairline))
        painter.drawPath(outline)

    def _paint_legend(self, painter: QPainter, tokens: Tokens) -> None:
        """In columns of fixed places, so that growing numbers move nothing."""
        column = self.width() / 3
        for index, part in enumerate(self._parts):
            left = index * column
            swatch = QRectF(left + 0.5, BAR_HEIGHT + 9.5, SWATCH, SWATCH)
            painter.setPen(Qt.PenStyle.NoPen)
            _fill(painter, swatch, part.name, tokens)
            painter.setPen(QColor(tokens.hairline))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(swatch)
            place = QRectF(left + SWATCH + 7, BAR_HEIGHT + 4, column - SWATCH - 8, LEGEND_HEIGHT - 4)
            painter.setPen(QColor(tokens.muted))
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, part.name)
            painter.setPen(QColor(tokens.text))
            after = place.adjusted(painter.fontMetrics().horizontalAdvance(part.name + "  "), 0, 0, 0)
            painter.drawText(after, Qt.AlignmentFlag.AlignVCenter, count(part.num_cells))


def _fill(painter: QPainter, rect: QRectF, name: str, tokens: Tokens) -> None:
    if name == "free":
        painter.fillRect(rect, QColor(tokens.window))
    elif name == "shared":
        tint = QColor(tokens.accent)
        tint.setAlphaF(0.18)
        painter.fillRect(rect, tint)
        painter.fillRect(rect, QBrush(QColor(tokens.accent), Qt.BrushStyle.BDiagPattern))
    else:
        painter.fillRect(rect, QColor(tokens.accent))
