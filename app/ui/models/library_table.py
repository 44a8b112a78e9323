"""The table of models: columns, texts, sorting and search. GUI thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from app.look.figures import count, data_size, num_params
from app.look.fonts import tabular
from app.look.icons import icon
from app.look.list import Index
from app.look.plain_text import as_tooltip, heading_font
from app.look.table import Column, RowModel, dress_table
from app.look.tokens import current
from app.look.words import mark, sentences, tr, tr_said
from app.models.memory_fit import Fit
from app.models.model_file import FileKind, ModelFile, ModelSource
from app.services.model_fits import Fitting, Taken

KINDS = {
    FileKind.CHAT: mark("Chat model"),
    FileKind.EMBEDDING: mark("Embedding"),
    FileKind.RERANKER: mark("Reranker"),
    FileKind.PROJECTOR: mark("Projector"),
    FileKind.ADAPTER: mark("LoRA adapter"),
    FileKind.OTHER: mark("Other model"),
    FileKind.INCOMPLETE: mark("Incomplete"),
    FileKind.DAMAGED: mark("Damaged"),
}
SOURCES = {
    ModelSource.DOWNLOADS: mark("Downloads"),
    ModelSource.FOLDER: mark("Your folder"),
    ModelSource.OPENED: mark("Opened file"),
    ModelSource.STARTER: mark("Comes with Skein"),
}  # the others are names of programs
UNUSABLE = (FileKind.OTHER, FileKind.INCOMPLETE, FileKind.DAMAGED)
FIT_COLOURS = {Fit.FITS: "ok", Fit.TIGHT: "warning", Fit.TOO_LARGE: "danger"}  # tokens
FIT_ICONS = {Fit.FITS: "circle-check", Fit.TIGHT: "triangle-alert", Fit.TOO_LARGE: "x"}


@dataclass(frozen=True, slots=True)
class ModelRow:
    model: ModelFile
    fitting: Fitting | None = None
    is_in_use: bool = False
    taken: Taken | None = None

    @property
    def words(self) -> str:
        """The text that the search looks in."""
        model = self.model
        told = (
            model.name,
            model.family,
            model.quantisation,
            model.licence,
            source_text(model),
            str(model.path),
        )
        return " ".join(told).casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelColumn(Column):
    text: Callable[[ModelRow], str]
    key: Callable[[ModelRow], Any]  # to sort by


def source_text(model: ModelFile) -> str:
    return tr(SOURCES[model.source]) if model.source in SOURCES else str(model.source)


def memory_text(row: ModelRow) -> str:
    """The memory it takes or, if it is no chat model, what it is."""
    if row.model.kind is not FileKind.CHAT:
        return tr(KINDS[row.model.kind])
    if row.is_in_use:
        return tr("In use")
    return data_size(row.fitting.needed_bytes) if row.fitting else ""


def fit_text(fitting: Fitting) -> str:
    needed, free = data_size(fitting.needed_bytes), data_size(fitting.free_bytes)
    if fitting.fit is Fit.TOO_LARGE:
        told = tr("Needs about {needed}, but only {free} of memory is free.", needed=needed, free=free)
    else:
        told = tr("Needs about {needed} of {free} free memory.", needed=needed, free=free)
    return sentences(told, tr_said(fitting.advice))


def taken_text(taken: Taken) -> str:
    return tr(
        "Memory: {expected} expected, {taken} used.",
        expected=data_size(taken.expected_bytes),
        taken=data_size(taken.taken_bytes),
    )


def problem_text(model: ModelFile) -> str:
    """A sentence. Empty where there is none."""
    if not model.problem:
        return ""
    return tr("It cannot be used: {reason}.", reason=tr_said(model.problem))


def _memory_key(row: ModelRow) -> tuple[int, float, str]:
    if row.fitting:
        return (0, row.fitting.needed_bytes, "")
    return (1 if row.model.can_chat else 2, 0, memory_text(row))


NAME, PARAMS, QUANTISATION, CONTEXT, SIZE, MEMORY, FAMILY, LICENCE, SOURCE = range(9)
COLUMNS = (
    ModelColumn(mark("Name"), text=lambda row: row.model.name, key=lambda row: row.model.name.casefold()),
    ModelColumn(
        mark("Parameters"),
        widest="Parameters",
        is_number=True,
        text=lambda row: num_params(row.model.num_params) if row.model.num_params else "",
        key=lambda row: row.model.num_params,
    ),
    ModelColumn(
        mark("Quantisation"),
        widest="IQ3_XXS_XL",
        text=lambda row: row.model.quantisation,
        key=lambda row: row.model.quantisation,
    ),
    ModelColumn(
        mark("Context"),
        widest="1,048,576",
        is_number=True,
        text=lambda row: count(row.model.n_ctx_train) if row.model.n_ctx_train else "",
        key=lambda row: row.model.n_ctx_train,
    ),
    ModelColumn(
        mark("Size"),
        widest="1,000.5 GiB",
        is_number=True,
        text=lambda row: data_size(row.model.size_bytes),
        key=lambda row: row.model.size_bytes,
    ),
    ModelColumn(mark("Memory"), widest="1,000.5 GiB", text=memory_text, key=_memory_key),
    ModelColumn(
        mark("Family"),
        widest="qwen3next-m",
        text=lambda row: row.model.family,
        key=lambda row: row.model.family,
    ),
    ModelColumn(
        mark("Licence"),
        widest="apache-2.0",
        text=lambda row: row.model.licence,
        key=lambda row: row.model.licence.casefold(),
    ),
    ModelColumn(
        mark("From"),
        widest=SOURCES[ModelSource.STARTER],
        text=lambda row: source_text(row.model),
        key=lambda row: source_text(row.model),
    ),
)
# The order in which columns are hidden if there is no room for all.
LEAST_WANTED = (LICENCE, FAMILY, SOURCE, CONTEXT, PARAMS, QUANTISATION, SIZE)


class ModelTable(RowModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self._rows: tuple[ModelRow, ...] = ()

    def apply(self, rows: Sequence[ModelRow]) -> None:
        """If the models are the same, only their data are redrawn."""
        if [row.model.path for row in self._rows] == [row.model.path for row in rows]:
            self._rows = tuple(rows)
            self.redraw()
        else:
            self.beginResetModel()
            self._rows = tuple(rows)
            self.endResetModel()

    def update(self, row: ModelRow) -> None:
        """Redraws one model."""
        number = self.number_of(row.model.path)
        if number is not None:
            self._rows = (*self._rows[:number], row, *self._rows[number + 1 :])
            self.dataChanged.emit(self.index(number, 0), self.index(number, len(COLUMNS) - 1))

    def row_at(self, number: int) -> ModelRow:
        return self._rows[number]

    def number_of(self, path: Path) -> int | None:
        return next((number for number, row in enumerate(self._rows) if row.model.path == path), None)

    def num_rows(self) -> int:
        return len(self._rows)

    def text_at(self, row: int, column: int) -> str:
        return COLUMNS[column].text(self._rows[row])

    def tip_at(self, row: int, column: int) -> str:
        return as_tooltip(_tip(self._rows[row], column))

    def colour_at(self, row: int, column: int) -> str:
        if self._rows[row].model.kind in UNUSABLE:
            return current().muted
        return "" if column == NAME else current().text

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DecorationRole and column == MEMORY and row.fitting:
            return icon(FIT_ICONS[row.fitting.fit], FIT_COLOURS[row.fitting.fit])
        if role == Qt.ItemDataRole.FontRole and row.is_in_use and column == NAME:
            return heading_font(QFont())
        return super().data(index, role)


def _tip(row: ModelRow, column: int) -> str:
    if column == MEMORY and row.fitting:
        return fit_text(row.fitting)
    if column == MEMORY and row.taken:
        return taken_text(row.taken)
    return problem_text(row.model) or str(row.model.path)


class FoundModels(QSortFilterProxyModel):
    """Models with all the words, of the kinds asked for, in the order of a column."""

    def __init__(self, table: ModelTable, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._table = table
        self._words: list[str] = []
        self._kinds: frozenset[FileKind] = frozenset(FileKind)
        self.setSourceModel(table)
        self.setDynamicSortFilter(True)

    def search(self, text: str, kinds: frozenset[FileKind]) -> None:
        self._words, self._kinds = text.casefold().split(), kinds
        self.invalidate()

    def row_at(self, index: Index) -> ModelRow:
        return self._table.row_at(self.mapToSource(index).row())

    def index_of(self, path: Path) -> QModelIndex:
        number = self._table.number_of(path)
        return self.mapFromSource(self._table.index(number, NAME)) if number is not None else QModelIndex()

    def filterAcceptsRow(self, number: int, _parent: Index) -> bool:
        row = self._table.row_at(number)
        return row.model.kind in self._kinds and all(word in row.words for word in self._words)

    def lessThan(self, left: Index, right: Index) -> bool:
        key = COLUMNS[left.column()].key
        return bool(key(self._table.row_at(left.row())) < key(self._table.row_at(right.row())))


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
