"""The self-test in the window: its action, its dialog with the results, and the requests to the process.

GUI thread.
"""

import asyncio
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QProgressBar, QScrollArea, QWidget

from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.look import marks
from app.look.buttons import dialog_button
from app.look.figures import count, data_size, percent, seconds
from app.look.file_dialog import SAVED, file_dialog
from app.look.icons import paint_icon
from app.look.layouts import STRETCH, TOP, hbox, vbox
from app.look.painted import paint_mark
from app.look.plain_text import PlainLabel, heading, one_line
from app.look.popups import come_up, resize_to_fit
from app.look.tokens import Tokens, current
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.protocol.model import ModelInfo
from app.selftest.report import TITLES, Outcome, Report, ReportLine
from app.services import self_test
from app.services.self_test import SelfTest
from app.settings.settings import Settings
from app.ui.base.actions import command
from app.ui.base.page_panel import scrolled

NAME_WIDTH = 10
RUNNING, CANCELLED, WARNING = "running", "cancelled", "warning"
OUTCOMES = {Outcome.PASSED: mark("passed"), Outcome.FAILED: mark("failed"), Outcome.SKIPPED: mark("skipped")}


class LineRow(QWidget):
    """One check."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.english_title = TITLES[name]  # as in the progress
        self._mark = ResultMark("", self)
        self._name, self._title = (
            PlainLabel(name, self, tone="muted"),
            heading(tr_said(self.english_title), self),
        )
        self._name.setFixedWidth(NAME_WIDTH)
        self._state = PlainLabel(parent=self, tone="muted")
        self._done, self._seen = PlainLabel(parent=self, tone="muted"), PlainLabel(parent=self)
        for label in (self._name, self._title, self._state):
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = vbox(hbox((self._title, 1), self._state, spacing=None), spacing=2)
        self._title.setWordWrap(True)
        for label in (self._done, self._seen):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(label)
        hbox((self._mark, 0, TOP), (self._name, 0, TOP), (column, 1), on=self, spacing=10)

    @property
    def text(self) -> str:
        parts = (self._name, self._title, self._state, self._done, self._seen)
        return " | ".join(part.text() for part in parts if part.text())

    @property
    def is_running(self) -> bool:
        return self._mark.state == RUNNING

    def show_waiting(self) -> None:
        self._show("", "")

    def show_running(self) -> None:
        self._show(RUNNING, tr("running"))

    def show_line(self, line: ReportLine) -> None:
        done = tr("Done: {what}.", what=tr_said(line.done)) if line.done else ""
        state = tr(OUTCOMES[line.outcome])
        if line.seconds:  # unknown after a crash
            state = tr("{outcome}, {time}", outcome=state, time=seconds(line.seconds))
        self._show(line.outcome, state, done, tr("Seen: {what}", what=tr_said(line.seen)))

    def _show(self, mark: str, state: str, done: str = "", seen: str = "") -> None:
        tone = "danger" if mark == Outcome.FAILED else ""
        self._mark.show_state(mark)
        self._state.setText(state)
        self._state.set_tone(tone or "muted")
        self._title.set_tone(tone or ("" if mark else "muted"))
        self._seen.set_tone(tone)
        for label, text in ((self._done, done), (self._seen, seen)):
            label.setText(one_line(text))
            label.setVisible(bool(text))
        self.setAccessibleName(self.text)


class ResultMark(QWidget):
    """Its state as an icon; the words are beside it."""

    SIDE = 16

    def __init__(self, state: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.state = state
        self.setFixedSize(self.SIDE, self.SIDE)

    def show_state(self, state: str) -> None:
        """An Outcome, one of the above, or nothing yet."""
        self.state = state
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        rect = QRectF(self.rect())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.state == RUNNING:
            paint_mark(painter, rect, marks.COMPUTING, tokens)
        elif self.state in (icons := _icons(tokens)):
            name, colour = icons[self.state]
            paint_icon(painter, name, rect, colour)


def _icons(tokens: Tokens) -> dict[str, tuple[str, str]]:
    return {
        Outcome.PASSED: ("circle-check", tokens.ok),
        Outcome.FAILED: ("triangle-alert", tokens.danger),
        Outcome.SKIPPED: ("info", tokens.muted),
        CANCELLED: ("stop", tokens.muted),
        WARNING: ("triangle-alert", tokens.warning),
    }


SIZE = QSize(760, 760)
NO_MODEL = mark("No model is loaded. Choose one above the chat, then test it here.")


class SelfTestDialog(QDialog):
    """Shows values and emits requests; knows no process and no file. Not modal."""

    start_requested = Signal()
    cancel_requested = Signal()
    save_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.report: Report | None = None
        self._model: ModelInfo | None = None
        self._is_running = False
        muted = partial(PlainLabel, parent=self, tone="muted", wraps=True)
        self._intro, self._memory, self._busy, self.note = muted(), muted(), muted(), muted()
        self._warning = ResultMark(WARNING, self)
        self._mark = ResultMark("", self)
        self._state = heading("", self, wraps=True)
        self._percent = PlainLabel(parent=self, tone="muted")
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 100)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Self-test progress"))
        self.rows = {name: LineRow(name, self) for name in TITLES}
        self.copy_button = dialog_button(tr("&Copy"), self._copy, self)
        self.save_button = dialog_button(tr("&Save report…"), self.save_requested.emit, self)
        self.close_button = dialog_button(tr("Close"), self.close, self)
        self.cancel_button = dialog_button(tr("Cancel"), self._cancel, self)
        self.start_button = dialog_button(tr("Start"), self.start_requested.emit, self)
        self.setWindowTitle(tr("Self-test"))
        self._lay_out()
        self.set_num_busy(0)
        self._reset()
        self.finished.connect(self._on_closed)

    @property
    def state(self) -> str:
        return self._state.text()

    @property
    def words(self) -> str:
        """The text above the results."""
        return sentences(*(label.text() for label in (self._intro, self._memory, self._busy)))

    def apply(self, model: ModelInfo | None, needed_bytes: int, free_bytes: int) -> None:
        """What would be tested, and what it needs."""
        self._model = model
        self._intro.setText(intro_text(model) if model else tr(NO_MODEL))
        self._memory.setText(memory_text(needed_bytes, free_bytes) if model else "")
        is_tight = model is not None and needed_bytes > free_bytes
        self._memory.set_tone("" if is_tight else "muted")
        self._warning.setVisible(is_tight)
        self._show_buttons()

    def set_num_busy(self, num_busy: int) -> None:
        self._busy.setText(tr("Chats are being answered, so the test may take longer.") if num_busy else "")
        self._busy.setVisible(num_busy > 0)

    def begin(self) -> None:
        self._reset()
        self._is_running = True
        self._mark.show_state(RUNNING)
        self.show_progress(0.0, tr("Starting"))
        self.rows_area.verticalScrollBar().setValue(0)
        self._show_buttons()
        self.cancel_button.setFocus()

    @Slot(float, str)
    def show_progress(self, fraction: float, doing: str) -> None:
        if not self.cancel_button.isEnabled():  # it says “Cancelling…”
            return
        self._state.setText(tr_said(doing))
        self._percent.setText(percent(fraction, 1.0))
        self.bar.setValue(round(100 * fraction))
        for row in self.rows.values():
            if row.english_title == doing and not row.is_running:
                row.show_running()
                self.rows_area.ensureWidgetVisible(row)

    @Slot(object)
    def show_line(self, line: ReportLine) -> None:
        self.rows[line.name].show_line(line)

    @Slot(object)
    def show_report(self, report: Report) -> None:
        self.report = report
        for row in self.rows.values():
            row.show_waiting()
        for line in report.lines:
            self.show_line(line)
        outcome = Outcome.PASSED if report.passed else Outcome.FAILED
        self._end(verdict_text(report), CANCELLED if report.was_cancelled else outcome)
        failed = [self.rows[line.name] for line in report.lines if line.outcome is Outcome.FAILED]
        if failed:
            self.rows_area.ensureWidgetVisible(failed[0])

    @Slot(object)
    def show_failure(self, text: str) -> None:
        """The test could not run."""
        self._end(one_line(tr_said(text)), Outcome.FAILED)

    def show_note(self, text: str, tone: str = "muted") -> None:
        """Whether the report was copied or saved."""
        self.note.setText(text)
        self.note.set_tone(tone)

    def _end(self, text: str, mark: str) -> None:
        self._is_running = False
        self._state.setText(text)
        self._state.set_tone("danger" if mark == Outcome.FAILED else "")
        self._mark.show_state(mark)
        self._percent.clear()
        self._show_buttons()

    def _reset(self) -> None:
        self.report = None
        for row in self.rows.values():
            row.show_waiting()
        self._end("", "")
        self.bar.reset()
        self.show_note("")

    def _show_buttons(self) -> None:
        for part in (self._mark, self._state, self._percent, self.bar):
            part.setVisible(bool(self.state))
        self.cancel_button.setVisible(self._is_running)
        self.cancel_button.setEnabled(True)
        self.start_button.setVisible(not self._is_running)
        self.start_button.setEnabled(self._model is not None)
        self.start_button.setText(tr("Start again") if self.state else tr("Start"))
        self.start_button.setDefault(not self.state)  # Enter must not discard a result
        for button in (self.copy_button, self.save_button):
            button.setEnabled(self.report is not None and bool(self.report.lines))

    def _cancel(self) -> None:
        """The current step may still take a while."""
        self.cancel_button.setEnabled(False)
        self._state.setText(tr("Cancelling"))
        self.cancel_requested.emit()

    def _copy(self) -> None:
        if self.report:
            QGuiApplication.clipboard().setText(self.report.as_text())
            self.show_note(tr("Copied."))

    @Slot()
    def _on_closed(self) -> None:
        """A running test continues."""
        if not self._is_running:
            self._reset()

    def _lay_out(self) -> None:
        self._intro.set_tone("")
        memory = hbox((self._warning, 0, TOP), (self._memory, 1))
        head = vbox(self._intro, memory, self._busy, spacing=4)
        progress = vbox(hbox((self._mark, 0, TOP), (self._state, 1), self._percent), self.bar)
        buttons = (self.close_button, self.cancel_button, self.start_button)
        foot = hbox(self.copy_button, self.save_button, (self.note, 1), *buttons)
        parts = (head, progress, (self._scrolled_rows(), 1), foot)
        vbox(*parts, on=self, margins=(24, 16, 24, 16), spacing=16)
        resize_to_fit(self, SIZE)

    def _scrolled_rows(self) -> QScrollArea:
        inside = QWidget()
        vbox(*self.rows.values(), STRETCH, on=inside, spacing=12)
        self.rows_area = scrolled(inside, self)
        self.rows_area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.rows_area.setAccessibleName(tr("Checks"))
        return self.rows_area


def intro_text(model: ModelInfo) -> str:
    cells = count(model.n_ctx)
    return tr(
        "Loads {name} again in its own process, with {slots} and {cells}, and asks it test questions. "
        "Shows whether chats that share a context affect or slow each other on this computer.",
        name=one_line(model.name),
        slots=tr_n("{n} slot", "{n} slots", model.n_seq_max),
        cells=tr("{number} cells", number=cells)
        if model.is_unified
        else tr("{number} cells, isolated", number=cells),
    )


def verdict_text(report: Report) -> str:
    if report.was_cancelled:
        return tr("Cancelled.")
    counts = [
        tr("{number} {outcome}", number=number, outcome=tr(OUTCOMES[outcome]))
        for outcome in Outcome
        if (number := sum(line.outcome is outcome for line in report.lines))
    ]
    return tr("{counts} in {time}.", counts=", ".join(counts), time=seconds(report.seconds))


def memory_text(needed_bytes: int, free_bytes: int) -> str:
    needed, free = data_size(needed_bytes), data_size(free_bytes)
    if needed_bytes <= free_bytes:
        return tr(
            "Needs up to {needed} of memory while it runs; {free} free. Your chats continue.",
            needed=needed,
            free=free,
        )
    return tr(
        "Needs up to {needed} of memory while it runs, but only {free} free. Close other programs first: "
        "the test may fail, and this computer may become slow.",
        needed=needed,
        free=free,
    )


JSON, TEXT = mark("Report as JSON (*.json)"), mark("Report as text (*.txt)")
SUFFIX_OF = {JSON: ".json", TEXT: ".txt"}


class SelfTestMenu(QObject):
    ended_unseen = Signal(str)  # the dialog is closed: a sentence for the status bar

    def __init__(self, test: SelfTest, engine: Engines, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self._test = test
        self._engine = engine
        self._settings = settings
        self.open = command(parent, "tools.self-test", self.show_dialog)
        self.dialog = SelfTestDialog(parent)
        self.dialog.start_requested.connect(self._start)
        self.dialog.cancel_requested.connect(test.cancel)
        self.dialog.save_requested.connect(self._choose_file)
        test.progressed.connect(self.dialog.show_progress)
        test.checked.connect(self.dialog.show_line)
        test.ended.connect(self.dialog.show_report)
        test.failed.connect(self.dialog.show_failure)
        test.ended.connect(self._on_ended)
        test.failed.connect(self._on_ended)
        engine.loaded.connect(self._show_model)
        engine.engine_failed.connect(self._show_model)

    def show_dialog(self) -> None:
        self._show_model()
        come_up(self.dialog)

    def save(self, report: Report, path: Path) -> None:
        """Writes text or JSON, by the name of the file."""
        spawn(self._save(report, path))

    @Slot()
    def _show_model(self) -> None:
        """Shows the model that a new test would use. A running one keeps its own."""
        if not self._test.is_running:
            model = self._engine.model
            model = model if model and not model.server else None  # another program's is not tested here
            needed = self_test.needed_memory(model) if model else 0
            self.dialog.apply(model, needed, self_test.free_memory())

    def _start(self) -> None:
        self._show_model()
        if self._engine.model and not self._test.is_running:
            self.dialog.begin()
            self._test.start(self._engine.model, self._settings.n_threads)

    @Slot(object)
    def _on_ended(self, _result: object) -> None:
        if not self.dialog.isVisible():
            self.ended_unseen.emit(tr("Self-test: {result}", result=self.dialog.state))
        self._show_model()

    async def _save(self, report: Report, path: Path) -> None:
        try:
            await asyncio.to_thread(self_test.save, report, path)
        except OSError as error:
            reason = tr("{name} could not be written: {reason}.", name=path.name, reason=error.strerror)
            advice = tr("Choose another folder, or free some space on this disk.")
            self.dialog.show_note(sentences(reason, advice), "danger")
        else:
            self.dialog.show_note(tr("Saved in {name}.", name=path.name))

    def _choose_file(self) -> None:
        report = self.dialog.report
        if report is None:
            return
        dialog = file_dialog(self.dialog, tr("Save report"), SAVED, tr(JSON), tr(TEXT))
        dialog.selectFile("skein-selftest.json")
        dialog.setDefaultSuffix("json")
        suffixes = {tr(kind): suffix for kind, suffix in SUFFIX_OF.items()}
        dialog.filterSelected.connect(lambda chosen: dialog.selectFile(f"skein-selftest{suffixes[chosen]}"))
        dialog.fileSelected.connect(lambda name: self.save(report, Path(name)))
        dialog.open()
