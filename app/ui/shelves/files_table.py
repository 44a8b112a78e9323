"""The files of a shelf, with what became of each. GUI thread."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from app.look.figures import count
from app.look.fonts import tabular
from app.look.plain_text import as_tooltip, one_line
from app.look.table import Column, RowModel, dress_table
from app.look.tokens import current
from app.look.words import mark, tr
from app.services.shelves import ShelfState
from app.shelves.shelf import FileState, ShelfFile
from app.ui.shelves.shelf_words import about_tokens, state_text

NUMBER, NAME, STATE, TOKENS = range(4)
COLUMNS = (
    Column(mark("No."), width=56, is_number=True),
    Column(mark("File"), stretches=True),
    Column(mark("State"), is_muted=True, stretches=True),
    Column(mark("Tokens"), width=90, is_number=True),
)
ROW_HEIGHT = 28


class FilesModel(RowModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(COLUMNS, parent)
        self._state: ShelfState | None = None
        self.files: tuple[ShelfFile, ...] = ()

    def apply(self, state: ShelfState | None) -> None:
        """Another number of files is another table; else cells have changed."""
        files = state.files if state else ()
        is_same = [one.number for one in files] == [one.number for one in self.files]
        if not is_same:
            self.beginResetModel()
        self._state, self.files = state, files
        if is_same:
            self.redraw()
        else:
            self.endResetModel()

    def num_rows(self) -> int:
        return len(self.files)

    def text_at(self, row: int, column: int) -> str:
        file = self.files[row]
        match column:
            case 0:
                return count(file.number)
            case 1:
                return one_line(file.name)
            case 2:
                return state_text(file)
        assert self._state is not None
        return count(about_tokens(self._state, file)) if file.num_chars else ""

    def tip_at(self, row: int, column: int) -> str:
        file = self.files[row]
        return as_tooltip(file.path if column == NAME else state_text(file))

    def colour_at(self, row: int, column: int) -> str:
        is_bad = column == STATE and self.files[row].state is FileState.UNREADABLE
        return current().danger if is_bad else super().colour_at(row, column)


class FilesTable(QTableView):
    opened = Signal(object)  # ShelfFile

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows = FilesModel(self)
        self.setModel(self.rows)
        dress_table(self, tr("Files of this shelf"), ROW_HEIGHT)
        self.setFont(tabular(self.font()))
        header = self.horizontalHeader()
        for number, column in enumerate(COLUMNS):
            if column.stretches:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)
            else:
                self.setColumnWidth(number, column.width)
        self.activated.connect(lambda index: self.opened.emit(self.rows.files[index.row()]))

    @property
    def chosen(self) -> ShelfFile | None:
        rows = self.selectionModel().selectedRows()
        return self.rows.files[rows[0].row()] if rows else None
