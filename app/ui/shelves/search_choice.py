"""Which models the shelves are searched with, besides words: a row of the shelves window. GUI thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.look.flat_combo import FlatCombo
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, one_line
from app.look.words import mark, tr, tr_said
from app.models.model_file import FileKind
from app.services.shelf_vectors import ShelfVectors

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
        dialog = QFileDialog(self, tr(TITLES[kind]), "", tr("GGUF models (*.gguf)"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.filesSelected.connect(lambda files: self._vectors.choose(kind, Path(files[0])))
        dialog.open()  # never exec: a nested loop would stop every coroutine

    @Slot(object)
    def _on_refused(self, message: str) -> None:
        self.trouble.setText(tr_said(message))
        self.trouble.show()
