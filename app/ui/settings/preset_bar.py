"""The preset of a chat, and the actions on presets. GUI thread."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QToolButton, QWidget

from app.chats.exports.files import ExportForm, file_name
from app.chats.imports.sketch import MAX_NAME_CHARS
from app.chats.options import ChatOptions
from app.chats.presets import Preset
from app.look.file_dialog import SAVED, choose_files, file_dialog
from app.look.layouts import hbox
from app.look.plain_text import as_tab_text, one_line
from app.look.popups import Menu
from app.look.words import mark, tr
from app.services.presets import Presets
from app.ui.base.keyboard import keeps_escape
from app.ui.base.notices import UndoToast

MAX_SHOWN_CHARS = 28
FILTER = mark("Presets (*.json)")


class PresetBar(QObject):
    """A button with a menu, and a field for names; the owner lays them out.

    A file identifies a preset; its name is only shown.
    """

    chosen = Signal(object)  # the ChatOptions that a preset makes of the chat's

    def __init__(self, presets: Presets, undo: UndoToast, parent: QWidget) -> None:
        super().__init__(parent)
        self._presets = presets
        self._undo = undo
        self._chat_id = ""
        self._options = ChatOptions()
        self._followed: dict[str, str] = {}  # by chat id: the preset applied last
        self._file = ""  # of the one this chat follows
        self._is_changed = False
        self._folder = Path.home()
        self.button = QToolButton(parent)
        self.button.setProperty("kind", "choice")
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.menu = Menu(self.button)
        self.menu.aboutToShow.connect(self._fill)
        self.button.setMenu(self.menu)
        self.entry = _NameEntry(parent)
        self.entry.hide()
        self.entry.left.connect(self.button.setFocus)
        self.apply("", self._options)

    def apply(self, chat_id: str, options: ChatOptions) -> None:
        self._chat_id, self._options = chat_id, options
        same = self._presets.file_of(options)
        self._file = same or self._followed.get(chat_id, "")
        preset = self._presets.get(self._file)
        if preset is None:
            self._file = ""
        self._is_changed = preset is not None and not same
        name = as_tab_text(preset.name) if preset else ""
        if len(name) > MAX_SHOWN_CHARS:
            name = f"{name[: MAX_SHOWN_CHARS - 1]}…"
        if not name:
            self.button.setText(tr("No preset"))
        else:
            self.button.setText(tr("{preset} (changed)", preset=name) if self._is_changed else name)
        self.button.setAccessibleName(tr("Preset: {name}", name=self.button.text()))

    def _fill(self) -> None:
        self.menu.clear()
        presets = self._presets.all
        for file, preset in presets.items():
            action = self._add(as_tab_text(preset.name), partial(self._choose, file, preset))
            action.setCheckable(True)
            action.setChecked(file == self._file and not self._is_changed)
        if presets:
            self.menu.addSeparator()
        self._add(tr("Save as a new preset…"), self._ask_for_new_name)
        if chosen := presets.get(self._file):
            self._fill_for(self._file, chosen)
        self.menu.addSeparator()
        self._add(tr("Import a preset…"), self._choose_import)

    def _fill_for(self, file: str, preset: Preset) -> None:
        update = tr("Update “{preset}”", preset=as_tab_text(preset.name))
        self._add(update, partial(self._save, preset.name, file)).setEnabled(self._is_changed)
        rename = partial(self._presets.rename, file)
        self._add(tr("Rename…"), partial(self.entry.ask, tr("Preset name"), preset.name, rename))
        self._add(tr("Delete"), partial(self._delete, file))
        self._add(tr("Export…"), partial(self._choose_export, file, preset))
        self.menu.addSeparator()
        is_default = file == self._presets.default_file
        default = partial(self._presets.set_default, "" if is_default else file)
        action = self._add(tr("Use for new chats"), default)
        action.setCheckable(True)
        action.setChecked(is_default)

    def _add(self, text: str, on_triggered: Callable[[], object]) -> QAction:
        action = self.menu.addAction(text)
        action.triggered.connect(lambda _checked=False: on_triggered())
        return action

    def _choose(self, file: str, preset: Preset) -> None:
        self._followed[self._chat_id] = file
        self.chosen.emit(preset.applied_to(self._options))

    def _ask_for_new_name(self) -> None:
        self.entry.ask(tr("New preset name"), "", self._save)

    def _save(self, name: str, file: str = "") -> None:
        """The chat's options, in place of those in this file if one is given."""
        self._presets.save(Preset(name, replace(self._options, max_context_tokens=0)), file)

    def _delete(self, file: str) -> None:
        if preset := self._presets.delete(file):
            text = tr("Deleted the preset “{name}”.", name=one_line(preset.name))
            self._undo.offer(text, partial(self._presets.save, preset, file))

    def _choose_import(self) -> None:
        window, title = self.button.window(), tr("Import a preset")
        choose_files(window, title, self._import, tr(FILTER), folder=self._folder)

    def _import(self, files: list[Path]) -> None:
        for file in files:
            self._folder = file.parent
            self._presets.import_file(file)

    def _choose_export(self, file: str, preset: Preset) -> None:
        window, title = self.button.window(), tr("Export a preset")
        dialog = file_dialog(window, title, SAVED, tr(FILTER), folder=self._folder)
        dialog.setDefaultSuffix(ExportForm.JSON)
        dialog.selectFile(file_name(preset.name, ExportForm.JSON))
        dialog.fileSelected.connect(lambda name: self._presets.export_file(file, Path(name)))
        dialog.open()


class _NameEntry(QWidget):
    """A line for a name, with Save and Cancel."""

    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._on_named: Callable[[str], object] = lambda _name: None
        self.line = QLineEdit(self)
        self.line.setAccessibleName(tr("Preset name"))
        self.line.setMaxLength(MAX_NAME_CHARS)
        self.line.textChanged.connect(self._show_state)
        self.line.returnPressed.connect(self._save)
        self.save_button = QPushButton(tr("Save"), self)
        self.save_button.clicked.connect(self._save)
        cancel = QPushButton(tr("Cancel"), self)
        cancel.clicked.connect(self._leave)
        hbox((self.line, 1), self.save_button, cancel, on=self, spacing=6)

    def ask(self, label: str, name: str, on_named: Callable[[str], object]) -> None:
        self._on_named = on_named
        self.line.setPlaceholderText(label)
        self.line.setAccessibleName(label)
        self.line.setText(name)
        self.line.selectAll()
        self._show_state()
        self.show()
        self.line.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._leave()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Escape leaves the line first, then the panel."""
        return keeps_escape(event) or super().event(event)

    def _show_state(self) -> None:
        self.save_button.setEnabled(bool(one_line(self.line.text())))

    def _save(self) -> None:
        if name := one_line(self.line.text()):
            self._leave()
            self._on_named(name)

    def _leave(self) -> None:
        self.hide()
        self.left.emit()
