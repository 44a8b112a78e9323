"""Exports the shown recording, and opens recorded files.

Dialogs are here, the work is done on another thread. GUI thread.
"""

import asyncio
import re
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QWidget

from app.bridge.tasks import spawn
from app.inspector.panel_buttons import new_action
from app.inspector.recording import Recording
from app.look.buttons import dialog_button
from app.look.figures import count
from app.look.file_dialog import SAVED, choose_file, file_dialog
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading, one_line
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.protocol.commands import DescribeTokens
from app.protocol.wire import MAX_STEPS

PAGE = mark("Recording, a page for any browser (*.html)")
TRACE = mark("Trace for Perfetto and chrome://tracing (*.trace.json)")
RECORDINGS = mark("Recordings (*.html *.jsonl)")
SUFFIX_OF = {PAGE: ".html", TRACE: ".trace.json"}
# The texts of tokens are asked of the engine in parts, none of which holds up a step.
TEXTS_AT_ONCE, MAX_WAIT_S, POLL_S = 2_000, 10.0, 0.02


class RecordingFiles(QObject):
    """`recording` is the shown one, set by `InspectorDocks`."""

    opened = Signal(object)  # Recording
    saved = Signal(str)  # a sentence
    failed = Signal(str)  # a sentence with what to do
    commanded = Signal(object)  # Command, for the engine that is shown

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
                "Save the last {steps} steps as a page that any browser opens, or as a trace",
                steps=count(MAX_STEPS),
            ),
            self._choose_export,
            self,
        )

    def export(self, path: Path, *, is_told: bool = True) -> None:
        """A trace if the name ends in `.json`, else a page, which can be opened again.

        With `is_told`, the page has what was told to the model, too: prompts, answers and titles.
        """
        self._begin(self._export(path, is_told))

    def open(self, path: Path) -> None:
        """The shown recording stays until the file was read completely."""
        self._begin(self._open(path))

    async def _export(self, path: Path, is_told: bool) -> None:
        from app.inspector import recording_file, trace

        copy, num_steps = self.recording.copy(), self.recording.num_steps
        try:
            if path.suffix == ".json":
                await asyncio.to_thread(trace.save, copy, path)
            else:
                if is_told:
                    token_ids = await asyncio.to_thread(recording_file.tokens_in, copy)
                    copy.token_texts = await self._texts_of(token_ids)
                await asyncio.to_thread(recording_file.save, copy, path, is_told=is_told)
        except OSError as error:
            reason = tr(
                "{name} could not be written: {reason}.",
                name=path.name,
                reason=error.strerror or tr("the disk rejected the write"),
            )
            advice = tr("Choose another folder, or free some space on this disk.")
            self.failed.emit(sentences(reason, advice))
        else:
            self.saved.emit(self._told(copy, num_steps, path))

    def _told(self, recording: Recording, num_steps: int, path: Path) -> str:
        text = tr_n("Saved {n} step in {name}.", "Saved {n} steps in {name}.", num_steps, name=path.name)
        num_others = len(recording.steps) - num_steps
        if not num_others or path.suffix == ".json":
            return text
        others = tr_n(
            "It has {n} more report, from between two steps.",
            "It has {n} more reports, from between two steps.",
            num_others,
        )
        return sentences(text, others)

    async def _texts_of(self, token_ids: tuple[int, ...]) -> dict[int, bytes]:
        """Also of tokens that nobody has looked at, as far as there is an engine that tells them."""
        recording, deadline = self.recording, time.monotonic() + MAX_WAIT_S

        def can_ask() -> bool:
            is_of_engine = recording is self.recording and recording.is_live and not recording.is_over
            return is_of_engine and time.monotonic() < deadline

        unknown = [one for one in token_ids if one not in recording.token_texts]
        for at in range(0, len(unknown), TEXTS_AT_ONCE):
            part = tuple(unknown[at : at + TEXTS_AT_ONCE])
            if can_ask():
                self.commanded.emit(DescribeTokens(part))
            while can_ask() and not recording.token_texts.keys() >= set(part):
                await asyncio.sleep(POLL_S)
        return {one: text for one in token_ids if (text := recording.token_texts.get(one)) is not None}

    async def _open(self, path: Path) -> None:
        from app.inspector import recording_file  # the window is shown without
        from app.protocol.recording import RecordingFileError

        try:
            recording = await asyncio.to_thread(recording_file.load, path)
        except RecordingFileError as error:
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
        choose_file(self._window, tr("Open recording"), self.open, tr(RECORDINGS), tr("All files (*)"))

    def _choose_export(self) -> None:
        dialog = file_dialog(self._window, tr("Export recording"), SAVED, tr(PAGE), tr(TRACE))
        model = self.recording.model
        stem = "-".join(["skein", *re.findall(r"[\w.]+", model.path.stem)]) if model else "skein"
        dialog.selectFile(f"{stem}{SUFFIX_OF[PAGE]}")
        dialog.setDefaultSuffix(SUFFIX_OF[PAGE])
        suffixes = {tr(kind): suffix for kind, suffix in SUFFIX_OF.items()}
        dialog.filterSelected.connect(lambda chosen: dialog.selectFile(f"{stem}{suffixes[chosen]}"))
        dialog.fileSelected.connect(lambda name: self._ask_what(Path(name)))
        dialog.open()

    def _ask_what(self, path: Path) -> None:
        if path.suffix == ".json":
            self.export(path)
        else:
            ExportDialog(self, path, self._window).open()


class ExportDialog(QDialog):
    """Asks what a page for others has in it, then exports it."""

    def __init__(self, files: RecordingFiles, path: Path, parent: QWidget) -> None:
        super().__init__(parent)
        self._files, self._path = files, path
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Export recording"))
        self.setFixedWidth(440)
        self.box = QCheckBox(tr("Prompts, answers and titles"), self)
        self.box.setChecked(True)
        told = tr(
            "Without them the page has figures and events alone, and skein replay cannot compute it again."
        )
        begin = dialog_button(tr("Export"), self._on_export, self, is_default=True)
        vbox(
            heading(tr("What goes into {name}?", name=one_line(path.name)), self, wraps=True),
            self.box,
            PlainLabel(told, self, tone="muted", wraps=True),
            4,
            hbox(STRETCH, dialog_button(tr("Cancel"), self.reject, self), begin),
            on=self,
            margins=20,
            spacing=10,
        )

    def _on_export(self) -> None:
        self._files.export(self._path, is_told=self.box.isChecked())
        self.accept()
