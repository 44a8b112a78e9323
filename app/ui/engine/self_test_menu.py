"""The self-test in the window: its action, its dialog, and the requests to the process. GUI thread."""

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.bridge.active_engine import ActiveEngine
from app.bridge.tasks import spawn
from app.look.file_dialog import SAVED, file_dialog
from app.look.popups import come_up
from app.look.words import mark, sentences, tr
from app.selftest.report import Report
from app.services import self_test
from app.services.self_test import SelfTest
from app.settings.settings import Settings
from app.ui.base.actions import command
from app.ui.engine.self_test import SelfTestDialog

JSON, TEXT = mark("Report as JSON (*.json)"), mark("Report as text (*.txt)")
SUFFIX_OF = {JSON: ".json", TEXT: ".txt"}


class SelfTestMenu(QObject):
    ended_unseen = Signal(str)  # the dialog is closed: a sentence for the status bar

    def __init__(self, test: SelfTest, engine: ActiveEngine, settings: Settings, parent: QWidget) -> None:
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
