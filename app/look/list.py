"""Lists whose rows are painted: what their delegates have in common. GUI thread."""

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.look.painted import paint_rounded
from app.look.tokens import current

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole  # the value that a row shows
MIDDLE = Qt.AlignmentFlag.AlignVCenter
AT_RIGHT = Qt.AlignmentFlag.AlignRight | MIDDLE


class ListDelegate(QStyledItemDelegate):
    """A subclass paints the value of a row, smoothly and in the font of the list unless it takes another."""

    HEIGHT = 30

    def height_of(self, _row: Any) -> int:
        return self.HEIGHT

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, row: Any) -> None:
        raise NotImplementedError

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, self.height_of(index.data(ROW)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(option.font)
        self.paint_row(painter, option, index, index.data(ROW))
        painter.restore()


def paint_row_ground(painter: QPainter, rect: QRect, state: QStyle.StateFlag, is_framed: bool) -> None:
    """The ground of a row that is chosen or pointed at; the frame is for a chosen one."""
    is_selected = bool(state & QStyle.StateFlag.State_Selected)
    if is_selected or state & QStyle.StateFlag.State_MouseOver:
        edge = current().accent if is_selected and is_framed else ""
        paint_rounded(painter, rect, 6, 0.5, fill=current().chosen, edge=edge)


def draw_text(
    painter: QPainter,
    rect: QRect,
    text: str,
    colour: str,
    font: QFont | None = None,
    *,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    alignment: Qt.AlignmentFlag = MIDDLE,
) -> int:
    """One line, elided where it does not fit. Returns its width."""
    if font:
        painter.setFont(font)
    painter.setPen(QColor(colour))
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(text, elide, max(0, rect.width()))
    painter.drawText(rect, alignment | Qt.TextFlag.TextSingleLine, shown)
    return metrics.horizontalAdvance(shown)


def in_weight(font: QFont, weight: QFont.Weight) -> QFont:
    font = QFont(font)
    font.setWeight(weight)
    return font
