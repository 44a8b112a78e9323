"""The dialog for the settings of the engine: its context, how long a chat may get, what goes first.

Shows values and tells which were chosen; what becomes of them is others' business. Not modal. GUI thread.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.engine.types import ModelInfo
from app.look.figures import count
from app.look.plain_text import PlainLabel, heading, one_line
from app.settings import Settings
from app.ui.choice_list import ChoiceList
from app.ui.choices import ISOLATED, OVERFLOWS, SHARED, SPEEDS, memory_choices
from app.ui.number_field import NumberField

LOAD_SETTINGS = frozenset({"n_ctx", "n_seq_max", "n_threads", "isolated"})  # these need another context
WIDTH = 760
LABEL_WIDTH = 172


@dataclass(frozen=True, slots=True)
class Number:
    label: str
    hint: str
    low: int
    high: int
    step: int
    word_for_zero: str = ""


def numbers(num_cores: int) -> dict[str, Number]:
    """The settings that are numbers, by their names in Settings."""
    cores = "1 physical core" if num_cores == 1 else f"{num_cores} physical cores"
    return {
        "n_ctx": Number(
            "Context pool (all chats)", "Tokens for all chats together.", 0, 2**24, 1024, "Automatic"
        ),
        "n_seq_max": Number("Parallel chats (slots)", "Answers computed at the same time.", 1, 64, 1),
        "n_threads": Number("Threads", f"{cores} here.", 0, num_cores, 1, "Automatic"),
        "max_chat_tokens": Number("Longest chat", "Tokens for any one chat.", 0, 2**24, 256, "Whole context"),
    }


class EngineSettings(QDialog):
    applied = Signal(object)  # dict of values by their names in Settings

    def __init__(self, num_cores: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model: ModelInfo | None = None
        self._defaults = self._in_force = _values_of(Settings())
        self._rows = numbers(num_cores)
        self.numbers = {name: self._number_field(row) for name, row in self._rows.items()}
        self.choices = {
            "isolated": ChoiceList("Memory", memory_choices(0, 1), parent=self),
            "overflow": ChoiceList("When a chat is full", OVERFLOWS, parent=self),
            "speed": ChoiceList("What goes first", SPEEDS, parent=self),
        }
        for choices in self.choices.values():
            choices.chosen.connect(self._show_state)
        self._note = PlainLabel(parent=self, tone="muted")
        self.restore_button = self._button("Restore defaults", lambda: self._show_values(self._defaults))
        self.close_button = self._button("Close", self.close)
        self.apply_button = self._button("Apply", lambda: self.applied.emit(self.values()))
        self.apply_button.setDefault(True)
        self.setWindowTitle("Engine settings")
        self._lay_out()
        self._show_values(self._in_force)

    def apply(self, settings: Settings, model: ModelInfo | None) -> None:
        """Shows what is in force now."""
        self._model = model
        self._in_force = _values_of(settings)
        self._show_values(self._in_force)

    def follow_speed(self, speed: str) -> None:
        """It was chosen elsewhere; what else stands in the dialog stays."""
        self._in_force = self._in_force | {"speed": speed}
        self.choices["speed"].choose(speed)
        self._show_state()

    def values(self) -> dict[str, Any]:
        """What stands in the dialog."""
        chosen = {name: choices.value for name, choices in self.choices.items()}
        numbers = {name: field.value() for name, field in self.numbers.items()}
        return numbers | chosen | {"isolated": chosen["isolated"] == ISOLATED}

    @property
    def note(self) -> str:
        return self._note.text()

    def _show_values(self, values: dict[str, Any]) -> None:
        for name, field in self.numbers.items():
            field.setMaximum(max(field.maximum(), values[name]))
            field.setValue(values[name])
        for name, choices in self.choices.items():
            choices.choose(_choice_of(name, values))
        self._show_state()

    def _show_state(self) -> None:
        values = self.values()
        changed = {name for name, value in values.items() if value != self._in_force[name]}
        self.apply_button.setEnabled(bool(changed))
        self.restore_button.setEnabled(values != self._defaults)
        self._note.setText(reload_note(self._model) if changed & LOAD_SETTINGS else "")
        automatic = self._model.n_ctx if self._model and not self._in_force["n_ctx"] else 0
        self.numbers["n_ctx"].set_word_for_zero(
            f"Automatic ({count(automatic)})" if automatic else "Automatic"
        )
        self.choices["isolated"].set_sentences(
            memory_choices(values["n_ctx"] or automatic, values["n_seq_max"])
        )

    # Building

    def _number_field(self, row: Number) -> NumberField:
        field = NumberField(row.label, row.low, row.high, row.step, self)
        field.set_word_for_zero(row.word_for_zero)
        field.valueChanged.connect(self._show_state)
        return field

    def _button(self, label: str, on_clicked: Callable[[], object]) -> QPushButton:
        button = QPushButton(label, self)
        button.setAutoDefault(False)
        button.clicked.connect(lambda _checked=False: on_clicked())
        return button

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(2, 1)
        self._add_heading(grid, "Context", "A change here loads the model again. Chats stay.")
        for name in ("n_ctx", "n_seq_max", "n_threads"):
            self._add_number(grid, name)
        self._add_choices(grid, "isolated")
        self._add_heading(grid, "Each chat", "From the next message on.")
        self._add_number(grid, "max_chat_tokens")
        self._add_choices(grid, "overflow")
        self._add_heading(grid, "Speed", "Takes effect at once.")
        self._add_choices(grid, "speed")
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.restore_button)
        foot.addWidget(self._note, 1)
        foot.addWidget(self.close_button)
        foot.addWidget(self.apply_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(16)
        column.addLayout(grid)
        column.addLayout(foot)
        self.setFixedWidth(WIDTH)

    def _add_heading(self, grid: QGridLayout, title: str, note: str) -> None:
        row = grid.rowCount()
        labels = (heading(title, self), PlainLabel(note, self, tone="muted"))
        for label in labels:
            label.setContentsMargins(0, 8 if row > 1 else 0, 0, 0)
        grid.addWidget(labels[0], row, 0)
        grid.addWidget(labels[1], row, 1, 1, 2)

    def _add_number(self, grid: QGridLayout, name: str) -> None:
        row, number, field = grid.rowCount(), self._rows[name], self.numbers[name]
        label = PlainLabel(number.label, self)
        label.setBuddy(field)
        default = count(self._defaults[name]) if self._defaults[name] else number.word_for_zero.lower()
        grid.addWidget(label, row, 0)
        grid.addWidget(field, row, 1)
        grid.addWidget(PlainLabel(f"{number.hint} Default: {default}.", self, tone="muted"), row, 2)

    def _add_choices(self, grid: QGridLayout, name: str) -> None:
        row, choices = grid.rowCount(), self.choices[name]
        labels = QVBoxLayout()
        labels.setSpacing(4)
        labels.addWidget(PlainLabel(choices.accessibleName(), self))
        labels.addWidget(
            PlainLabel(
                f"Default: {choices.label_of(_choice_of(name, self._defaults)).lower()}.", self, tone="muted"
            )
        )
        labels.addStretch(1)
        grid.addLayout(labels, row, 0)
        grid.addWidget(choices, row, 1, 1, 2)


def reload_note(model: ModelInfo | None) -> str:
    """What Apply will do besides."""
    if model is None:
        return "For the next model."
    return f"Loads {one_line(model.name)} again; answers being written end."


def _choice_of(name: str, values: dict[str, Any]) -> str:
    if name == "isolated":
        return ISOLATED if values[name] else SHARED
    return str(values[name])


def _values_of(settings: Settings) -> dict[str, Any]:
    names = (*numbers(1), "isolated", "overflow", "speed")
    return {name: getattr(settings, name) for name in names}
