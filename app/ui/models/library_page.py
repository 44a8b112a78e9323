"""The models on this machine: a table to search and sort, and what is known of the chosen one. GUI thread.

Shows what the library of models and the estimates tell, and asks them for what the user wants done.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.bridge.model_fits import ModelFits
from app.bridge.model_library import ModelLibrary, Trashed
from app.bridge.preferences import Preferences
from app.look.dialog_button import dialog_button
from app.look.figures import count, data_size
from app.look.flat_combo import FlatCombo
from app.look.fonts import tabular
from app.look.plain_text import PlainLabel, as_tab_text, one_line
from app.look.words import mark, tr, tr_n, tr_said
from app.models.folders import Folder
from app.models.model_file import FileKind, ModelFile, Source
from app.ui.commands.help_commands import open_folder
from app.ui.models.library_details import LibraryDetails
from app.ui.models.library_rows import (
    COLUMNS,
    LEAST_WANTED,
    MEMORY,
    NAME,
    FoundModels,
    ModelRow,
    ModelTable,
)
from app.ui.models.reveal import reveal
from app.ui.notices import UndoToast

ROW_HEIGHT = 30
NAME_WIDTH, CELL_ROOM, ICON_ROOM = 230, 22, 22
DETAILS_WIDTH, DETAILS_HEIGHT, WIDE = 290, 220, 900

CHAT = frozenset({FileKind.CHAT})
_SHOWN = (
    (mark("Chat models"), CHAT),
    (mark("Other files"), frozenset(FileKind) - CHAT),
    (mark("All files"), frozenset(FileKind)),
)
LOOKING = mark("Looking for models…")
NO_MODELS = mark("There is no model here yet. Add the folder that has yours.")
NOTHING_FOUND = mark("No model has these words.")


class LibraryPage(QWidget):
    open_requested = Signal(object)  # Path
    settings_requested = Signal(object)  # Path

    def __init__(
        self,
        library: ModelLibrary,
        fits: ModelFits,
        preferences: Preferences,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._fits = fits
        self._preferences = preferences
        self._shown_models: tuple[tuple[ModelFile, ...], frozenset[Path]] | None = None
        self.search = QLineEdit(self)
        self.shown = FlatCombo(self)
        self.folders_button = QPushButton(tr("&Folders"), self)
        self.folders_menu = QMenu(self)
        self.rows = ModelTable(self)
        self.found = FoundModels(self.rows, self)
        self.table = QTableView(self)
        self.empty = PlainLabel(parent=self, tone="muted")
        self.add_button = dialog_button(tr("&Add folder…"), self.add_folder, self)
        self.clear_button = dialog_button(tr("&Clear search"), self._clear, self)
        self.details = LibraryDetails(self)
        self.note = PlainLabel(parent=self, tone="muted")
        self.trouble = PlainLabel(parent=self, tone="danger")
        self.undo = UndoToast(self)
        self._dress()
        self._lay_out()
        self._connect()
        self._search()
        self._on_library_changed()

    @property
    def chosen(self) -> ModelFile | None:
        row = self._chosen_row()
        return row.model if row else None

    def choose(self, path: Path) -> None:
        """Whatever is searched for now."""
        self.search.clear()
        model = self._library.model_at(path)
        if model and model.kind not in self._kinds():
            self.shown.setCurrentIndex(len(_SHOWN) - 1)
        self._choose(path)

    # What is shown

    @Slot()
    def _on_library_changed(self) -> None:
        """While it looks for models, only how far it is."""
        now = (self._library.models, self._library.in_use)
        if now != self._shown_models:
            self._shown_models = now
            self._show_models()
        self._show_found()

    def _show_models(self) -> None:
        """The chosen one stays chosen; if it has gone, the next one is."""
        chosen, number = self.chosen, self.table.currentIndex().row()
        self._show_rows()
        if chosen:
            self._choose(chosen.path)
        if not self._chosen_row():
            self.table.setCurrentIndex(self.found.index(min(number, self.found.rowCount() - 1), NAME))
        if not self._chosen_row():
            self._choose_first()
        self._show_details()
        if self.isVisible():
            self._fits.ask(self._library.models)

    @Slot()
    def _show_rows(self) -> None:
        self.rows.apply([self._row(model) for model in self._library.models])
        self._show_details()

    @Slot(object)
    def _on_estimated(self, path: Path) -> None:
        if model := self._library.model_at(path):
            self.rows.update(self._row(model))
            if self.chosen == model:
                self._show_details()

    def _row(self, model: ModelFile) -> ModelRow:
        is_in_use = self._library.is_in_use(model)
        return ModelRow(model, None if is_in_use else self._fits.fitting(model), is_in_use)

    @Slot()
    def _search(self) -> None:
        self.found.search(self.search.text(), self._kinds())
        if not self._chosen_row():
            self._choose_first()
        self._show_found()
        self._show_details()

    def _clear(self) -> None:
        self.search.clear()
        if not self.found.rowCount():
            self.shown.setCurrentIndex(len(_SHOWN) - 1)
        self.search.setFocus()

    def _show_found(self) -> None:
        num_found = self.found.rowCount()
        self._stack.setCurrentIndex(0 if num_found else 1)
        has_models = bool(self._library.models)
        looks = self._library.progress is not None
        self.empty.setText(tr(NOTHING_FOUND if has_models else LOOKING if looks else NO_MODELS))
        self.add_button.setVisible(not has_models)
        self.clear_button.setVisible(has_models)
        self.details.setVisible(num_found > 0)
        self.note.setText(self._summary(num_found))

    def _summary(self, num_found: int) -> str:
        if (progress := self._library.progress) and progress[1]:
            done, of_how_many = progress
            return tr("Looking at files: {done} of {number}", done=count(done), number=count(of_how_many))
        found = [self.found.row_at(self.found.index(number, NAME)).model for number in range(num_found)]
        size = data_size(sum(model.size_bytes for model in found))
        return tr_n("{n} model, {size}", "{n} models, {size}", num_found, size=size) if found else ""

    @Slot()
    def _show_details(self) -> None:
        row = self._chosen_row()
        self.details.apply(row, self._library.why_not_trash(row.model) if row else "")

    def _kinds(self) -> frozenset[FileKind]:
        kinds: frozenset[FileKind] = _SHOWN[self.shown.currentIndex()][1]
        return kinds

    # Choosing

    def _chosen_row(self) -> ModelRow | None:
        chosen = self.table.selectionModel().selectedRows()
        return self.found.row_at(chosen[0]) if chosen else None

    def _choose(self, path: Path) -> None:
        index = self.found.index_of(path)
        if index.isValid():
            self.table.setCurrentIndex(index)
            self.table.scrollTo(index)

    def _choose_first(self) -> None:
        """The one in use, if it is among them."""
        rows = [self.found.row_at(self.found.index(number, NAME)) for number in range(self.found.rowCount())]
        first = next((row for row in rows if row.is_in_use), rows[0] if rows else None)
        if first:
            self._choose(first.model.path)

    # What is done with a model

    @Slot()
    def _open(self) -> None:
        row = self._chosen_row()
        if row and row.model.can_chat and not row.is_in_use:
            self.open_requested.emit(row.model.path)

    @Slot()
    def _ask_for_settings(self) -> None:
        if self.chosen:
            self.settings_requested.emit(self.chosen.path)

    @Slot()
    def _reveal(self) -> None:
        if self.chosen:
            reveal(self.chosen.path, self)

    @Slot()
    def _trash(self) -> None:
        self.trouble.hide()
        if self.chosen:
            self._library.trash(self.chosen)

    @Slot(object)
    def _on_trashed(self, trashed: Trashed) -> None:
        told = tr("Moved “{name}” to the trash.", name=one_line(trashed.model.name))
        self.undo.offer(told, partial(self._library.restore, trashed))

    @Slot(object)
    def _on_failed(self, message: str) -> None:
        self.trouble.setText(tr_said(message))
        self.trouble.show()

    @Slot(QPoint)
    def _show_menu(self, place: QPoint) -> None:
        row = self._chosen_row()
        if not row:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for button in self.details.buttons:
            if not button.isHidden():
                action = menu.addAction(button.text(), button.click)
                action.setEnabled(button.isEnabled())
        menu.popup(self.table.viewport().mapToGlobal(place))

    # Folders

    @Slot()
    def _fill_folders_menu(self) -> None:
        self.folders_menu.clear()
        for folder in self._library.folders:
            self.folders_menu.addMenu(self._folder_menu(folder))
        self.folders_menu.addSeparator()
        self.folders_menu.addAction(tr("&Add folder…"), self.add_folder)
        self.folders_menu.addSeparator()
        others = self.folders_menu.addAction(tr("Show models of &other programs"))
        others.setCheckable(True)
        others.setChecked(self._preferences.settings.uses_other_programs_models)
        others.toggled.connect(partial(self._preferences.set, "uses_other_programs_models"))
        self.folders_menu.addAction(tr("&Look again"), self._library.refresh)

    def _folder_menu(self, folder: Folder) -> QMenu:
        is_downloads = folder.source is Source.DOWNLOADS
        name = as_tab_text(_short(folder.path))
        menu = QMenu(tr("Downloads: {folder}", folder=name) if is_downloads else name, self.folders_menu)
        menu.addAction(tr("Open in the file manager"), partial(open_folder, folder.path))
        if is_downloads:
            menu.addAction(tr("Choose another folder…"), self._choose_download_folder)
            reset = menu.addAction(
                tr("Use the usual folder"), partial(self._preferences.reset, "download_folder")
            )
            reset.setEnabled(self._preferences.settings.download_folder is not None)
        else:
            menu.addAction(tr("Remove from the list"), partial(self._library.remove_folder, folder.path))
        return menu

    def add_folder(self) -> None:
        self._ask_for_folder(tr("Add a folder with models"), self._library.add_folder)

    def _choose_download_folder(self) -> None:
        set_folder = partial(self._preferences.set, "download_folder")
        self._ask_for_folder(tr("Folder for downloads"), set_folder)

    def _ask_for_folder(self, title: str, on_chosen: Callable[[Path], object]) -> None:
        dialog = QFileDialog(self, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda name: on_chosen(Path(name)))
        dialog.open()  # never exec: a nested loop would stop every coroutine

    # Building

    def _dress(self) -> None:
        self.search.setPlaceholderText(tr("Search models"))
        self.search.setAccessibleName(tr("Search models"))
        self.search.setClearButtonEnabled(True)
        self.shown.setAccessibleName(tr("Files shown"))
        for label, _ in _SHOWN:
            self.shown.addItem(tr(label))
        self.folders_button.setAutoDefault(False)
        self.folders_button.setMenu(self.folders_menu)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.trouble.setWordWrap(True)
        self.trouble.hide()
        self._dress_table()

    def _dress_table(self) -> None:
        table = self.table
        table.setModel(self.found)
        table.setAccessibleName(tr("Models"))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        table.setSortingEnabled(True)
        table.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)
        table.setFont(tabular(table.font()))
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column in range(NAME + 1, len(COLUMNS)):
            table.setColumnWidth(column, self._column_width(column))

    def _column_width(self, column: int) -> int:
        """As wide as the widest text, or as its head with the arrow."""
        metrics = self.table.fontMetrics()
        texts = (
            metrics.horizontalAdvance(text) for text in (tr(COLUMNS[column].widest), tr(COLUMNS[column].head))
        )
        return max(texts) + CELL_ROOM + (ICON_ROOM if column == MEMORY else 0)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.search, 1)
        top.addWidget(self.shown)
        top.addWidget(self.folders_button)
        nothing = QWidget(self)
        column = QVBoxLayout(nothing)
        column.addStretch(1)
        column.addWidget(self.empty)
        column.addSpacing(8)
        for button in (self.add_button, self.clear_button):
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.table)
        self._stack.addWidget(nothing)
        self._middle = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._middle.setSpacing(16)
        self._middle.addWidget(self._stack, 1)
        self._middle.addWidget(self.details)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(16, 12, 16, 12)
        whole.setSpacing(12)
        whole.addLayout(top)
        whole.addLayout(self._middle, 1)
        whole.addWidget(self.trouble)
        whole.addWidget(self.note)

    def _connect(self) -> None:
        self._library.changed.connect(self._on_library_changed)
        self._library.trashed.connect(self._on_trashed)
        self._library.failed.connect(self._on_failed)
        self._fits.changed.connect(self._show_rows)
        self._fits.estimated.connect(self._on_estimated)
        self.search.textChanged.connect(self._search)
        self.shown.currentIndexChanged.connect(self._search)
        self.folders_menu.aboutToShow.connect(self._fill_folders_menu)
        self.table.activated.connect(self._open)
        self.table.selectionModel().selectionChanged.connect(self._show_details)
        self.table.customContextMenuRequested.connect(self._show_menu)
        self.details.open_requested.connect(self._open)
        self.details.settings_requested.connect(self._ask_for_settings)
        self.details.reveal_requested.connect(self._reveal)
        self.details.trash_requested.connect(self._trash)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.search.setFocus)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.table, self._trash).setContext(
            Qt.ShortcutContext.WidgetShortcut
        )

    # Qt's events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._library.refresh()
        self._fits.ask(self._library.models)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Details beside the table where there is room, else below it; columns as many as fit."""
        super().resizeEvent(event)
        is_wide = event.size().width() >= WIDE
        self._middle.setDirection(
            QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        )
        self.details.set_wide(not is_wide)
        self.details.setMinimumSize(0, 0)
        self.details.setMaximumSize(16_777_215, 16_777_215)
        if is_wide:
            self.details.setFixedWidth(DETAILS_WIDTH)
        else:
            self.details.setFixedHeight(DETAILS_HEIGHT)
        self._fit_columns(event.size().width() - (DETAILS_WIDTH + 48 if is_wide else 32))

    def _fit_columns(self, room: int) -> None:
        room -= NAME_WIDTH + sum(self._column_width(column) for column in range(NAME + 1, len(COLUMNS)))
        for column in LEAST_WANTED:
            self.table.setColumnHidden(column, room < 0)
            if room < 0:
                room += self._column_width(column)


def _short(path: Path) -> str:
    """Below the user's own folder, as a shell would write it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
