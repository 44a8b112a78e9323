"""Tables of lines, of which whole rows are chosen: columns, a model, a view and its delegate. GUI thread."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTableWidgetItem,
    QWidget,
)

from app.look.fonts import small_font, tabular
from app.look.list import Index
from app.look.painted import SWATCH, paint_swatch
from app.look.tokens import colour_of, current
from app.look.words import tr

ROW_HEIGHT = 24
PADDING = 6
TINT = 0.16
SWATCH_ROOM = 10
BAR_OPACITY = 0.28  # behind a figure, which must stay legible

_ROOT = QModelIndex()
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def dress_table(table: QTableView, name: str, row_height: int) -> None:
    """`name` is for screen readers."""
    table.setAccessibleName(name)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(row_height)
    table.horizontalHeader().setHighlightSections(False)


def cell(text: str, alignment: Qt.AlignmentFlag = LEFT) -> QTableWidgetItem:
    item = QTableWidgetItem(text)
    item.setTextAlignment(alignment)
    return item


@dataclass(frozen=True, slots=True)
class Column:
    """`widest` is its longest text, marked, or all that it can show: its width never changes."""

    head: str
    tip: str = ""
    widest: str | Collection[str] = ""
    width: int = 0  # in place of `widest`
    is_number: bool = False
    is_muted: bool = False
    is_sequence: bool = False  # a seq_id, with the sequence's colour
    stretches: bool = False


class RowModel(QAbstractTableModel):
    """Its columns and their heads; a subclass has the rows."""

    HEAD_LEFT, HEAD_RIGHT = LEFT, RIGHT

    def __init__(self, columns: Sequence[Column], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = columns

    def num_rows(self) -> int:
        raise NotImplementedError

    def text_at(self, row: int, column: int) -> str:
        raise NotImplementedError

    def tip_at(self, _row: int, _column: int) -> str:
        return ""

    def spoken_at(self, _row: int, _column: int) -> str:
        """For screen readers, in place of the text."""
        return ""

    def is_muted(self, _row: int, column: int) -> bool:
        return self.columns[column].is_muted

    def colour_at(self, row: int, column: int) -> str:
        """Empty: that of other text."""
        return current().muted if self.is_muted(row, column) else ""

    def bar_at(self, _row: int, _column: int) -> tuple[float, str] | None:
        """A share and a colour, to be painted behind the figure."""
        return None

    def redraw(self, first_column: int = 0, last_column: int = -1) -> None:
        """The texts in these columns have changed."""
        if num_rows := self.num_rows():
            last = last_column % len(self.columns)
            self.dataChanged.emit(self.index(0, first_column), self.index(num_rows - 1, last))

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else self.num_rows()

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = index.row(), index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text_at(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return RIGHT if self.columns[column].is_number else LEFT
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(colour) if (colour := self.colour_at(row, column)) else None
            case Qt.ItemDataRole.ToolTipRole:
                return self.tip_at(row, column) or None
            case Qt.ItemDataRole.AccessibleTextRole:
                return self.spoken_at(row, column) or None
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(self.columns[section].head)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.HEAD_RIGHT if self.columns[section].is_number else self.HEAD_LEFT
        if role == Qt.ItemDataRole.ToolTipRole and self.columns[section].tip:
            return tr(self.columns[section].tip)
        return None


class RowTable(QTableView):
    def __init__(
        self, name: str, rows: RowModel, parent: QWidget, delegate: type["RowDelegate"] | None = None
    ) -> None:
        super().__init__(parent)
        self.setFont(tabular(small_font()))
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        lines, header = self.verticalHeader(), self.horizontalHeader()
        lines.setMinimumSectionSize(ROW_HEIGHT)  # before the height itself: it is never below it
        lines.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        dress_table(self, name, ROW_HEIGHT)
        header.setFont(small_font())
        header.setMinimumSectionSize(24)
        self.setModel(rows)
        self.setItemDelegate((delegate or RowDelegate)(rows, self))
        for number, column in enumerate(rows.columns):
            if column.width or column.widest:
                room = SWATCH_ROOM if column.is_sequence else 0
                self.setColumnWidth(number, column.width or self.width_of(column, column.widest, room))
            if column is rows.columns[-1]:
                header.setStretchLastSection(column.stretches)
            elif column.stretches:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)

    def width_of(self, column: Column, widest: str | Collection[str], room: int) -> int:
        widest = (widest,) if isinstance(widest, str) else widest
        body, heading = self.fontMetrics(), self.horizontalHeader().fontMetrics()
        lines = [heading.horizontalAdvance(line) for line in tr(column.head).split("\n")]
        return max(*(body.horizontalAdvance(tr(text)) + room for text in widest), *lines) + 2 * PADDING + 2


class RowDelegate(QStyledItemDelegate):
    """Paints a cell with one question to its model instead of the style's seven: tables change often."""

    def __init__(self, rows: RowModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows = rows

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self._paint_ground(painter, option, index)
        row, column = index.row(), index.column()
        text: str = index.data()
        room = option.rect.adjusted(PADDING, 0, -PADDING, 0)
        if bar := self.rows.bar_at(row, column):
            _paint_bar(painter, room, *bar)
        rect = self.decorate(painter, room, index, text)
        if not text:
            return
        metrics = option.fontMetrics
        if metrics.horizontalAdvance(text) > rect.width():
            text = metrics.elidedText(text, self.elide_mode(column), rect.width())
        painter.setFont(option.font)
        painter.setPen(QColor(self.rows.colour_at(row, column) or current().text))
        painter.drawText(rect, RIGHT if self.rows.columns[column].is_number else LEFT, text)

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The chosen row is tinted while the table has the keyboard, else grey; the current underlined."""
        tokens, table = current(), self.parent()
        assert isinstance(table, RowTable)
        has_keyboard = table.hasFocus()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(tokens.raised))
            if has_keyboard:
                tint = QColor(tokens.accent)
                tint.setAlphaF(TINT)
                painter.fillRect(option.rect, tint)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, QColor(tokens.surface))
        if has_keyboard and table.currentIndex().row() == index.row():
            painter.fillRect(option.rect.adjusted(0, option.rect.height() - 2, 0, 0), QColor(tokens.accent))

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(40, ROW_HEIGHT)

    def decorate(self, painter: QPainter, rect: QRect, index: Index, text: str) -> QRect:
        """Paints what stands beside the text. Returns the room left for the text."""
        if text and self.rows.columns[index.column()].is_sequence:
            return self.decorate_seq(painter, rect, int(text))
        return rect

    def decorate_seq(self, painter: QPainter, rect: QRect, seq_id: int, opacity: float = 1.0) -> QRect:
        """The sequence's colour."""
        colour = colour_of(seq_id)
        colour.setAlphaF(opacity)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_swatch(
            painter, QPointF(rect.left(), rect.top() + (rect.height() - SWATCH.height()) / 2), colour
        )
        painter.restore()
        return rect.adjusted(SWATCH_ROOM, 0, 0, 0)

    def elide_mode(self, _column: int) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideRight


def _paint_bar(painter: QPainter, rect: QRect, share: float, colour: str) -> None:
    """From the left."""
    room = QRectF(rect).adjusted(-3, 4, 3, -4)
    if share * room.width() < 1:
        return
    fill = QColor(colour)
    fill.setAlphaF(BAR_OPACITY)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawRoundedRect(
        QRectF(room.left(), room.top(), room.width() * min(1.0, share), room.height()), 2, 2
    )
    painter.restore()
