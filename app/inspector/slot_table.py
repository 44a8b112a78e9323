"""The table of slots: one row for each sequence id. A click on a row names its chat. GUI thread."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from app.engine.types import SlotSnapshot, SlotState
from app.inspector.row_table import RowTable
from app.inspector.slot_text import COLUMNS, SEQ, STATE, TAB, TIPS, slot_texts, state_mark, widest_texts
from app.look.marks import Mark
from app.look.painted import paint_mark, paint_swatch
from app.look.sequence_colours import colour_of
from app.look.tokens import current

Index = QModelIndex | QPersistentModelIndex
ROW_HEIGHT = 24
CELL_PADDING = 3
STYLE_MARGIN = 8  # what the style keeps free round a text
MARK_ROOM = 20
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_HEAD_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
_HEAD_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ROOT = QModelIndex()


class SlotModel(QAbstractTableModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._slots: tuple[SlotSnapshot, ...] = ()
        self._titles: Mapping[str, str] = {}

    def apply(self, slots: tuple[SlotSnapshot, ...]) -> None:
        if len(slots) != len(self._slots):
            self.beginResetModel()
            self._slots = slots
            self.endResetModel()
        elif slots != self._slots:
            self._slots = slots
            self._announce_change()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        self._titles = titles
        self._announce_change()

    def slot_at(self, row: int) -> SlotSnapshot:
        return self._slots[row]

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._slots)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        slot = self._slots[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return slot_texts(slot, self._title_of(slot))[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if index.column() in (SEQ, TAB, STATE) else _RIGHT
        if role == Qt.ItemDataRole.ForegroundRole and slot.state is SlotState.EMPTY:
            return QColor(current().muted)
        if role == Qt.ItemDataRole.ToolTipRole:
            return TIPS[index.column()]
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _HEAD_LEFT if section in (SEQ, TAB, STATE) else _HEAD_RIGHT
        if role == Qt.ItemDataRole.ToolTipRole:
            return TIPS[section]
        return None

    def _title_of(self, slot: SlotSnapshot) -> str:
        return self._titles.get(slot.chat_id, "closed chat") if slot.chat_id else ""

    def _announce_change(self) -> None:
        if self._slots:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._slots) - 1, len(COLUMNS) - 1))


class SlotTable(RowTable):
    chat_activated = Signal(str)

    def __init__(self, model: SlotModel, parent: QWidget) -> None:
        super().__init__("Slots", parent)
        self._slots = model
        self.setModel(model)
        self.setItemDelegate(_SlotDelegate(self))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.clicked.connect(self._on_chosen)
        self.activated.connect(self._on_chosen)
        self._set_up_headers()
        self.fit_columns(0)

    def fit_columns(self, n_ctx: int) -> None:
        """Widths that hold for as long as this context lives."""
        body, head = QFontMetrics(self.font()), QFontMetrics(self.horizontalHeader().font())
        for column, widest in enumerate(widest_texts(n_ctx)):
            if column != TAB:
                room = MARK_ROOM if column == STATE else 12 if column == SEQ else 0
                text = max(body.horizontalAdvance(widest) + room, _advance(head, COLUMNS[column]))
                self.setColumnWidth(column, text + 2 * CELL_PADDING + STYLE_MARGIN)

    def fit_rows(self) -> None:
        rows = self._slots.rowCount() * ROW_HEIGHT
        bar = self.horizontalScrollBar()
        needs_bar = bar.maximum() > bar.minimum()
        head = self.horizontalHeader().sizeHint().height()
        self.setFixedHeight(head + rows + (bar.sizeHint().height() if needs_bar else 4))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_rows()

    def _set_up_headers(self) -> None:
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header = self.horizontalHeader()
        header.setFont(_smaller(self.font()))
        header.setHighlightSections(False)
        header.setMinimumSectionSize(24)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(TAB, QHeaderView.ResizeMode.Stretch)

    def _on_chosen(self, index: QModelIndex) -> None:
        if chat_id := self._slots.slot_at(index.row()).chat_id:
            self.chat_activated.emit(chat_id)


class _SlotDelegate(QStyledItemDelegate):
    """Puts the sequence's colour before its number and the state's mark before its word."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        slots = index.model()
        assert isinstance(slots, SlotModel)
        slot = slots.slot_at(index.row())
        if index.column() == SEQ:
            self._paint_seq(painter, option, index, slot)
        elif index.column() == STATE:
            self._paint_state(painter, option, index, state_mark(slot))
        else:
            super().paint(painter, option, index)

    def _paint_seq(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, slot: SlotSnapshot
    ) -> None:
        shifted = QStyleOptionViewItem(option)
        shifted.rect = option.rect.adjusted(10, 0, 0, 0)
        super().paint(painter, shifted, index)
        colour = colour_of(slot.seq_id)
        colour.setAlphaF(0.3 if slot.state is SlotState.EMPTY else 1.0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_swatch(painter, QPointF(option.rect.left() + 4, option.rect.center().y() - 6), colour)
        painter.restore()

    def _paint_state(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, mark: Mark) -> None:
        shifted = QStyleOptionViewItem(option)
        shifted.rect = option.rect.adjusted(MARK_ROOM - 2, 0, 0, 0)
        super().paint(painter, shifted, index)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_mark(
            painter, QRectF(option.rect.left() + 6, option.rect.center().y() - 6, 14, 14), mark, current()
        )
        painter.restore()


def _advance(metrics: QFontMetrics, text: str) -> int:
    return max(metrics.horizontalAdvance(line) for line in text.splitlines())


def _smaller(font: QFont) -> QFont:
    head = QFont(font)
    head.setPointSizeF(font.pointSizeF() - 0.5)
    return head
