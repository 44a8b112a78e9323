"""The page of shortcuts: all commands with their keys, and the actions on one. GUI thread."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QHeaderView, QKeySequenceEdit, QLineEdit, QTableView, QWidget

from app.look.buttons import dialog_button
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.table import Column, RowModel, dress_table
from app.look.tokens import current
from app.look.words import mark, tr
from app.ui.base.actions import MenuCommand
from app.ui.base.fuzzy import fold
from app.ui.settings.shortcuts import Shortcuts, shown, why_not

COMMAND, KEYS, DEFAULT = range(3)
COLUMNS = (Column(mark("Command")), Column(mark("Shortcut")), Column(mark("Default"), is_muted=True))
ROW_HEIGHT, MIN_HEIGHT = 28, 320


class ShortcutTable(QWidget):
    """Changes apply at once. A key is taken from another command only after confirmation."""

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shortcuts = shortcuts
        self._model = _Rows(self)
        self.table = _table(self._model, self)
        self.name = PlainLabel(parent=self)
        self.keys = QKeySequenceEdit(self)
        self.keys.setMaximumSequenceLength(1)
        self.keys.setClearButtonEnabled(True)
        for field in self.keys.findChildren(QLineEdit):
            field.setPlaceholderText(tr("Press the keys"))  # Qt's Chinese means icons on a desktop
        self.keys.setAccessibleName(tr("New shortcut"))
        self.set_button = dialog_button(tr("Set"), self._on_set, self)
        self.set_button.setToolTip(tr("Make it the only shortcut of this command"))
        self.add_button = dialog_button(tr("Add"), self._on_add, self)
        self.add_button.setToolTip(tr("Add another shortcut to this command"))
        self.none_button = dialog_button(tr("Remove"), self._choose, self)
        self.none_button.setToolTip(tr("Remove this command's shortcuts"))
        self.reset_button = dialog_button(tr("Default"), self._on_reset, self)
        self.reset_button.setToolTip(tr("Restore this command's default shortcuts"))
        self.reset_all_button = dialog_button(tr("Restore all defaults"), shortcuts.reset_all, self)
        self.reset_all_button.setToolTip(tr("Restore the default shortcuts of all commands"))
        self.message = PlainLabel(parent=self, tone="danger", wraps=True)
        self.message.setMinimumHeight(2 * self.fontMetrics().lineSpacing())  # the buttons stay where they are
        words = max((tr("Set"), tr("Reassign")), key=self.fontMetrics().horizontalAdvance)
        self.set_button.setText(words)
        self.set_button.setMinimumWidth(self.set_button.sizeHint().width())
        self._lay_out()
        self.table.selectionModel().currentRowChanged.connect(self._on_row_changed)
        self.keys.keySequenceChanged.connect(self._show_state)
        shortcuts.changed.connect(self._show_rows)
        self._show_rows()

    @property
    def rows(self) -> list[MenuCommand]:
        """The visible rows."""
        return self._model.commands

    @property
    def chosen(self) -> MenuCommand | None:
        row = self.table.currentIndex().row()
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def choose(self, name: str) -> None:
        for row, command in enumerate(self.rows):
            if command.name == name:
                self.table.selectRow(row)
                self.table.scrollTo(self.table.currentIndex(), QTableView.ScrollHint.PositionAtCenter)

    def filter(self, text: str) -> int:
        """Shows the commands that have all these words, in their names or in their keys. Returns how many."""
        self._model.words = fold(text).split()
        self._show_rows()
        return len(self.rows)

    @Slot()
    def _show_rows(self) -> None:
        chosen = self.chosen
        self._model.apply(self._shortcuts)
        self.choose(chosen.name if chosen else "")
        if self.chosen is None and self.rows:
            self.table.selectRow(0)
        self._show_state()

    @Slot()
    def _on_row_changed(self) -> None:
        self.keys.clear()
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        command, key = self.chosen, self._key
        problem = why_not(key) if key else ""
        holder = self._shortcuts.holder_of(key, command.name) if command and key else None
        self.name.setText(command.full_name if command else "")
        self.message.setText(problem or (_conflict_text(key, holder) if key and holder else ""))
        self.set_button.setText(tr("Reassign") if holder and not problem else tr("Set"))
        can_set = command is not None and key is not None and not problem
        self.set_button.setEnabled(can_set and command is not None and command.action.shortcuts() != [key])
        self.add_button.setEnabled(can_set and holder is None and self._has_other_keys(command, key))
        self.keys.setEnabled(command is not None)
        self.none_button.setEnabled(command is not None and bool(command.action.shortcuts()))
        self.reset_button.setEnabled(command is not None and not self._shortcuts.is_default(command))
        self.reset_all_button.setEnabled(
            any(not self._shortcuts.is_default(each) for each in self._shortcuts.commands())
        )

    @property
    def _key(self) -> QKeySequence | None:
        key = self.keys.keySequence()
        return None if key.isEmpty() else key

    def _has_other_keys(self, command: MenuCommand | None, key: QKeySequence | None) -> bool:
        keys = command.action.shortcuts() if command else []
        return bool(keys) and key not in keys

    # What was clicked

    def _on_set(self) -> None:
        if self.chosen and self._key:
            self._choose(self._key)

    def _on_add(self) -> None:
        if self.chosen and self._key:
            self._choose(*self.chosen.action.shortcuts(), self._key)

    def _choose(self, *keys: QKeySequence) -> None:
        if self.chosen:
            self._shortcuts.choose(self.chosen.name, keys)
            self.keys.clear()

    def _on_reset(self) -> None:
        if self.chosen:
            self._shortcuts.reset(self.chosen.name)

    def _lay_out(self) -> None:
        line = hbox((self.keys, 1), self.set_button, self.add_button, self.none_button)
        back = hbox(STRETCH, self.reset_button, self.reset_all_button)
        vbox((self.table, 1), self.name, line, back, self.message, on=self)
        self.setMinimumHeight(MIN_HEIGHT)


class _Rows(RowModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(COLUMNS, parent)
        self.commands: list[MenuCommand] = []
        self.words: list[str] = []
        self._defaults: dict[str, str] = {}

    def apply(self, shortcuts: Shortcuts) -> None:
        commands = [command for command in shortcuts.commands() if self._is_wanted(command)]
        self.beginResetModel()
        self.commands = commands
        self._defaults = {command.name: shown(shortcuts.default(command.name)) for command in commands}
        self.endResetModel()

    def _is_wanted(self, command: MenuCommand) -> bool:
        text = fold(f"{command.full_name} {command.name} {shown(command.action.shortcuts())}")
        return all(word in text for word in self.words)

    def num_rows(self) -> int:
        return len(self.commands)

    def text_at(self, row: int, column: int) -> str:
        command = self.commands[row]
        return (command.full_name, shown(command.action.shortcuts()), self._defaults[command.name])[column]

    def tip_at(self, row: int, column: int) -> str:
        return self.commands[row].tip if column == COMMAND else ""

    def colour_at(self, row: int, column: int) -> str:
        is_changed = column == KEYS and self.text_at(row, KEYS) != self.text_at(row, DEFAULT)
        return current().accent if is_changed else super().colour_at(row, column)


def _table(model: _Rows, parent: QWidget) -> QTableView:
    table = QTableView(parent)
    table.setModel(model)
    dress_table(table, tr("Commands and their shortcuts"), ROW_HEIGHT)
    head = table.horizontalHeader()
    head.setSectionResizeMode(COMMAND, QHeaderView.ResizeMode.Stretch)
    for column in (KEYS, DEFAULT):
        table.setColumnWidth(column, 176)
    return table


def _conflict_text(key: QKeySequence, holder: MenuCommand) -> str:
    return tr(
        "{key} is used by “{command}”, which would lose it.", key=shown((key,)), command=holder.full_name
    )
