"""The shelves window: the list of shelves, and what is on the selected one. Not modal. GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QTableView,
    QWidget,
)

from app.look.buttons import PlainButton, dialog_button
from app.look.figures import count
from app.look.file_dialog import choose_file, choose_files, choose_folder
from app.look.fonts import tabular
from app.look.layouts import CENTRE, STRETCH, hbox, vbox
from app.look.plain_text import ElidedLabel, PlainLabel, as_tooltip, heading_font, one_line
from app.look.popups import FlatCombo, Menu, come_up, resize_to_fit
from app.look.table import Column, RowModel, dress_table
from app.look.tokens import current
from app.look.words import mark, sentences, tr, tr_said
from app.models.model_file import FileKind
from app.services.beginning_reader import Reading
from app.services.shelf_vectors import ShelfVectors
from app.services.shelves import ShelfService, ShelfState
from app.shelves.shelf import FileState, Shelf, ShelfFile
from app.ui.base.notices import UndoToast
from app.ui.base.titles import TitleEdit
from app.ui.shelves.shelf_words import (
    about_tokens,
    contents_text,
    place_text,
    state_text,
    use_text,
    vectors_text,
)

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


NONE, OTHER_FILE = "", "…"
LABELS = {FileKind.EMBEDDING: mark("Embedding &model"), FileKind.RERANKER: mark("Reran&ker")}
NO_MODEL = {FileKind.EMBEDDING: mark("None, words only"), FileKind.RERANKER: mark("None")}
TIPS = {
    FileKind.EMBEDDING: mark("Also finds passages that say the same in other words"),
    FileKind.RERANKER: mark("Sorts the passages found by how well they answer the message. Slower"),
}
TITLES = {
    FileKind.EMBEDDING: mark("Choose an embedding model"),
    FileKind.RERANKER: mark("Choose a reranker"),
}
COMBO_WIDTH = 200


class SearchChoice(QWidget):
    def __init__(self, vectors: ShelfVectors, parent: QWidget) -> None:
        super().__init__(parent)
        self._vectors = vectors
        self.combos = {kind: FlatCombo(self) for kind in LABELS}
        self.trouble = PlainLabel(parent=self, tone="danger", wraps=True)
        self.trouble.hide()
        parts: list[QWidget] = []
        for kind, combo in self.combos.items():
            label = PlainLabel(tr(LABELS[kind]), self, "muted")
            label.setBuddy(combo)
            combo.setFixedWidth(COMBO_WIDTH)
            combo.setToolTip(tr(TIPS[kind]))
            combo.setAccessibleName(tr(LABELS[kind]).replace("&", ""))
            combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            combo.activated.connect(partial(self._on_activated, kind))
            parts += [label, combo]
        vbox(hbox(*parts, STRETCH), self.trouble, on=self)
        vectors.changed.connect(self.apply)
        vectors.refused.connect(self._on_refused)
        self.apply()

    @Slot()
    def apply(self) -> None:
        for kind, combo in self.combos.items():
            self._fill(kind, combo)

    def _fill(self, kind: FileKind, combo: FlatCombo) -> None:
        chosen = self._vectors.chosen(kind)
        entries = {NONE: tr(NO_MODEL[kind])}
        entries |= {str(one.path): one_line(one.name) for one in self._vectors.models(kind)}
        if chosen:
            entries.setdefault(str(chosen), one_line(chosen.name))
        entries[OTHER_FILE] = tr("Choose a file…")
        shown = {combo.itemData(row): combo.itemText(row) for row in range(combo.count())}
        if shown != entries:
            combo.clear()
            for value, name in entries.items():
                combo.addItem(name, value)
        combo.setCurrentIndex(combo.findData(str(chosen) if chosen else NONE))

    @Slot(int)
    def _on_activated(self, kind: FileKind, row: int) -> None:
        self.trouble.hide()
        value = self.combos[kind].itemData(row)
        if value == OTHER_FILE:
            self._fill(kind, self.combos[kind])
            self._ask_for_file(kind)
        else:
            self._vectors.choose(kind, Path(value) if value else None)

    def _ask_for_file(self, kind: FileKind) -> None:
        choose = partial(self._vectors.choose, kind)
        choose_file(self, tr(TITLES[kind]), choose, tr("GGUF models (*.gguf)"))

    @Slot(object)
    def _on_refused(self, message: str) -> None:
        self.trouble.say(tr_said(message))


SIZE, MIN_SIZE, LIST_WIDTH = QSize(900, 600), QSize(620, 420), 220
EMPTY = mark(
    "A shelf is a set of files for a chat's model. If they fit its context, it reads all of them "
    "before the chat; otherwise they are searched for each message."
)


class ShelvesWindow(QDialog):
    file_opened = Signal(object, object)  # Shelf, ShelfFile
    use_requested = Signal(object)  # the Shelf that the current chat is to have

    def __init__(
        self,
        shelves: ShelfService,
        reading_of: Callable[[str], Reading],
        room: Callable[[], int],
        kept_bytes: Callable[[Shelf], int],
        is_kept: Callable[[], bool],
        vectors: ShelfVectors,
        shelf_of_chat: Callable[[], str | None],
        parent: QWidget,
    ) -> None:
        """`room` is that of the open model, in tokens; `is_kept` whether cells are kept between starts.

        `shelf_of_chat` is the id of the current chat's, "" without one, None where it can have none.
        """
        super().__init__(parent)
        self._shelves = shelves
        self._reading_of, self._room = reading_of, room
        self._kept_bytes, self._is_kept = kept_bytes, is_kept
        self._vectors = vectors
        self._shelf_of_chat = shelf_of_chat
        self.list = QListWidget(self)
        self.new_button = PlainButton(tr("&New shelf"), self)
        self.title = ElidedLabel(parent=self)
        self.use_button = dialog_button(tr("&Use in this chat"), self._use, self)
        self.rename_button = dialog_button(tr("&Rename"), self._rename, self)
        self.add_button = dialog_button(tr("&Add files…"), self._add_files, self)
        self.remove_file_button = dialog_button(tr("Remove &file"), self._remove_file, self)
        self.remove_button = dialog_button(tr("R&emove shelf"), self._remove, self)
        self.place = ElidedLabel(parent=self, tone="muted")
        self.contents = PlainLabel(parent=self, tone="muted", wraps=True)
        self.use = PlainLabel(parent=self, wraps=True)
        self.table = FilesTable(self)
        self.search = SearchChoice(vectors, self)
        self.trouble = PlainLabel(parent=self, tone="danger", wraps=True)
        self.undo = UndoToast(self)
        self._dress()
        self._lay_out()
        self._connect()
        self._show_list()

    @property
    def chosen(self) -> ShelfState | None:
        rows = self.list.selectedItems()
        return self._shelves.state(rows[0].data(Qt.ItemDataRole.UserRole)) if rows else None

    def show_shelf(self, shelf_id: str) -> None:
        for row in range(self.list.count()):
            if self.list.item(row).data(Qt.ItemDataRole.UserRole) == shelf_id:
                self.list.setCurrentRow(row)

    def come_up(self) -> None:
        come_up(self)

    # What is shown

    @Slot()
    def apply(self) -> None:
        """Something has changed."""
        if self.isVisible():
            self._show_list()

    def _show_list(self) -> None:
        names = [(state.shelf.id, one_line(state.shelf.name)) for state in self._shelves.states]
        shown = [self.list.item(row) for row in range(self.list.count())]
        if names != [(item.data(Qt.ItemDataRole.UserRole), item.text()) for item in shown]:
            chosen, row = self.chosen, self.list.currentRow()
            self.list.clear()
            for shelf_id, name in names:
                QListWidgetItem(name, self.list).setData(Qt.ItemDataRole.UserRole, shelf_id)
            self.list.setCurrentRow(min(max(row, 0), len(names) - 1))
            if chosen:
                self.show_shelf(chosen.shelf.id)
        self._show_shelf()

    @Slot()
    def _show_shelf(self) -> None:
        state = self.chosen
        self._pages.setCurrentIndex(0 if state else 1)
        self.table.rows.apply(state)
        if state is None:
            return
        shelf, room = state.shelf, self._room()
        is_whole = self._shelves.is_whole(shelf.id, room)
        self.title.setText(one_line(shelf.name))
        self.place.setText(place_text(state))
        self.contents.setText(contents_text(state, self._kept_bytes(shelf)))
        reading = self._reading_of(shelf.chat_id)
        use = use_text(state, reading, room, is_whole=is_whole, is_kept=self._is_kept())
        found = vectors_text(self._vectors.progress(shelf.id), self._vectors.trouble)
        self.use.setText(sentences(use, "" if is_whole else found))
        self._show_buttons()

    @Slot()
    def _show_buttons(self) -> None:
        state = self.chosen
        is_list = state is not None and not state.shelf.folder
        self.add_button.setVisible(is_list)
        self.remove_file_button.setVisible(is_list)
        self.remove_file_button.setEnabled(self.table.chosen is not None)
        used = self._shelf_of_chat()
        self.use_button.setVisible(state is not None and used is not None and used != state.shelf.id)

    # What is done

    def new_from_folder(self) -> None:
        choose_folder(self, tr("A folder for a shelf"), self.add_folder)

    def new_from_files(self) -> None:
        choose_files(self, tr("Files for a shelf"), self.add_files)

    def add_folder(self, folder: Path) -> None:
        path = folder.absolute()
        self._show_new(self._shelves.add(path.name or str(path), folder=str(path)))

    def add_files(self, files: Sequence[Path]) -> None:
        if files:
            name = files[0].parent.name or tr("Files")
            self._show_new(self._shelves.add(name, files=list(map(str, files))))
            self._rename()

    def _use(self) -> None:
        if state := self.chosen:
            self.use_requested.emit(state.shelf)

    def _show_new(self, shelf: Shelf) -> None:
        self._show_list()
        self.show_shelf(shelf.id)

    def _add_files(self) -> None:
        if state := self.chosen:
            choose_files(self, tr("Add files"), partial(self._put_files, state.shelf))

    def _put_files(self, shelf: Shelf, files: Sequence[Path]) -> None:
        if state := self._shelves.state(shelf.id):
            self._shelves.set_files(state.shelf, (*state.shelf.files, *map(str, files)))

    def _remove_file(self) -> None:
        state, file = self.chosen, self.table.chosen
        if state and file and not state.shelf.folder:
            self._shelves.set_files(state.shelf, (one for one in state.shelf.files if one != file.path))

    def _rename(self) -> None:
        if state := self.chosen:
            edit = TitleEdit(state.shelf.name, self.title)
            edit.setGeometry(self.title.rect())
            edit.committed.connect(partial(self._shelves.rename, state.shelf))
            edit.show()
            edit.setFocus()

    def _remove(self) -> None:
        if state := self.chosen:
            self._shelves.remove(state.shelf)
            told = tr("Removed the shelf “{name}”. Its files stay.", name=one_line(state.shelf.name))
            self.undo.offer(told, partial(self._shelves.put_back, state.shelf))
            self._show_list()

    @Slot(object)
    def _on_failed(self, message: str) -> None:
        self.trouble.say(tr_said(message))

    @Slot(object)
    def _on_opened(self, file: ShelfFile) -> None:
        if (state := self.chosen) and file.num_chars:
            self.file_opened.emit(state.shelf, file)

    def _dress(self) -> None:
        self.setWindowTitle(tr("Shelves"))
        self.setMinimumSize(MIN_SIZE)
        resize_to_fit(self, SIZE)
        self.list.setObjectName("nav")
        self.list.setAccessibleName(tr("Shelves"))
        self.list.setFixedWidth(LIST_WIDTH)
        menu = Menu(self)
        menu.addAction(tr("From a &folder…"), self.new_from_folder)
        menu.addAction(tr("From &files…"), self.new_from_files)
        self.new_button.setMenu(menu)
        self.use_button.setProperty("kind", "first")
        self.title.setFont(heading_font(self.title.font(), 2))
        self.title.setMinimumHeight(30)
        self.trouble.hide()

    def _lay_out(self) -> None:
        page, nothing = QWidget(self), QWidget(self)
        words = PlainLabel(tr(EMPTY), nothing, "muted", wraps=True)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        words.setFixedWidth(340)
        folder = dialog_button(tr("New shelf from a f&older…"), self.new_from_folder, nothing)
        vbox(
            STRETCH, hbox(STRETCH, words, STRETCH), 8, (folder, 0, CENTRE), STRETCH, on=nothing, margins=None
        )
        vbox(
            hbox((self.title, 1), self.use_button, self.rename_button, self.remove_button),
            self.place,
            self.contents,
            self.use,
            (self.table, 1),
            hbox(self.add_button, self.remove_file_button, STRETCH),
            on=page,
        )
        self._pages = QStackedWidget(self)
        self._pages.addWidget(page)
        self._pages.addWidget(nothing)
        left = vbox((self.list, 1), self.new_button)
        whole = hbox(left, (self._pages, 1), spacing=16)
        vbox((whole, 1), self.search, self.trouble, on=self, margins=16)

    def _connect(self) -> None:
        self._shelves.changed.connect(self.apply)
        self._vectors.changed.connect(self.apply)
        self._shelves.failed.connect(self._on_failed)
        self.list.currentRowChanged.connect(self._show_shelf)
        self.table.selectionModel().selectionChanged.connect(self._show_buttons)
        self.table.opened.connect(self._on_opened)
