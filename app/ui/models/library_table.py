"""The table of models: the selection, and as many columns as fit. GUI thread."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from app.look.fonts import tabular
from app.look.table import dress_table
from app.look.words import tr
from app.ui.models.library_rows import COLUMNS, LEAST_WANTED, MEMORY, NAME, FoundModels, ModelRow, ModelTable

ROW_HEIGHT = 30
NAME_WIDTH, CELL_ROOM, ICON_ROOM = 230, 22, 22


class LibraryTable(QTableView):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows = ModelTable(self)
        self.found = FoundModels(self.rows, self)
        self.setModel(self.found)
        self._dress()

    @property
    def found_rows(self) -> list[ModelRow]:
        """From top to bottom."""
        return [self.found.row_at(self.found.index(number, NAME)) for number in range(self.found.rowCount())]

    @property
    def chosen(self) -> ModelRow | None:
        chosen = self.selectionModel().selectedRows()
        return self.found.row_at(chosen[0]) if chosen else None

    def choose(self, path: Path) -> None:
        index = self.found.index_of(path)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def choose_near(self, number: int) -> None:
        """Selects the model at that row now, or the last one."""
        self.setCurrentIndex(self.found.index(min(number, self.found.rowCount() - 1), NAME))

    def choose_first(self) -> None:
        """The one in use, if it is among them."""
        rows = self.found_rows
        first = next((row for row in rows if row.is_in_use), rows[0] if rows else None)
        if first:
            self.choose(first.model.path)

    def fit_columns(self, room: int) -> None:
        room -= NAME_WIDTH + sum(self._width_of(column) for column in range(NAME + 1, len(COLUMNS)))
        for column in LEAST_WANTED:
            self.setColumnHidden(column, room < 0)
            if room < 0:
                room += self._width_of(column)

    def _width_of(self, column: int) -> int:
        """The width of the widest text, or of its head with the arrow."""
        width = self.fontMetrics().horizontalAdvance
        widest = max(width(tr(str(COLUMNS[column].widest))), width(tr(COLUMNS[column].head)))
        return widest + CELL_ROOM + (ICON_ROOM if column == MEMORY else 0)

    def _dress(self) -> None:
        dress_table(self, tr("Models"), ROW_HEIGHT)
        self.setSortingEnabled(True)
        self.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)
        self.setFont(tabular(self.font()))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header = self.horizontalHeader()
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column in range(NAME + 1, len(COLUMNS)):
            self.setColumnWidth(column, self._width_of(column))
