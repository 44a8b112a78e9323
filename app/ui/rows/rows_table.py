"""The table of the rows window: read page by page as it is scrolled, however long it is. GUI thread."""

import sqlite3
from collections import OrderedDict

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QWidget

from app.bridge.tasks import spawn
from app.look.figures import count, percent
from app.look.plain_text import as_tooltip, one_line
from app.look.table import PADDING, Column, RowModel, RowTable
from app.look.tokens import current
from app.look.words import mark, tr, tr_said
from app.rows.job import State
from app.services.rows import RowJobs, ShownRow

PAGE, MAX_PAGES = 100, 12
MIN_WIDTH, MIN_LONG, MAX_WIDTH = 64, 220, 320
NUMBER_WIDTH, ANSWER_WIDTH, STATE_WIDTH = 64, 104, 120
NUM_MEASURED = 30  # columns and rows whose texts make the widths
STATES = {State.WAITING: mark("waiting"), State.DONE: mark("answered"), State.FAILED: mark("failed")}
BLANK = ShownRow(())


class RowsModel(RowModel):
    """The row's number, the table's columns, the answer's, and what became of the row."""

    def __init__(self, rows: RowJobs, parent: QWidget) -> None:
        super().__init__((), parent)
        self._rows = rows
        self._num_rows = 0
        self._pages: OrderedDict[int, list[ShownRow]] = OrderedDict()
        self._fresh: set[int] = set()  # pages that are read, or being read, as they are now
        self._table: tuple[object, ...] = ()

    def apply(self) -> bool:
        """Whether it is another table."""
        rows = self._rows
        table, num_rows = (rows.table, rows.settings, rows.columns, rows.added), rows.counts.num_rows
        is_other = table != self._table or num_rows < self._num_rows
        if is_other:
            self.beginResetModel()
            self._table, self._num_rows = table, num_rows
            self._pages.clear()
            self._fresh.clear()
            names = (*rows.columns, *rows.added[:-1])
            self.columns = [Column(mark("No."), is_number=True), *map(Column, names), Column(mark("State"))]
            self.endResetModel()
        elif num_rows > self._num_rows:
            self.beginInsertRows(QModelIndex(), self._num_rows, num_rows - 1)
            self._fresh.discard(self._num_rows // PAGE)  # it was not full
            self._num_rows = num_rows
            self.endInsertRows()
        return is_other

    def forget(self) -> None:
        """Rows may have changed: what is shown of them is read again."""
        self._fresh.clear()

    def num_rows(self) -> int:
        return self._num_rows

    def row_at(self, row: int) -> ShownRow:
        """Blank until its page is read."""
        page = row // PAGE
        if page not in self._fresh:
            self._fresh.add(page)
            spawn(self._read(page))
        shown = self._pages.get(page, ())
        return shown[row % PAGE] if row % PAGE < len(shown) else BLANK

    async def _read(self, page: int) -> None:
        table = self._table
        try:
            shown = await self._rows.rows(page * PAGE, PAGE)
        except (OSError, sqlite3.Error):  # whoever answers them says so
            return
        if table == self._table:
            self._pages[page] = shown
            self._pages.move_to_end(page)
            if len(self._pages) > MAX_PAGES:
                self._fresh.discard(self._pages.popitem(last=False)[0])
            last = min((page + 1) * PAGE, self._num_rows) - 1
            self.dataChanged.emit(self.index(page * PAGE, 0), self.index(last, len(self.columns) - 1))

    def text_at(self, row: int, column: int) -> str:
        shown = self.row_at(row)
        if column == 0:
            return count(row + 1)
        if column == len(self.columns) - 1:
            is_job = self._rows.settings and shown is not BLANK
            return one_line(tr_said(shown.error)) or (tr(STATES[shown.state]) if is_job else "")
        text = shown.cells[column - 1] if column <= len(shown.cells) else ""
        is_share = self._rows.settings and self._rows.settings.num_votes > 1
        if text and is_share and column == len(self.columns) - 2:
            return percent(float(text), 1.0)
        return one_line(text)

    def tip_at(self, row: int, column: int) -> str:
        return as_tooltip(self.text_at(row, column)) if column else ""

    def is_muted(self, _row: int, column: int) -> bool:
        return column in (0, len(self.columns) - 1)

    def colour_at(self, row: int, column: int) -> str:
        is_bad = column == len(self.columns) - 1 and self.row_at(row).error
        return current().danger if is_bad else super().colour_at(row, column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Names of a table's columns are not translated."""
        is_own = 0 < section < len(self.columns) - 1
        if is_own and role == Qt.ItemDataRole.DisplayRole and orientation is Qt.Orientation.Horizontal:
            return one_line(self.columns[section].head)
        return super().headerData(section, orientation, role)


class RowsTable(RowTable):
    def __init__(self, rows: RowJobs, parent: QWidget) -> None:
        self._jobs, self.rows = rows, RowsModel(rows, parent)
        super().__init__(tr("Rows"), self.rows, parent)
        self.horizontalHeader().setStretchLastSection(True)
        self._is_measured = False
        self.rows.dataChanged.connect(self._measure)

    def apply(self) -> None:
        if self.rows.apply():
            self._is_measured = False
            self.setColumnWidth(0, NUMBER_WIDTH)

    def reread(self) -> None:
        self.rows.forget()
        self.viewport().update()

    def _measure(self) -> None:
        """Once the first rows are there. Widths never change by themselves later."""
        if self._is_measured:
            return
        self._is_measured = True
        model, metrics, widths = self.rows, self.fontMetrics(), [NUMBER_WIDTH]
        for column in range(1, min(len(model.columns) - 1, NUM_MEASURED)):
            num_rows = min(model.num_rows(), NUM_MEASURED)
            texts = [model.columns[column].head, *(model.text_at(row, column) for row in range(num_rows))]
            least = MIN_WIDTH if column <= len(self._jobs.columns) else ANSWER_WIDTH  # which is yet to come
            widths.append(max(least, max(map(metrics.horizontalAdvance, texts)) + 2 * PADDING + 4))
        room = self.viewport().width() - STATE_WIDTH - sum(min(width, MAX_WIDTH) for width in widths)
        widest = max(MIN_LONG, MAX_WIDTH + room)  # a long text takes what is left
        num_answers = len(widths) - 1 - len(self._jobs.columns)
        for column, width in enumerate(widths):
            is_answer = column > len(self._jobs.columns)
            spare = max(room, 0) // num_answers if is_answer else 0
            self.setColumnWidth(column, min(width + spare, widest))
