"""Common base of the inspector's tables, in which whole rows are selected. GUI thread."""

from collections.abc import Collection, Iterable
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.look.fonts import small_font, tabular
from app.look.painted import SWATCH, paint_swatch
from app.look.sequence_colours import colour_of
from app.look.tables import LEFT, RIGHT, dress_table
from app.look.tokens import Tokens, current
from app.look.words import tr

Index = QModelIndex | QPersistentModelIndex
ROW_HEIGHT = 24
PADDING = 6
TINT = 0.16
SWATCH_ROOM = 10

_ROOT = QModelIndex()


class RowModel(QAbstractTableModel):
    """Its columns: heads, which ones hold numbers, and tooltips. Texts are marked."""

    def __init__(
        self,
        columns: tuple[str, ...],
        numbers: Collection[int],
        tips: tuple[str, ...] = (),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns, self._numbers, self._tips = columns, numbers, tips

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(self._columns[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if section in self._numbers else LEFT
        if role == Qt.ItemDataRole.ToolTipRole and self._tips:
            return tr(self._tips[section])
        return None


class RowTable(QTableView):
    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFont(tabular(small_font()))
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        rows.setMinimumSectionSize(ROW_HEIGHT)  # before the height itself: it is never below it
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        dress_table(self, name, ROW_HEIGHT)
        columns.setFont(small_font())
        columns.setMinimumSectionSize(24)

    def width_of(self, widest: str | Iterable[str], head: str = "", room: int = 0) -> int:
        """A column width that never needs to change. All texts are marked, or figures."""
        widest = (widest,) if isinstance(widest, str) else widest
        body, heading = self.fontMetrics(), self.horizontalHeader().fontMetrics()
        lines = [heading.horizontalAdvance(line) for line in tr(head).split("\n")]
        return max(*(body.horizontalAdvance(tr(text)) + room for text in widest), *lines) + 2 * PADDING + 2


class RowDelegate(QStyledItemDelegate):
    """Paints a cell with one question to its model instead of the style's seven: tables change often."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tokens = current()
        self._paint_ground(painter, option, tokens)
        rect = self.decorate(painter, option.rect.adjusted(PADDING, 0, -PADDING, 0), index)
        text = index.data()
        if not text:
            return
        alignment = RIGHT if self.is_number(index.column()) else LEFT
        metrics = option.fontMetrics
        if metrics.horizontalAdvance(text) > rect.width():
            text = metrics.elidedText(text, self.elide_mode(index.column()), rect.width())
        painter.setFont(option.font)
        painter.setPen(QColor(tokens.muted if self.is_muted(index) else tokens.text))
        painter.drawText(rect, alignment, text)

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, tokens: Tokens) -> None:
        """The chosen row is tinted while its table has the keyboard, grey else."""
        has_keyboard = option.widget.hasFocus()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(tokens.raised))
            if has_keyboard:
                tint = QColor(tokens.accent)
                tint.setAlphaF(TINT)
                painter.fillRect(option.rect, tint)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, QColor(tokens.surface))
        if has_keyboard and option.state & QStyle.StateFlag.State_HasFocus:
            painter.fillRect(option.rect.adjusted(0, option.rect.height() - 2, 0, 0), QColor(tokens.accent))

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(40, ROW_HEIGHT)

    def decorate(self, _painter: QPainter, rect: QRect, _index: Index) -> QRect:
        """Paints what stands beside the text. Returns the room left for the text."""
        return rect

    def decorate_seq(self, painter: QPainter, rect: QRect, seq_id: int, opacity: float = 1.0) -> QRect:
        """The sequence's colour, for `decorate`."""
        colour = colour_of(seq_id)
        colour.setAlphaF(opacity)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_swatch(
            painter, QPointF(rect.left(), rect.top() + (rect.height() - SWATCH.height()) / 2), colour
        )
        painter.restore()
        return rect.adjusted(SWATCH_ROOM, 0, 0, 0)

    def is_number(self, _column: int) -> bool:
        return False

    def is_muted(self, _index: Index) -> bool:
        return False

    def elide_mode(self, _column: int) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideRight
