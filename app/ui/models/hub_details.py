"""One repository of the hub: its facts, its models with size and fit, and a download button.

Shows values and emits requests. GUI thread.
"""

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from app.look.buttons import dialog_button
from app.look.figures import count, data_size, num_params
from app.look.fonts import tabular
from app.look.icons import icon
from app.look.layouts import TOP, hbox, vbox
from app.look.plain_text import PlainLabel, as_tooltip, heading, one_line, short_path
from app.look.table import LEFT, RIGHT, cell, dress_table
from app.look.words import mark, tr, tr_said
from app.models.hub import HubModel, Repo, RepoContents
from app.models.recommended import best_of
from app.services.model_fits import Fitting
from app.ui.models.hub_rows import BETWEEN, FITS, HubRow, fitting_of, popularity_text
from app.ui.models.library_table import FIT_COLOURS, FIT_ICONS, fit_text

ROW_HEIGHT = 28
ICON = QSize(16, 16)
_HEADS = (mark("Quantisation"), mark("Size"), mark("Memory"))
CHOOSE = mark("Choose a model to see its files.")
LOADING = mark("Fetching the file list…")
NOTHING = mark("No loadable GGUF with a checksum here.")


class HubDetails(QWidget):
    download_requested = Signal(object)  # HubModel
    page_requested = Signal(str)  # the repository
    folder_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: HubRow | None = None
        self._contents: RepoContents | None = None
        self._free_bytes = self._beside_bytes = 0
        self.title = heading("", self, wraps=True)
        self.facts = PlainLabel(parent=self, tone="muted", wraps=True)
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.page_button = dialog_button(
            tr("Open its &web page"), lambda: self.page_requested.emit(self.repo_id), self
        )
        self.table = self._table()
        self.download_button = dialog_button(tr("&Download"), self._ask_for_download, self)
        self.download_button.setProperty("kind", "first")  # not the default one: Enter searches
        self.download_button.setEnabled(False)
        self.folder = PlainLabel(parent=self, tone="muted")
        self.folder_button = dialog_button(tr("C&hange…"), self.folder_requested.emit, self)
        for button in (self.page_button, self.folder_button):
            button.setProperty("kind", "quiet")
        self._rest = QWidget(self)  # in place of the files
        self._lay_out()
        self.table.itemSelectionChanged.connect(self._show_button)
        self.table.cellActivated.connect(lambda _row, _column: self._ask_for_download())
        self.begin(None)

    @property
    def chosen(self) -> HubModel | None:
        rows = self.table.selectionModel().selectedRows()
        return self._contents.models[rows[0].row()] if rows and self._contents else None

    @property
    def repo_id(self) -> str:
        return self._row.repo_id if self._row else ""

    def begin(self, row: HubRow | None) -> None:
        """Its files are being fetched. None: no model is selected."""
        self._row, self._contents = row, None
        self.table.setRowCount(0)
        self.title.setText(row.title if row else "")
        self.facts.setText(one_line(row.repo_id) if row else "")
        self.page_button.setVisible(row is not None)
        self._show_files(False)
        self.show_note(tr(LOADING) if row else tr(CHOOSE))

    def apply(self, contents: RepoContents, free_bytes: int, beside_bytes: int = 0) -> None:
        """Selects the best one, unless one is selected. `beside_bytes`: what each takes beside weights."""
        before = self.chosen
        self._contents, self._free_bytes, self._beside_bytes = contents, free_bytes, beside_bytes
        self.facts.setText(facts_text(contents.repo))
        self.table.setRowCount(len(contents.models))
        names = names_of(contents.models)
        for number, (model, name) in enumerate(zip(contents.models, names, strict=True)):
            fitting = None if model.problem else fitting_of(model.size_bytes, free_bytes, beside_bytes)
            for column, item in enumerate(_items(model, name, fitting)):
                self.table.setItem(number, column, item)
        wanted = self._row.quantisation if self._row else ""
        best = before or best_of(contents.models, free_bytes, wanted, beside_bytes)
        if best:
            self.table.selectRow(contents.models.index(best))
            self.table.scrollTo(self.table.currentIndex())
        self._show_files(bool(contents.models))
        if contents.models:
            self._show_button()
        else:
            self.show_note(tr(NOTHING))

    def _show_files(self, has_files: bool) -> None:
        for part in (self.table, self.download_button, self.folder, self.folder_button):
            part.setVisible(has_files)
        self._rest.setVisible(not has_files)
        for label in (self.title, self.facts):
            label.setVisible(bool(label.text()))

    def show_note(self, text: str, tone: str = "muted") -> None:
        self.note.say(text)
        self.note.set_tone(tone)

    def show_folder(self, folder: Path) -> None:
        text = tr("to {folder}", folder=short_path(folder))
        self.folder.setText(self.folder.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, 240))
        self.folder.setToolTip(as_tooltip(str(folder)))

    @Slot()
    def _show_button(self) -> None:
        chosen = self.chosen
        self.download_button.setEnabled(chosen is not None and not chosen.problem)
        size = data_size(chosen.size_bytes) if chosen else ""
        self.download_button.setText(tr("&Download {size}", size=size) if chosen else tr("&Download"))
        if chosen:
            self.show_note(self._chosen_note(chosen))

    def _chosen_note(self, chosen: HubModel) -> str:
        if chosen.problem:
            return tr("It cannot be loaded: {reason}.", reason=tr_said(chosen.problem))
        fitting = fitting_of(chosen.size_bytes, self._free_bytes, self._beside_bytes)
        return fit_text(fitting) if fitting else ""

    def _ask_for_download(self) -> None:
        if self.chosen and not self.chosen.problem:
            self.download_requested.emit(self.chosen)

    def _table(self) -> QTableWidget:
        table = QTableWidget(0, len(_HEADS), self)
        table.setHorizontalHeaderLabels([tr(head) for head in _HEADS])
        dress_table(table, tr("Files"), ROW_HEIGHT)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # for names with a common prefix
        table.setIconSize(ICON)
        table.setFont(tabular(table.font()))
        header = table.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in (1, 2):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        role = Qt.ItemDataRole.TextAlignmentRole
        for column, alignment in enumerate((LEFT, RIGHT, LEFT)):
            table.model().setHeaderData(column, Qt.Orientation.Horizontal, alignment, role)
        return table

    def _lay_out(self) -> None:
        vbox(
            hbox((self.title, 1), (self.page_button, 0, TOP)),
            self.facts,
            (self.table, 1),
            self.note,
            self.download_button,
            hbox((self.folder, 1), self.folder_button, spacing=4),
            (self._rest, 1),
            on=self,
        )


def facts_text(repo: Repo) -> str:
    """Owner, facts and number of downloads."""
    facts = []
    if repo.num_params:
        facts.append(tr("{number} parameters", number=num_params(repo.num_params)))
    if repo.n_ctx_train:
        facts.append(tr("context {number}", number=count(repo.n_ctx_train)))
    if repo.licence:
        facts.append(tr("licence {name}", name=repo.licence))
    lines = [one_line(repo.id), BETWEEN.join(facts), popularity_text(repo)]
    if repo.is_gated:
        lines.append(tr("Accept its terms on its web page first."))
    return "\n".join(line for line in lines if line)


def names_of(models: tuple[HubModel, ...]) -> list[str]:
    """What distinguishes them: the quantisation, or else the name."""
    quantisations = [model.quantisation for model in models]
    is_enough = all(quantisations) and len(set(quantisations)) == len(quantisations)
    return quantisations if is_enough else [one_line(model.name) for model in models]


def _items(model: HubModel, name: str, fitting: Fitting | None) -> tuple[QTableWidgetItem, ...]:
    told = tr(FITS[fitting.fit]) if fitting else ""
    memory = cell(tr("incomplete") if model.problem else told)
    if fitting:
        memory.setIcon(icon(FIT_ICONS[fitting.fit], FIT_COLOURS[fitting.fit]))
        memory.setToolTip(as_tooltip(fit_text(fitting)))
    first = cell(name)
    first.setToolTip(as_tooltip("\n".join(file.path for file in model.files[:20])))
    return first, cell(data_size(model.size_bytes), RIGHT), memory
