"""The models on this machine: a searchable, sortable table, and details of the selected one. GUI thread.

Shows the model library with estimates, and forwards the user's requests.
"""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QStackedWidget, QWidget

from app.look.buttons import PlainButton, dialog_button
from app.look.figures import count, data_size
from app.look.file_dialog import choose_folder
from app.look.layouts import CENTRE, STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, as_tab_text, one_line, search_field, short_path
from app.look.popups import FlatCombo, Menu
from app.look.words import mark, tr, tr_n, tr_said
from app.models.folders import Folder
from app.models.model_file import FileKind, ModelFile, ModelSource
from app.services.model_fits import ModelFits
from app.services.model_library import ModelLibrary, Trashed
from app.services.preferences import Preferences
from app.ui.base.help_commands import open_folder, reveal
from app.ui.base.notices import UndoToast
from app.ui.models.library_details import LibraryDetails
from app.ui.models.library_table import LibraryTable, ModelRow


class FoldersMenu(Menu):
    """Filled when it opens."""

    def __init__(self, library: ModelLibrary, preferences: Preferences, parent: QWidget) -> None:
        super().__init__(parent)
        self._library = library
        self._preferences = preferences
        self.aboutToShow.connect(self._fill)

    def add_folder(self) -> None:
        choose_folder(self.parentWidget(), tr("Add a folder with models"), self._library.add_folder)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        for folder in self._library.folders:
            self.addMenu(self._menu_of(folder))
        self.addSeparator()
        self.addAction(tr("&Add folder…"), self.add_folder)
        self.addSeparator()
        others = self.addAction(tr("Show models of &other programs"))
        others.setCheckable(True)
        others.setChecked(self._preferences.settings.uses_other_programs_models)
        others.toggled.connect(partial(self._preferences.set, "uses_other_programs_models"))
        self.addAction(tr("&Rescan"), self._library.refresh)

    def _menu_of(self, folder: Folder) -> QMenu:
        is_downloads = folder.source is ModelSource.DOWNLOADS
        name = as_tab_text(short_path(folder.path))
        menu = Menu(tr("Downloads: {folder}", folder=name) if is_downloads else name, self)
        menu.addAction(tr("Open in the file manager"), partial(open_folder, folder.path))
        if is_downloads:
            menu.addAction(tr("Choose another folder…"), self._choose_download_folder)
            reset = menu.addAction(
                tr("Use the default folder"), partial(self._preferences.reset, "download_folder")
            )
            reset.setEnabled(self._preferences.settings.download_folder is not None)
        else:
            menu.addAction(tr("Remove from the list"), partial(self._library.remove_folder, folder.path))
        return menu

    def _choose_download_folder(self) -> None:
        set_folder = partial(self._preferences.set, "download_folder")
        choose_folder(self.parentWidget(), tr("Folder for downloads"), set_folder)


DETAILS_WIDTH, DETAILS_HEIGHT, WIDE = 290, 220, 900

CHAT = frozenset({FileKind.CHAT})
_SHOWN = (
    (mark("Chat models"), CHAT),
    (mark("Other files"), frozenset(FileKind) - CHAT),
    (mark("All files"), frozenset(FileKind)),
)
LOOKING = mark("Looking for models…")
NO_MODELS = mark("No models yet. Add the folder with your models.")
NOTHING_FOUND = mark("No model matches.")


class LibraryPage(QWidget):
    open_requested = Signal(object)  # Path
    settings_requested = Signal(object)  # Path

    def __init__(
        self, library: ModelLibrary, fits: ModelFits, preferences: Preferences, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._fits = fits
        self._shown_models: tuple[tuple[ModelFile, ...], frozenset[Path]] | None = None
        self.search = search_field(tr("Search models"), self)
        self.shown = FlatCombo(self)
        self.folders_button = PlainButton(tr("&Folders"), self)
        self.folders_menu = FoldersMenu(library, preferences, self)
        self.table = LibraryTable(self)
        self.rows, self.found = self.table.rows, self.table.found
        self.empty = PlainLabel(parent=self, tone="muted", wraps=True)
        self.add_button = dialog_button(tr("&Add folder…"), self.folders_menu.add_folder, self)
        self.clear_button = dialog_button(tr("&Clear search"), self._clear, self)
        self.details = LibraryDetails(self)
        self.note = PlainLabel(parent=self, tone="muted")
        self.trouble = PlainLabel(parent=self, tone="danger", wraps=True)
        self.undo = UndoToast(self)
        self._dress()
        self._lay_out()
        self._connect()
        self._search()
        self._on_library_changed()

    @property
    def chosen(self) -> ModelFile | None:
        row = self.table.chosen
        return row.model if row else None

    def choose(self, path: Path) -> None:
        """Whatever is searched for now."""
        self.search.clear()
        model = self._library.model_at(path)
        if model and model.kind not in self._kinds():
            self.shown.setCurrentIndex(len(_SHOWN) - 1)
        self.table.choose(path)

    @Slot()
    def _on_library_changed(self) -> None:
        """While it scans, only the progress."""
        now = (self._library.models, self._library.in_use)
        if now != self._shown_models:
            self._shown_models = now
            self._show_models()
        self._show_found()

    def _show_models(self) -> None:
        """The selected one stays selected; if it is gone, the next one is."""
        chosen, number = self.chosen, self.table.currentIndex().row()
        self._show_rows()
        if chosen:
            self.table.choose(chosen.path)
        if not self.table.chosen:
            self.table.choose_near(number)
        if not self.table.chosen:
            self.table.choose_first()
        self._show_details()
        self._ask_again()

    @Slot()
    def _ask_again(self) -> None:
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
        if is_in_use:
            return ModelRow(model, is_in_use=True, taken=self._fits.taken(model))
        return ModelRow(model, self._fits.fitting(model))

    @Slot()
    def _search(self) -> None:
        self.found.search(self.search.text(), self._kinds())
        if not self.table.chosen:
            self.table.choose_first()
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
        self.note.setText(self._summary())

    def _summary(self) -> str:
        if (progress := self._library.progress) and progress[1]:
            done, of_how_many = progress
            return tr("Scanning files: {done} of {number}", done=count(done), number=count(of_how_many))
        found = [row.model for row in self.table.found_rows]
        size = data_size(sum(model.size_bytes for model in found))
        return tr_n("{n} model, {size}", "{n} models, {size}", len(found), size=size) if found else ""

    @Slot()
    def _show_details(self) -> None:
        row = self.table.chosen
        self.details.apply(row, self._library.why_not_trash(row.model) if row else "")

    def _kinds(self) -> frozenset[FileKind]:
        kinds: frozenset[FileKind] = _SHOWN[self.shown.currentIndex()][1]
        return kinds

    # What is done with a model

    @Slot()
    def _open(self) -> None:
        row = self.table.chosen
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
        self.trouble.say(tr_said(message))

    @Slot(QPoint)
    def _show_menu(self, place: QPoint) -> None:
        row = self.table.chosen
        if not row:
            return
        menu = Menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for button in self.details.buttons:
            if not button.isHidden():
                action = menu.addAction(button.text(), button.click)
                action.setEnabled(button.isEnabled())
        menu.popup(self.table.viewport().mapToGlobal(place))

    def _dress(self) -> None:
        self.shown.setAccessibleName(tr("Files shown"))
        for label, _ in _SHOWN:
            self.shown.addItem(tr(label))
        self.folders_button.setMenu(self.folders_menu)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.trouble.hide()

    def _lay_out(self) -> None:
        top = hbox((self.search, 1), self.shown, self.folders_button)
        nothing = QWidget(self)
        buttons = ((self.add_button, 0, CENTRE), (self.clear_button, 0, CENTRE))
        vbox(STRETCH, self.empty, 8, *buttons, STRETCH, on=nothing, margins=None, spacing=None)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.table)
        self._stack.addWidget(nothing)
        self._middle = hbox((self._stack, 1), self.details, spacing=16)
        vbox(top, (self._middle, 1), self.trouble, self.note, on=self, margins=(16, 12, 16, 12), spacing=12)

    def _connect(self) -> None:
        self._library.changed.connect(self._on_library_changed)
        self._library.trashed.connect(self._on_trashed)
        self._library.failed.connect(self._on_failed)
        self._fits.changed.connect(self._ask_again)
        self._fits.estimated.connect(self._on_estimated)
        self.search.textChanged.connect(self._search)
        self.shown.currentIndexChanged.connect(self._search)
        self.table.activated.connect(self._open)
        self.table.selectionModel().selectionChanged.connect(self._show_details)
        self.table.customContextMenuRequested.connect(self._show_menu)
        self.details.open_button.clicked.connect(self._open)
        self.details.settings_button.clicked.connect(self._ask_for_settings)
        self.details.reveal_button.clicked.connect(self._reveal)
        self.details.trash_button.clicked.connect(self._trash)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.search.setFocus)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.table, self._trash).setContext(
            Qt.ShortcutContext.WidgetShortcut
        )

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
        self.table.fit_columns(event.size().width() - (DETAILS_WIDTH + 48 if is_wide else 32))
