"""The files of a shelf, with what became of each. GUI thread."""

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from app.look.figures import count
from app.look.fonts import tabular
from app.look.plain_text import as_tooltip, one_line
from app.look.table import LEFT, RIGHT, dress_table
from app.look.tokens import current
from app.look.words import mark, tr
from app.services.shelves import ShelfState
from app.shelves.shelf import FileState, ShelfFile
from app.ui.shelves.shelf_words import about_tokens, state_text

NUMBER, NAME, STATE, TOKENS = range(4)
HEADS = (mark("No."), mark("File"), mark("State"), mark("Tokens"))
ROW_HEIGHT = 28
NUMBER_WIDTH, TOKENS_WIDTH = 56, 90

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


class FilesModel(QAbstractTableModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._state: ShelfState | None = None
        self.files: tuple[ShelfFile, ...] = ()

    def apply(self, state: ShelfState | None) -> None:
        """Another number of files is another table; else cells have changed."""
        files = state.files if state else ()
        is_same = [one.number for one in files] == [one.number for one in self.files]
        if not is_same:
            self.beginResetModel()
        self._state, self.files = state, files
        if not is_same:
            self.endResetModel()
        elif files:
            self.dataChanged.emit(self.index(0, 0), self.index(len(files) - 1, TOKENS))

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.files)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(HEADS[section])
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        file, column = self.files[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(file, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.ToolTipRole:
                return as_tooltip(file.path if column == NAME else state_text(file))
            case Qt.ItemDataRole.ForegroundRole if column == STATE:
                is_bad = file.state is FileState.UNREADABLE
                return QColor(current().danger if is_bad else current().muted)
        return None

    def _text(self, file: ShelfFile, column: int) -> str:
        match column:
            case 0:
                return count(file.number)
            case 1:
                return one_line(file.name)
            case 2:
                return state_text(file)
        assert self._state is not None
        return count(about_tokens(self._state, file)) if file.num_chars else ""


class FilesTable(QTableView):
    opened = Signal(object)  # ShelfFile

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows = FilesModel(self)
        self.setModel(self.rows)
        dress_table(self, tr("Files of this shelf"), ROW_HEIGHT)
        self.setFont(tabular(self.font()))
        header = self.horizontalHeader()
        for column in (NAME, STATE):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        for column, width in ((NUMBER, NUMBER_WIDTH), (TOKENS, TOKENS_WIDTH)):
            self.setColumnWidth(column, width)
        self.activated.connect(lambda index: self.opened.emit(self.rows.files[index.row()]))

    @property
    def chosen(self) -> ShelfFile | None:
        rows = self.selectionModel().selectedRows()
        return self.rows.files[rows[0].row()] if rows else None


def _alignment(column: int) -> Qt.AlignmentFlag:
    return RIGHT if column in (NUMBER, TOKENS) else LEFT
