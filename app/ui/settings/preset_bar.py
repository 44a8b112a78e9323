"""The preset of a chat, and the actions on presets. Knows no file and no chat. GUI thread."""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QToolButton, QWidget

from app.chats.imports.sketch import MAX_NAME_CHARS
from app.look.layouts import hbox
from app.look.plain_text import as_tab_text, one_line
from app.look.popups import Menu
from app.look.words import tr
from app.ui.base.keyboard import keeps_escape

MAX_SHOWN_CHARS = 28


class PresetBar(QObject):
    """A button with a menu, and a field for names; the owner lays them out.

    `file` identifies a preset; its name is only shown.
    """

    chosen = Signal(str)  # file
    save_requested = Signal(str)  # name of a new preset
    update_requested = Signal(str)  # file
    rename_requested = Signal(str, str)  # file, name
    delete_requested = Signal(str)  # file
    default_chosen = Signal(str)  # file, "" for none
    import_requested = Signal()
    export_requested = Signal(str)  # file

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._names: Mapping[str, str] = {}
        self._file = ""
        self._is_changed = False
        self._default_file = ""
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
        self.apply({}, "", False, "")

    def apply(self, names: Mapping[str, str], file: str, is_changed: bool, default_file: str) -> None:
        """`names` by file, in the order of the menu; `file` is the one this chat follows, "" if none."""
        self._names, self._file, self._default_file = names, file if file in names else "", default_file
        self._is_changed = is_changed and bool(self._file)
        name = as_tab_text(names.get(self._file, ""))
        if len(name) > MAX_SHOWN_CHARS:
            name = f"{name[: MAX_SHOWN_CHARS - 1]}…"
        if not name:
            self.button.setText(tr("No preset"))
        else:
            self.button.setText(tr("{preset} (changed)", preset=name) if self._is_changed else name)
        self.button.setAccessibleName(tr("Preset: {name}", name=self.button.text()))

    def _fill(self) -> None:
        self.menu.clear()
        for file, name in self._names.items():
            action = self.menu.addAction(as_tab_text(name), partial(self.chosen.emit, file))
            action.setCheckable(True)
            action.setChecked(file == self._file and not self._is_changed)
        if self._names:
            self.menu.addSeparator()
        self._add(tr("Save as a new preset…"), self._ask_for_new_name)
        if self._file:
            self._fill_for(self._file, as_tab_text(self._names[self._file]))
        self.menu.addSeparator()
        self._add(tr("Import a preset…"), self.import_requested.emit)

    def _fill_for(self, file: str, name: str) -> None:
        self._add(tr("Update “{preset}”", preset=name), partial(self.update_requested.emit, file)).setEnabled(
            self._is_changed
        )
        self._add(tr("Rename…"), self._ask_for_other_name)
        self._add(tr("Delete"), partial(self.delete_requested.emit, file))
        self._add(tr("Export…"), partial(self.export_requested.emit, file))
        self.menu.addSeparator()
        default = self._add(
            tr("Use for new chats"),
            partial(self.default_chosen.emit, "" if file == self._default_file else file),
        )
        default.setCheckable(True)
        default.setChecked(file == self._default_file)

    def _add(self, text: str, on_triggered: Callable[[], object]) -> QAction:
        action = self.menu.addAction(text)
        action.triggered.connect(lambda _checked=False: on_triggered())
        return action

    def _ask_for_new_name(self) -> None:
        self.entry.ask(tr("New preset name"), "", self.save_requested.emit)

    def _ask_for_other_name(self) -> None:
        file = self._file
        self.entry.ask(tr("Preset name"), self._names[file], partial(self.rename_requested.emit, file))


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
