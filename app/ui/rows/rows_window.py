"""The rows window: a table, one prompt over its rows, and the answers. Not modal. GUI thread."""

import sqlite3
from functools import partial
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QModelIndex, QSize, Qt, Slot
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QLineEdit, QPushButton, QStackedWidget, QWidget

from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.look.buttons import PlainButton, dialog_button, quiet_button
from app.look.figures import count, percent, rows, time_left_text
from app.look.file_dialog import SAVED, choose_file, choose_folder, file_dialog
from app.look.layouts import CENTRE, STRETCH, FlowLayout, drop, hbox, vbox
from app.look.plain_text import ElidedLabel, PlainLabel, as_tab_text, as_tooltip, one_line, short_path
from app.look.popups import FlatCombo, Menu, come_up, resize_to_fit
from app.look.words import mark, sentences, tr, tr_said
from app.protocol.errors import InvalidRequestError
from app.protocol.request import Role
from app.rows.answer_form import AnswerForm, Kind
from app.rows.job import JobSettings
from app.services.rows import RowJobs, sentence
from app.ui.base.drop_overlay import DropOverlay
from app.ui.base.dropped import dropped_files
from app.ui.base.long_text_box import LongTextBox
from app.ui.base.notices import UndoToast
from app.ui.base.setting import Setting
from app.ui.base.setting_controls import NumberField
from app.ui.rows.rows_table import RowsTable

SIZE, MIN_SIZE = QSize(980, 680), QSize(760, 520)
NUM_PREVIEWED, MAX_VOTES, NUM_COLUMNS = 3, 9, 12
PROMPT_HEIGHT, SCHEMA_HEIGHT, VOTES_WIDTH, MAX_TITLE = 84, 72, 64, 60
PROMPT = Setting("prompt", mark("Prompt"), "", mark("What to ask about each row, its values at the end"))
SCHEMA = Setting("schema", mark("JSON schema"), "", mark("A JSON schema. Each property becomes a column"))
KINDS = {
    Kind.TEXT: mark("Text"),
    Kind.CHOICE: mark("One of some words"),
    Kind.NUMBER: mark("Number"),
    Kind.SCHEMA: mark("JSON by a schema"),
}
DRAFT = ("", "rows.prompt")
EMPTY = mark(
    "Ask one prompt about each row of a table: CSV, TSV, XLSX, JSONL, or a folder of files. "
    "What all prompts begin with is computed once."
)
FILTERS = (mark("Tables (*.csv *.tsv *.xlsx *.xlsm *.jsonl *.ndjson *.json *.txt)"), mark("All files (*)"))
EXPORTS = ("CSV (*.csv)", "XLSX (*.xlsx)", "JSONL (*.jsonl)", "TSV (*.tsv)")


def progress_text(jobs: RowJobs) -> str:
    num_rows, num_done, num_failed = jobs.counts
    if jobs.is_reading:
        return tr("Reading the table: {rows}", rows=rows(num_rows))
    if jobs.settings is None:
        return tr("The first rows of the table")
    parts = [tr("{done} of {rows} answered", done=count(num_done), rows=rows(num_rows))]
    if num_failed:
        parts.append(tr("{number} failed", number=count(num_failed)))
    if jobs.is_running and (rate := jobs.rows_per_s):
        parts.append(tr("{number} rows a minute", number=count(round(60 * rate))))
        if not jobs.limit:
            parts.append(time_left_text((num_rows - jobs.num_ended) / rate))
    return "  ·  ".join(parts)


def sharing_text(jobs: RowJobs) -> str:
    if not (sharing := jobs.sharing):
        return ""
    now = tr("{share} of the first prompt is shared by all rows.", share=percent(sharing.now, 1.0))
    if not sharing.is_better:
        return now
    better = tr("With its values at the end it would be {share}.", share=percent(sharing.could_be, 1.0))
    return sentences(now, better)


class RowsWindow(QDialog):
    def __init__(self, jobs: RowJobs, workspace: Workspace, engine: Engines, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._jobs, self._workspace, self._engine = jobs, workspace, engine
        self._columns: tuple[str, ...] = ()
        button = partial(dialog_button, parent=self)
        self.file = ElidedLabel(parent=self)
        self.choose, self.earlier = (
            PlainButton(tr("Choose a &table"), self),
            button(tr("Ear&lier"), lambda: spawn(self._offer_earlier())),
        )
        self.prompt, self.schema = LongTextBox(PROMPT, self), LongTextBox(SCHEMA, self)
        self.kind, self.choices = FlatCombo(self), QLineEdit(self)
        self.votes = NumberField(tr("Votes"), 1, MAX_VOTES, 1, self)
        self.preview = button(tr("Pre&view"), partial(self._begin, NUM_PREVIEWED))
        self.run = button(tr("&Start"), self._run)
        self.again = button(tr("As&k again"), partial(self._begin, again=True))
        self.export = button(tr("E&xport…"), self._export)
        self.progress, self.note = ElidedLabel(parent=self), PlainLabel(parent=self, tone="muted", wraps=True)
        self.reorder = quiet_button(tr("Use that or&der"), self, "bar")
        self.trouble = PlainLabel(parent=self, tone="danger", wraps=True)
        self.table = RowsTable(jobs, self)
        self.overlay, self.undo = DropOverlay(self), UndoToast(self)
        self._dress()
        self._lay_out()
        self._connect()
        self.prompt.show_value(workspace.drafts.text(DRAFT))
        self.apply()

    def come_up(self) -> None:
        """With what was asked last, which may have been cut off. A prompt that was typed since stays."""
        come_up(self)
        if not self._jobs.table:
            self.first.setFocus()
            spawn(self._open_last())

    # What is shown

    @Slot()
    def apply(self) -> None:
        """Something has changed."""
        jobs = self._jobs
        self._pages.setCurrentIndex(1 if jobs.table else 0)
        self.choose.setVisible(bool(jobs.table))  # else the page has a button for it
        self.file.setText(one_line(short_path(jobs.table)) if jobs.table else "")
        if jobs.columns != self._columns:
            self._columns = jobs.columns
            self._show_columns()
        self.table.apply()
        self.progress.setText(progress_text(jobs))
        self.trouble.say(tr_said(jobs.trouble))
        self._show_buttons()

    @Slot()
    def _show_buttons(self) -> None:
        """They depend on the fields, too: what is asked anew is another job."""
        jobs, is_busy, kind = self._jobs, self._jobs.is_busy, self._kind
        is_job, is_ours = jobs.settings is not None, jobs.settings == self._wanted()
        num_left, focused = jobs.counts.num_rows - jobs.num_ended, self.focusWidget()
        self.run.setText(
            tr("&Pause") if is_busy else tr("&Go on") if is_ours and jobs.num_ended else tr("&Start")
        )
        self.run.setEnabled(is_busy or (bool(jobs.table) and not (is_ours and not num_left)))
        self.preview.setEnabled(bool(jobs.table) and not is_busy)
        self.again.setVisible(bool(is_job and jobs.counts.num_failed))
        self.again.setEnabled(is_ours and not is_busy)
        self.export.setEnabled(is_job)
        for widget in (self.choose, self.earlier, self.kind, self.choices, self.votes, self._inserts):
            widget.setEnabled(not is_busy)
        for text in (self.prompt, self.schema):
            text.setReadOnly(is_busy)
        self.choices.setVisible(kind is Kind.CHOICE)
        self.schema.setVisible(kind is Kind.SCHEMA)
        other = tr("The answers below are to an earlier prompt, or by another model. They are kept.")
        self.note.say(sharing_text(jobs) if is_ours else other if is_job else "")
        self.reorder.setVisible(bool(is_ours and not is_busy and jobs.sharing and jobs.sharing.is_better))
        if focused in (self.run, self.preview, self.again) and not focused.isEnabled():
            (self.run if self.run.isEnabled() else self.table).setFocus()

    def _show_columns(self) -> None:
        drop(*self._inserts.findChildren(QPushButton))
        flow = self._inserts.layout()
        assert flow is not None
        while flow.takeAt(0):
            pass
        before = self.earlier
        for column in self._columns[:NUM_COLUMNS]:
            button = quiet_button(f"{{{as_tab_text(column)[:MAX_TITLE]}}}", self._inserts, "bar")
            button.setToolTip(as_tooltip(tr("Insert {column}", column=f"{{{column}}}")))
            button.clicked.connect(partial(self._insert, column))
            flow.addWidget(button)
            button.show()
            QWidget.setTabOrder(before, button)
            before = button

    def _open(self, settings: JobSettings) -> None:
        before = self.prompt.value
        if before.strip() and before != settings.prompt:
            self.undo.offer(tr("Replaced the prompt."), partial(self._put_prompt, before))
        self._put_prompt(settings.prompt)
        self._fill(settings)

    def _fill(self, settings: JobSettings) -> None:
        """The fields but for the prompt, and the answers."""
        form = settings.form
        self.schema.show_value(form.schema)
        self.choices.setText(", ".join(form.choices))
        self.kind.setCurrentIndex(self.kind.findData(form.kind))
        self.votes.setValue(settings.num_votes)
        self._jobs.open(settings)

    @property
    def _kind(self) -> Kind:
        return Kind(self.kind.currentData())  # Qt makes it a plain text

    def _settings(self) -> JobSettings:
        """Raises InvalidRequestError."""
        kind = self._kind
        choices = tuple(one.strip() for one in self.choices.text().split(",")) if kind is Kind.CHOICE else ()
        form = AnswerForm(kind, choices, self.schema.value if kind is Kind.SCHEMA else "")
        model, source = self._engine.front_address, str(self._jobs.table)
        return JobSettings(source, self.prompt.value, form, self.votes.value(), model)

    def _wanted(self) -> JobSettings | None:
        try:
            return self._settings()
        except InvalidRequestError:
            return None

    # What is done

    def look_at(self, table: Path) -> None:
        self._jobs.look_at(table)
        self.prompt.setFocus()

    def _run(self) -> None:
        if self._jobs.is_busy:
            self._jobs.pause()
        else:
            self._begin()

    def _begin(self, limit: int = 0, *, again: bool = False) -> None:
        try:
            settings = self._settings()
        except InvalidRequestError as error:
            self.trouble.say(tr_said(str(error)))
            return
        self._jobs.start(settings, limit, again=again)

    def _insert(self, column: str) -> None:
        self.prompt.insertPlainText(f"{{{column}}}")
        self.prompt.setFocus()

    def _use_order(self) -> None:
        if sharing := self._jobs.sharing:
            before = self.prompt.value
            self._put_prompt(sharing.other)
            self.undo.offer(tr("Moved the values to the end."), partial(self._put_prompt, before))

    def _put_prompt(self, text: str) -> None:
        self.prompt.show_value(text)
        self._on_edited()

    @Slot()
    def _on_edited(self) -> None:
        self._workspace.drafts.put(DRAFT, self.prompt.value)
        self._show_buttons()

    async def _open_last(self) -> None:
        jobs = await self._jobs.earlier()
        if jobs and not self._jobs.is_busy:
            self._put_prompt(self.prompt.value or jobs[0].prompt)
            self._fill(jobs[0])

    async def _offer_earlier(self) -> None:
        menu, jobs = Menu(self.earlier), await self._jobs.earlier()
        shown = self._jobs.settings
        for job in jobs:
            words = one_line(f"{Path(job.source).name}: {job.prompt}")
            words = words if len(words) <= MAX_TITLE else f"{words[:MAX_TITLE]}…"
            action = menu.addAction(as_tab_text(words), partial(self._open, job))
            action.setCheckable(True)
            action.setChecked(job == shown)
        menu.addSeparator()
        delete = menu.addAction(tr("&Delete the answers below"), partial(self._delete, shown))
        delete.setEnabled(shown is not None)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.earlier.mapToGlobal(self.earlier.rect().bottomLeft()))

    def _delete(self, job: JobSettings | None) -> None:
        assert job
        self._jobs.delete(job)
        self.undo.offer(tr("Deleted the answers."), partial(self._jobs.put_back, job))

    def _export(self) -> None:
        dialog = file_dialog(self, tr("Export rows"), SAVED, *EXPORTS)
        dialog.setDefaultSuffix("csv")
        dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(name.partition("*.")[2][:-1]))
        if table := self._jobs.table:
            dialog.setDirectory(str(table.parent))
            dialog.selectFile(tr("{name} answered", name=table.stem))
        dialog.fileSelected.connect(lambda name: spawn(self._write(Path(name))))
        dialog.open()

    async def _write(self, path: Path) -> None:
        try:
            await self._jobs.export(path)
        except (InvalidRequestError, OSError, sqlite3.Error) as error:
            self.trouble.say(tr_said(sentence(error)))
        else:
            self.trouble.say(tr_said(self._jobs.trouble))
            self.note.say(tr("Saved as {path}.", path=str(path)))

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        if self._jobs.settings:
            spawn(self._open_row(index.row()))

    async def _open_row(self, row: int) -> None:
        """As the chat that it is."""
        try:
            prompt, answer = await self._jobs.as_chat(row)
        except (InvalidRequestError, OSError, sqlite3.Error) as error:
            self.trouble.say(tr_said(sentence(error)))
            return
        session = self._workspace.new_chat()
        session.insert(Role.USER, prompt)
        session.insert(Role.ASSISTANT, answer)
        self.close()  # it would stand over the chat

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if len(files := dropped_files(event.mimeData())) == 1 and not self._jobs.is_busy:
            event.acceptProposedAction()
            self.overlay.tell(tr("Read {name}", name=files[0].name))

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self.overlay.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.overlay.hide()
        event.acceptProposedAction()
        self.look_at(dropped_files(event.mimeData())[0])

    # Building

    def _choose_file(self) -> None:
        choose_file(self, tr("A table"), self.look_at, *map(tr, FILTERS))

    def _choose_folder(self) -> None:
        choose_folder(self, tr("A folder, each file of which is a row"), self.look_at)

    def _dress(self) -> None:
        self.setWindowTitle(tr("Rows"))
        self.setMinimumSize(MIN_SIZE)
        self.setAcceptDrops(True)
        resize_to_fit(self, SIZE)
        menu = Menu(self)
        menu.addAction(tr("A &file…"), self._choose_file)
        menu.addAction(tr("A f&older of files…"), self._choose_folder)
        self.choose.setMenu(menu)
        self.run.setProperty("kind", "first")
        self.prompt.setFixedHeight(PROMPT_HEIGHT)
        self.schema.setFixedHeight(SCHEMA_HEIGHT)
        for field, setting in ((self.prompt, PROMPT), (self.schema, SCHEMA)):
            field.setAccessibleName(tr(setting.label))
            field.setAcceptDrops(False)  # files are for the window
        for kind, name in KINDS.items():
            self.kind.addItem(tr(name), kind)
        self.kind.setAccessibleName(tr("Answer"))
        self.kind.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.choices.setPlaceholderText(tr("positive, negative, neutral"))
        self.choices.setAccessibleName(tr("The words, with commas between them"))
        self.votes.setFixedWidth(VOTES_WIDTH)
        self.votes.setToolTip(tr("Ask so many times and take what most answers say, with their share"))
        self.preview.setToolTip(tr("Answer the first {number} rows", number=NUM_PREVIEWED))
        self.again.setToolTip(tr("Ask again about the rows that failed"))

    def _lay_out(self) -> None:
        page, nothing = QWidget(self), QWidget(self)
        words = PlainLabel(tr(EMPTY), nothing, "muted", wraps=True)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        words.setFixedWidth(400)
        self.first = first = dialog_button(tr("Choose a ta&ble…"), self._choose_file, nothing)
        vbox(STRETCH, hbox(STRETCH, words, STRETCH), 8, (first, 0, CENTRE), STRETCH, on=nothing, margins=None)
        self._inserts = QWidget(page)
        FlowLayout(self._inserts, 4)
        answer = PlainLabel(tr("Ans&wer"), page, "muted")
        votes = PlainLabel(tr("V&otes"), page, "muted")
        answer.setBuddy(self.kind)
        votes.setBuddy(self.votes)
        vbox(
            self._inserts,
            self.prompt,
            hbox(answer, self.kind, (self.choices, 1), STRETCH, votes, self.votes),
            self.schema,
            hbox(self.run, self.preview, 8, (self.progress, 1), self.again, self.export),
            hbox((self.note, 1), self.reorder),
            (self.table, 1),
            on=page,
        )
        self._pages = QStackedWidget(self)
        for one in (nothing, page):
            self._pages.addWidget(one)
        fields = (self.prompt, self.kind, self.choices, self.votes, self.schema)
        buttons = (self.run, self.preview, self.again, self.export, self.reorder)
        for one, other in pairwise((self.choose, self.earlier, *fields, *buttons, self.table)):
            QWidget.setTabOrder(one, other)
        head = hbox(self.choose, (self.file, 1), self.earlier)
        vbox(head, (self._pages, 1), self.trouble, on=self, margins=16)

    def _connect(self) -> None:
        self._jobs.changed.connect(self.apply)
        self._jobs.answered.connect(self.table.reread)
        for signal in (self._engine.loaded, self._engine.slept, self.kind.currentIndexChanged):
            signal.connect(self._show_buttons)
        for signal in (self.choices.textEdited, self.votes.valueChanged, self.schema.value_chosen):
            signal.connect(self._show_buttons)
        self.prompt.value_chosen.connect(self._on_edited)
        self.reorder.clicked.connect(self._use_order)
        self.table.activated.connect(self._on_activated)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), self, self.undo.undo)
