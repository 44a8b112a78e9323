"""The table of sequences: sortable, with selectable columns, updated incrementally.

GUI thread.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QByteArray, QModelIndex, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QMenu, QWidget

from app.inspector.sequence_rows import (
    COLUMNS,
    SEQ,
    STATE,
    TAB,
    SequenceRow,
    row_tip,
    sort_key,
    widest_text,
)
from app.look.icons import paint_icon
from app.look.list import Index
from app.look.painted import paint_mark
from app.look.popups import Menu
from app.look.table import SWATCH_ROOM, RowDelegate, RowModel, RowTable
from app.look.tokens import current
from app.look.words import tr

_ROOT = QModelIndex()
MARK_ROOM = 20


class SequenceModel(RowModel):
    """Rows are inserted, removed and moved one by one, so that the selection survives."""

    HEAD_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
    HEAD_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self._rows: list[SequenceRow] = []  # as they are shown
        self._unsorted: Sequence[SequenceRow] = ()
        self._sorted_by = SEQ
        self._is_descending = False

    def apply(self, rows: Sequence[SequenceRow]) -> None:
        self._unsorted = rows
        wanted = {row.key: row for row in self._in_order(rows)}
        self._remove_all_but(wanted)
        self._insert_missing(wanted)
        self._move(list(wanted))
        for number, row in enumerate(wanted.values()):
            if row != self._rows[number]:
                self._rows[number] = row
                self.dataChanged.emit(self.index(number, 0), self.index(number, len(COLUMNS) - 1))

    def row_at(self, number: int) -> SequenceRow:
        return self._rows[number]

    def number_of(self, key: str) -> int | None:
        return next((number for number, row in enumerate(self._rows) if row.key == key), None)

    def number_of_chat(self, chat_id: str) -> int | None:
        return next((number for number, row in enumerate(self._rows) if row.chat_id == chat_id), None)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sorted_by, self._is_descending = max(column, 0), order is Qt.SortOrder.DescendingOrder
        self.apply(self._unsorted)

    def num_rows(self) -> int:
        return len(self._rows)

    def text_at(self, row: int, column: int) -> str:
        return COLUMNS[column].text_of(self._rows[row])

    def tip_at(self, row: int, column: int) -> str:
        return row_tip(self._rows[row]) or tr(COLUMNS[column].tip)

    def is_muted(self, row: int, _column: int) -> bool:
        return self._rows[row].is_empty

    def _in_order(self, rows: Sequence[SequenceRow]) -> list[SequenceRow]:
        """Rows that are equal in the sorted column stay in the order they came in."""
        if self._sorted_by == SEQ and not self._is_descending:
            return list(rows)  # slots by number, then those without one as they came
        return sorted(rows, key=sort_key(self._sorted_by), reverse=self._is_descending)

    def _remove_all_but(self, wanted: dict[str, SequenceRow]) -> None:
        for number in reversed(range(len(self._rows))):
            if self._rows[number].key not in wanted:
                self.beginRemoveRows(_ROOT, number, number)
                del self._rows[number]
                self.endRemoveRows()

    def _insert_missing(self, wanted: dict[str, SequenceRow]) -> None:
        shown = {row.key for row in self._rows}
        new = [row for key, row in wanted.items() if key not in shown]
        if new:
            self.beginInsertRows(_ROOT, len(self._rows), len(self._rows) + len(new) - 1)
            self._rows += new
            self.endInsertRows()

    def _move(self, keys: list[str]) -> None:
        former = [row.key for row in self._rows]
        if former == keys:
            return
        self.layoutAboutToBeChanged.emit()
        place_of = {key: number for number, key in enumerate(keys)}
        old = self.persistentIndexList()
        new = [self.index(place_of[former[index.row()]], index.column()) for index in old]
        self._rows.sort(key=lambda row: place_of[row.key])
        self.changePersistentIndexList(old, new)
        self.layoutChanged.emit()


class SequenceTable(RowTable):
    chosen = Signal(object)  # SequenceRow, or None when nothing is chosen any more
    chat_activated = Signal(str)  # a click on its title, or Enter on its row
    menu_requested = Signal(QPoint)  # for the chosen row, at this place of the screen

    def __init__(self, parent: QWidget) -> None:
        rows = SequenceModel(parent)
        super().__init__(tr("Sequences"), rows, parent, _SequenceDelegate)
        self.rows = rows
        self._chosen_key = ""
        self._chosen_chat: str | None = None
        self._is_applying = False
        self.setSortingEnabled(True)
        self.sortByColumn(SEQ, Qt.SortOrder.AscendingOrder)
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_menu)
        self.fit_columns(0)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self.clicked.connect(self._on_clicked)
        self.activated.connect(self._on_activated)

    @property
    def chosen_row(self) -> SequenceRow | None:
        number = self.rows.number_of(self._chosen_key)
        return None if number is None else self.rows.row_at(number)

    def apply(self, rows: Sequence[SequenceRow]) -> None:
        """The selected row stays selected wherever it moves, also when a waiting chat gets a slot."""
        self._is_applying = True
        self.rows.apply(rows)
        self._is_applying = False
        if not self._chosen_key:
            return
        number = self.rows.number_of(self._chosen_key)
        if number is None and self._chosen_chat:
            number = self.rows.number_of_chat(self._chosen_chat)
        self._choose_number(number)

    def fit_columns(self, n_ctx: int) -> None:
        """Sets column widths that fit all values of this context."""
        for number, column in enumerate(COLUMNS):
            if number != TAB:
                room = {SEQ: SWATCH_ROOM, STATE: MARK_ROOM}.get(number, 0)
                self.setColumnWidth(number, self.width_of(column, widest_text(column, n_ctx), room))

    def choose(self, key: str) -> None:
        self._choose_number(self.rows.number_of(key))

    def save_columns(self) -> QByteArray:
        return self.horizontalHeader().saveState()

    def restore_columns(self, state: QByteArray) -> None:
        self.horizontalHeader().restoreState(state)

    def column_menu(self, parent: QWidget | None = None) -> QMenu:
        """A check box for each column."""
        menu = Menu(tr("Columns"), parent or self)
        for number, column in enumerate(COLUMNS):
            action = menu.addAction(tr(column.head).replace("\n", " "))
            action.setStatusTip(tr(column.tip))
            action.setCheckable(True)
            action.setChecked(not self.isColumnHidden(number))
            action.setEnabled(number != TAB)
            action.toggled.connect(lambda is_shown, number=number: self.setColumnHidden(number, not is_shown))
        return menu

    def _choose_number(self, number: int | None) -> None:
        if number is None:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        elif not self.selectionModel().isRowSelected(number):
            self.selectRow(number)
        self._note_chosen(number)

    def _note_chosen(self, number: int | None) -> None:
        row = None if number is None else self.rows.row_at(number)
        if row is None or (row.key, row.chat_id) != (self._chosen_key, self._chosen_chat):
            self._chosen_key, self._chosen_chat = (row.key, row.chat_id) if row else ("", None)
            self.chosen.emit(row)

    def _on_selection_changed(self) -> None:
        """The selection, not the current row: Qt sets a current row with the focus, which is no choice."""
        if not self._is_applying:
            rows = self.selectionModel().selectedRows()
            self._note_chosen(rows[0].row() if rows else None)

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == TAB:
            self._on_activated(index)

    def _on_activated(self, index: QModelIndex) -> None:
        if chat_id := self.rows.row_at(index.row()).chat_id:
            self.chat_activated.emit(chat_id)

    def _on_header_menu(self, place: QPoint) -> None:
        menu = self.column_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.horizontalHeader().mapToGlobal(place))

    def _on_menu(self, place: QPoint) -> None:
        """The Menu key comes with the place of the focus."""
        if self.indexAt(place).isValid():
            self.menu_requested.emit(self.viewport().mapToGlobal(place))
        elif self.currentIndex().isValid():
            self.menu_requested.emit(
                self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
            )


class _SequenceDelegate(RowDelegate):
    """The sequence's colour beside its number, the state's mark beside its word."""

    rows: SequenceModel

    def decorate(self, painter: QPainter, rect: QRect, index: Index, _text: str) -> QRect:
        row = self.rows.row_at(index.row())
        if index.column() == SEQ and row.seq_id is not None:
            return self.decorate_seq(painter, rect, row.seq_id, 0.3 if row.is_empty else 1.0)
        if index.column() == STATE:
            place = QRectF(rect.left(), rect.top() + (rect.height() - 14) / 2, 14, 14)
            self._paint_crisp(painter, lambda: paint_mark(painter, place, row.mark, current()))
            return rect.adjusted(MARK_ROOM, 0, 0, 0)
        if index.column() == TAB and row.is_pinned:
            place = QRectF(rect.right() - 12, rect.center().y() - 6, 13, 13)
            self._paint_crisp(painter, lambda: paint_icon(painter, "pin", place, current().muted))
            return rect.adjusted(0, 0, -16, 0)
        return rect

    def elide_mode(self, column: int) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideMiddle if column == TAB else Qt.TextElideMode.ElideRight

    def _paint_crisp(self, painter: QPainter, paint: Callable[[], None]) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint()
        painter.restore()
