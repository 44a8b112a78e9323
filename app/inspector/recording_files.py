"""Exports the shown recording, and opens recorded files.

Dialogs are here, the work is done on another thread. GUI thread.
"""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.bridge.tasks import spawn
from app.inspector.panel_buttons import new_action
from app.inspector.recording import MAX_STEPS, Recording
from app.look.figures import count
from app.look.file_dialog import SAVED, choose_file, file_dialog
from app.look.words import mark, sentences, tr, tr_n, tr_said

LINES = mark("Recording, JSON lines (*.jsonl)")
TRACE = mark("Trace for Perfetto and chrome://tracing (*.trace.json)")
SUFFIX_OF = {LINES: ".jsonl", TRACE: ".trace.json"}


class RecordingFiles(QObject):
    """`recording` is the shown one, set by `InspectorDocks`."""

    opened = Signal(object)  # Recording
    saved = Signal(str)  # a sentence
    failed = Signal(str)  # a sentence with what to do

    def __init__(self, recording: Recording, window: QWidget) -> None:
        super().__init__(window)
        self.recording = recording
        self._window = window
        self.open_action = new_action(
            "recording.open",
            tr("&Open recording…"),
            tr("View recorded steps, even without a model"),
            self._choose_recording,
            self,
        )
        self.export_action = new_action(
            "recording.export",
            tr("&Export recording…"),
            tr(
                "Save the last {steps} steps, with the text of their answers, as JSON lines or as a trace",
                steps=count(MAX_STEPS),
            ),
            self._choose_export,
            self,
        )

    def export(self, path: Path) -> None:
        """A trace if the name ends in `.json`, else JSON lines, which can be opened again."""
        self._begin(self._export(path))

    def open(self, path: Path) -> None:
        """The shown recording stays until the file was read completely."""
        self._begin(self._open(path))

    async def _export(self, path: Path) -> None:
        from app.inspector import recording_file, trace

        copy, num_steps = self.recording.copy(), len(self.recording.columns)
        save = trace.save if path.suffix == ".json" else recording_file.save
        try:
            await asyncio.to_thread(save, copy, path)
        except OSError as error:
            reason = tr(
                "{name} could not be written: {reason}.",
                name=path.name,
                reason=error.strerror or tr("the disk rejected the write"),
            )
            advice = tr("Choose another folder, or free some space on this disk.")
            self.failed.emit(sentences(reason, advice))
        else:
            self.saved.emit(
                tr_n("Saved {n} step in {name}.", "Saved {n} steps in {name}.", num_steps, name=path.name)
            )

    async def _open(self, path: Path) -> None:
        from app.inspector import recording_file  # the window is shown without

        try:
            recording = await asyncio.to_thread(recording_file.load, path)
        except recording_file.RecordingFileError as error:
            self.failed.emit(tr_said(str(error)))
        else:
            self.opened.emit(recording)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        """One file at a time: each is many megabytes."""
        self._enable(False)
        spawn(work).add_done_callback(lambda _task: self._enable(True))

    def _enable(self, is_enabled: bool) -> None:
        self.open_action.setEnabled(is_enabled)
        self.export_action.setEnabled(is_enabled)

    def _choose_recording(self) -> None:
        choose_file(self._window, tr("Open recording"), self.open, tr(LINES), tr("All files (*)"))

    def _choose_export(self) -> None:
        dialog = file_dialog(self._window, tr("Export recording"), SAVED, tr(LINES), tr(TRACE))
        dialog.selectFile(f"skein{SUFFIX_OF[LINES]}")
        dialog.setDefaultSuffix(SUFFIX_OF[LINES])
        suffixes = {tr(kind): suffix for kind, suffix in SUFFIX_OF.items()}
        dialog.filterSelected.connect(lambda chosen: dialog.selectFile(f"skein{suffixes[chosen]}"))
        dialog.fileSelected.connect(lambda name: self.export(Path(name)))
        dialog.open()
